package hostile

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"sync"
)

// serverVariable makes this program the server of a case. pidVariable names the file in which it
// records its process.
const (
	serverVariable = "HOSTILE_TEST_SERVER"
	pidVariable    = "HOSTILE_TEST_PID"
)

// honest is the name of the harmless server.
const honest = "honest"

// A message is what a client sent.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		Cursor          string          `json:"cursor"`
		ProtocolVersion string          `json:"protocolVersion"`
		RequestID       json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

// methods are the handlers of a server, by method.
type methods map[string]func(*server, message)

// A server writes arbitrary lines to its client.
type server struct {
	mu  sync.Mutex // guards out
	out io.Writer
	// calls and lists count the requests.
	calls, lists int
	// run is how often a server of this case was started before.
	run int
}

// say writes one line.
func (s *server) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.WriteString(s.out, line+"\n"); err != nil {
		os.Exit(0) // the client is gone
	}
}

// answer answers a request with a result in JSON.
func (s *server) answer(m message, result string) {
	s.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

// refuse answers with an error.
func (s *server) refuse(m message, text string) {
	s.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32000,"message":` + quote(text) + `}}`)
}

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// usual returns the handlers of an honest server with these tools.
func usual(tools ...string) methods {
	return methods{
		"initialize": func(s *server, m message) { s.answer(m, introduction(m, "")) },
		"tools/list": func(s *server, m message) { s.answer(m, toolList(tools...)) },
		"tools/call": func(s *server, m message) { s.answer(m, textResult("a plain answer")) },
		"ping":       func(s *server, m message) { s.answer(m, `{}`) },
	}
}

// introduction answers initialize. more is further members, each after a comma.
func introduction(m message, more string) string {
	return `{"protocolVersion":` + quote(m.Params.ProtocolVersion) + `,"capabilities":{"tools":{"listChanged":true},"prompts":{},"resources":{},"logging":{}},` +
		`"serverInfo":{"name":"example","version":"1"}` + more + `}`
}

// The tools that the policy of the tests describes. Those that look return what a stranger wrote,
// and those that post send to an address. The honest server has the first two, the hostile ones the
// others.
const (
	look   = `{"name":"look_around","description":"Looks around","inputSchema":{"type":"object"}}`
	letter = `{"name":"post_letter","description":"Posts a letter","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`
	peek   = `{"name":"peek_there","description":"Looks there","inputSchema":{"type":"object"}}`
	card   = `{"name":"mail_card","description":"Mails a card","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`
)

func toolList(tools ...string) string { return `{"tools":[` + strings.Join(tools, ",") + `]}` }

func textResult(text string) string {
	return `{"content":[{"type":"text","text":` + quote(text) + `}]}`
}

// serve runs the server of a case on standard input and output, until the input ends.
func serve(name string) {
	c, known := find(name)
	if !known {
		fmt.Fprintln(os.Stderr, "no such case: "+name)
		os.Exit(2)
	}
	s := &server{out: os.Stdout, run: started()}
	if c.begin != nil {
		c.begin(s)
	}
	does := usual(peek, card)
	if name == honest {
		does = usual(look, letter)
	}
	maps.Copy(does, c.server)
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch m.Method {
		case "tools/list":
			s.lists++
		case "tools/call":
			s.calls++
			if os.WriteFile(os.Getenv(pidVariable)+calledSuffix, nil, 0o600) != nil {
				os.Exit(2)
			}
		}
		if f := does[m.Method]; f != nil {
			f(s, m)
		} else if m.Method != "" && len(m.ID) > 0 {
			s.refuse(m, "no such method")
		}
	}
	if c.stays {
		select {} // the server of this case does not end when it should
	}
}

// started records this process, and returns how many were recorded before.
func started() int {
	path := os.Getenv(pidVariable)
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		os.Exit(2)
	}
	if os.WriteFile(path, fmt.Appendf(old, "%d\n", os.Getpid()), 0o600) != nil {
		os.Exit(2)
	}
	return strings.Count(string(old), "\n")
}

// calledSuffix is the suffix of a file that exists once the server was called, beside the file of
// processes.
const calledSuffix = ".called"

// called reports whether the server that writes to this file was called.
func called(pids string) bool {
	_, err := os.Stat(pids + calledSuffix)
	return err == nil
}

// flood writes lines until the client is gone.
func (s *server) flood(line func(i int) string) {
	for i := 0; ; i++ {
		s.say(line(i))
	}
}
