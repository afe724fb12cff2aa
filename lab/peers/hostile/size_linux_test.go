package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// size returns servers that send more than can be kept.
func size() []hostile {
	return []hostile{
		{
			name: "size-message", does: "answers with a message of 17 MB", ends: "the connection ends, and what was open is answered with an error",
			server: methods{"tools/call": func(s *server, m message) { s.answer(m, textResult(strings.Repeat("x", 17<<20))) }},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.tools()
				s.refused(t, "peek_there", `{}`, "the server hostile is gone")
				s.bad.gone()
				s.bad.noted("a message is too long")
			},
		},
		{
			name: "size-line", does: "writes bytes without ever ending the line", ends: "the connection ends, and what was open is answered with an error",
			server: methods{"tools/call": func(s *server, m message) {
				for range 64 {
					if _, err := fmt.Fprint(s.out, strings.Repeat("x", 1<<20)); err != nil {
						return
					}
				}
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.tools()
				s.refused(t, "peek_there", `{}`, "the server hostile is gone")
				s.bad.gone()
			},
		},
		{
			name: "size-list", does: "lists 5000 tools", ends: "4096 are looked at, the others are not shown",
			server: methods{"tools/list": func(s *server, m message) { s.answer(m, toolList(many(5000)...)) }},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				if n := len(s.bad.tools()); n == 0 || n > 4096 {
					t.Errorf("%d tools are shown", n)
				}
				s.bad.noted("5000 definitions at once, at most 4096")
			},
		},
		{
			name: "size-name", does: "has a tool with a name of 1000 bytes", ends: "is not shown",
			server: methods{"tools/list": func(s *server, m message) {
				s.answer(m, toolList(peek, `{"name":"`+strings.Repeat("n", 1000)+`"}`, `{"name":"`+strings.Repeat("n", 300)+`"}`))
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				if names := s.bad.tools(); !slices.Equal(names, []string{"peek_there"}) {
					t.Errorf("shown: %.100q", names)
				}
				s.refused(t, strings.Repeat("n", 1000), `{}`, "its name has 1000 bytes")
				s.refused(t, strings.Repeat("n", 300), `{}`, "is held: it is too large: its name has more than 256 bytes")
			},
		},
	}
}

// sizeOfDefinitions returns servers with very long descriptions of tools.
func sizeOfDefinitions() []hostile {
	return []hostile{
		oneTool("size-definition", "describes a tool in 300 kB", `{"name":"tell_time","description":"`+strings.Repeat("x", 300<<10)+`"}`, "it is too large"),
		oneTool("size-nesting", "nests a schema 500 deep", `{"name":"tell_time","inputSchema":`+strings.Repeat(`{"a":`, 500)+`1`+strings.Repeat(`}`, 500)+`}`, "it cannot be read: it is nested deeper than 64"),
		{
			name: "size-depth", does: "nests an answer 5000 deep", ends: "the call is answered with an error",
			server: methods{"tools/call": func(s *server, m message) {
				s.answer(m, `{"content":[],"x":`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`}`)
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.tools()
				s.refused(t, "peek_there", `{}`, "the message cannot be read")
			},
		},
		{
			name: "size-total", does: "describes forty tools in 200 kB each", ends: "what does not fit is held",
			server: methods{"tools/list": func(s *server, m message) {
				var tools []string
				for i := range 40 {
					tools = append(tools, fmt.Sprintf(`{"name":"big_%d","description":"%s"}`, i, strings.Repeat("x ", 100<<10)))
				}
				s.answer(m, toolList(tools...))
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				if n := len(s.bad.tools()); n == 0 || n > 21 {
					t.Errorf("%d tools are shown", n)
				}
				s.refused(t, "big_39", `{}`, "is held: it is too large: this server says more than is kept of one")
			},
		},
	}
}

func many(n int) []string {
	tools := make([]string, n)
	for i := range tools {
		tools[i] = fmt.Sprintf(`{"name":"tool_%d"}`, i)
	}
	return tools
}

// oneTool returns a server with one tool that is held and one that is not.
func oneTool(name, does, tool, why string) hostile {
	return hostile{
		name: name, does: does, ends: "is held",
		server: methods{"tools/list": func(s *server, m message) { s.answer(m, toolList(peek, tool)) }},
		play: func(t *testing.T, s *stand) {
			s.bad.hello()
			s.holds(t, "tell_time", why)
			s.works(t, "peek_there")
		},
	}
}
