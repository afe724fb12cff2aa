package hostile

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noEnd returns servers that never come to an end.
func noEnd() []hostile {
	flood := func(name, does, method, params string) hostile {
		return hostile{
			name: name, does: does, ends: "the client can leave at any time",
			server: methods{"tools/call": func(s *server, m message) {
				go s.flood(func(i int) string {
					return `{"jsonrpc":"2.0","method":"` + method + `","params":` + strings.ReplaceAll(params, "$", fmt.Sprint(i)) + `}`
				})
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.tools()
				id, _ := s.bad.begin("tools/call", `{"name":"peek_there","arguments":{},"_meta":{"progressToken":1}}`)
				s.bad.heard(method)
				s.unharmed(t)
				s.bad.cancel(id)
			},
		}
	}
	return []hostile{
		flood("endless-progress", "reports progress for ever", "notifications/progress", `{"progressToken":1,"progress":$}`),
		flood("endless-log", "writes log messages for ever", "notifications/message", `{"level":"info","data":"$"}`),
		{
			name: "endless-pages", does: "has a next page for ever", ends: "64 pages are asked for, and the call is judged by what is known",
			server: methods{"tools/list": func(s *server, m message) {
				s.answer(m, fmt.Sprintf(`{"tools":[{"name":"tool_%d"}],"nextCursor":"%d"}`, s.lists, s.lists))
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.refused(t, "tool_1000", `{}`, "tool_1000")
			},
		},
		{
			name: "endless-changes", does: "says for ever that its list changed", ends: "the client can leave at any time",
			begin: func(s *server) {
				go s.flood(func(int) string { return toldOf })
			},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.heard("notifications/tools/list_changed")
				s.unharmed(t)
			},
		},
	}
}

// silence returns servers that never answer.
func silence() []hostile {
	return []hostile{
		{
			name: "slow-drip", does: "gives its answer a byte at a time", ends: "the call can be taken back, and nothing of it arrives",
			server: methods{"tools/call": func(s *server, m message) {
				go func() {
					s.mu.Lock() // so that nothing else is written
					for _, c := range []byte(`{"jsonrpc":"2.0","id":` + strings.Repeat(" ", 1000)) {
						if _, err := s.out.Write([]byte{c}); err != nil {
							os.Exit(0)
						}
						time.Sleep(50 * time.Millisecond)
					}
				}()
			}},
			play: takesBack,
		},
		{
			name: "silent", does: "never answers a call", ends: "the call can be taken back",
			server: methods{"tools/call": func(*server, message) {}},
			play:   takesBack,
		},
		{
			name: "silent-from-the-start", does: "never says anything", ends: "the client can leave at any time",
			server: methods{"initialize": func(*server, message) {}},
			play: func(t *testing.T, s *stand) {
				s.bad.begin("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
				s.unharmed(t)
			},
		},
		{
			name: "deaf", does: "reads nothing that it is told", ends: "the client can leave at any time",
			server: methods{"initialize": func(s *server, m message) {
				s.answer(m, introduction(m, ""))
				time.Sleep(time.Hour)
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.begin("x/y", `{"z":"`+strings.Repeat("z", 1<<20)+`"}`)
				s.unharmed(t)
			},
		},
		{
			name: "silent-list", does: "never says which tools it has", ends: "no call is made",
			server: methods{"tools/list": func(*server, message) {}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.refused(t, "peek_there", `{}`, "did not say which tools it has, so none is called")
			},
		},
	}
}

// stays returns servers that do not read, or do not end when they should.
func stays() []hostile {
	return []hostile{
		{
			name: "deaf-asking", does: "asks without end and hears no answer", ends: "the client can leave at any time",
			server: methods{"initialize": func(s *server, m message) {
				s.answer(m, introduction(m, ""))
				s.flood(func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, i) })
			}},
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.bad.heard("roots/list")
				s.unharmed(t)
			},
		},
		{
			name: "stays", does: "goes on when it is told to end, and ignores signals", ends: "is ended by force",
			begin: func(*server) { signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE) },
			stays: true,
			play: func(t *testing.T, s *stand) {
				s.bad.hello()
				s.works(t, "peek_there")
			},
		},
	}
}

// takesBack cancels a call that is not answered.
func takesBack(t *testing.T, s *stand) {
	t.Helper()
	s.bad.hello()
	s.bad.tools()
	id, _ := s.bad.begin("tools/call", `{"name":"peek_there","arguments":{}}`)
	s.bad.called()
	s.unharmed(t)
	s.bad.cancel(id)
	s.unharmed(t)
}

// cancel cancels a request.
func (c *client) cancel(id string) {
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
}
