package mcpgateway

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/format/strictjson"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
)

// fuzzed runs a relay over bytes of one side until it ends, and returns what the
// client was told. It works in a bubble: one that hangs is a deadlock there.
func fuzzed(t *testing.T, client io.Reader, server *answering, j Judge, pins Pins) (toClient string) {
	var c guarded
	none := func() error { return nil }
	_ = Run(t.Context(), mcpstdio.Lines(client, &c, none, nil), mcpstdio.Lines(server, server, server.end, nil), Options{
		Server: "files", Session: NewSession(j, Client{}), Pins: pins,
	})
	return c.String()
}

type guarded struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.Write(p)
}

func (g *guarded) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.String()
}

// leftover is a stream that stays open until the other side is done.
type leftover struct {
	r    io.Reader
	open chan struct{}
}

func (l leftover) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err == io.EOF {
		<-l.open
	}
	return n, err
}

// An answering server lists its tools when the relay asks for them. What else it
// is asked it answers with nothing, or not at all if it has lines of its own:
// those it says once it has been asked often enough, and ends.
type answering struct {
	mu    sync.Mutex
	more  *sync.Cond
	heard bytes.Buffer // all that reached it
	out   bytes.Buffer // what it has to say
	own   []byte
	after int // requests, before it says that
	ended bool
}

func newAnswering(own []byte, after int) *answering {
	a := &answering{own: own, after: after}
	a.more = sync.NewCond(&a.mu)
	return a
}

const fuzzTools = `{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},{"name":"held"}]}`

// Write hears one line.
func (a *answering) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.more.Broadcast()
	a.heard.Write(p)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(p, &m) != nil || m.ID == nil || m.Method == "" {
		return len(p), nil
	}
	switch {
	case strings.HasPrefix(string(m.ID), `"floodmark-`) && m.Method == listTools:
		a.out.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + fuzzTools + "}\n")
	case a.own == nil:
		a.out.WriteString(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}` + "\n")
	default:
		if a.after--; a.after == 0 {
			a.out.Write(a.own)
			a.ended = true
		}
	}
	return len(p), nil
}

func (a *answering) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.out.Len() == 0 && !a.ended {
		a.more.Wait()
	}
	return a.out.Read(p)
}

func (a *answering) end() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.more.Broadcast()
	return nil
}

func (a *answering) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.heard.String()
}

// lenientMethods is what a careless server would read as the method.
func lenientMethods(line []byte) []string {
	var one struct{ Method string }
	var many []struct{ Method string }
	if json.Unmarshal(line, &one) == nil {
		return []string{one.Method}
	}
	_ = json.Unmarshal(line, &many)
	list := make([]string, 0, len(many))
	for _, m := range many {
		list = append(list, m.Method)
	}
	return list
}

// fromClientSeeds are what a client, or an attacker who speaks through one, may try.
func fromClientSeeds(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}},{"jsonrpc":"2.0","method":"tools/call"}]`,
		`{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":"floodmark-1","result":{"tools":[]}}` + "\n" + `{"jsonrpc":"2.0","id":"floodmark-1","method":"x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"held","arguments":{"text":"a","Text":"b","text":"c"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"held","arguments":{"text":"a"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","name":"held"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","Text":"b"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"held","arguments":{"text":"\u0000\ud800"}}}`,
		`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"task":{"ttl":1},"_meta":{"progressToken":1}}}`,
		`{"jsonrpc":"2.0","id":1.0,"method":"resources/read","params":{"uri":"a:b","URI":"c:d"}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"a:b"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"p","arguments":{"x":"y"},"requestState":"s","inputResponses":{"a":{"action":"accept"}}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":null}}` + "\n" + `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":[1,{"a":"b","a":"c"}]}}}`,
	} {
		f.Add([]byte(s))
	}
}

// No call that is refused reaches the server, however it is written.
func FuzzFromClient(f *testing.F) {
	fromClientSeeds(f)
	f.Fuzz(func(t *testing.T, said []byte) {
		synctest.Test(t, func(t *testing.T) {
			if len(said) > 1<<16 {
				return
			}
			server := newAnswering(nil, 0)
			fuzzed(t, bytes.NewReader(said), server, &fakeJudge{answer: only(hook.BeforeToolCall, no("no."), nil)}, seesAll{})
			for line := range strings.Lines(server.String()) {
				for _, m := range lenientMethods([]byte(line)) {
					if near(m) != "" {
						t.Fatalf("a refused call reached the server: %s", line)
					}
				}
				if !json.Valid([]byte(line)) || strings.Count(line, "\n") != 1 {
					t.Fatalf("no message: %q", line)
				}
			}
		})
	})
}

// What is judged is what the server reads, whichever way it reads: of two equal
// keys the first or the last, with case or without.
func FuzzJudgedIsSent(f *testing.F) {
	fromClientSeeds(f)
	f.Fuzz(func(t *testing.T, said []byte) {
		synctest.Test(t, func(t *testing.T) {
			if len(said) > 1<<16 {
				return
			}
			server, judge := newAnswering(nil, 0), &fakeJudge{}
			fuzzed(t, bytes.NewReader(said), server, judge, seesAll{held: map[string]string{"tool held": "no."}})
			judged := map[string]int{}
			for _, ev := range judge.told(hook.BeforeToolCall) {
				if ev.Call.Server != "" {
					judged[callSeen(t, ev.Call.Name, ev.Call.Args)]++
				}
			}
			for line := range strings.Lines(server.String()) {
				var m struct {
					Method string
					Params json.RawMessage
				}
				if json.Unmarshal([]byte(line), &m) != nil || m.Method != callTool {
					continue
				}
				first := ""
				for i, read := range readings(m.Params) {
					seen := callSeen(t, read.name, read.args)
					if i == 0 {
						first = seen
					}
					if read.name == "echo" && !plainText(read.args) || read.name == "held" || replaced(read.name) || seen != first || judged[seen] == 0 {
						t.Fatalf("the server could read %s of %s, judged were %v", seen, line, judged)
					}
				}
				judged[first]--
			}
		})
	})
}

// A reading is a call as one kind of reader sees it.
type reading struct {
	name string
	args json.RawMessage
}

// readings are the ways to read the parameters of a call.
func readings(params json.RawMessage) []reading {
	var last map[string]json.RawMessage
	var careless struct {
		Name      json.RawMessage
		Arguments json.RawMessage
	}
	_ = json.Unmarshal(params, &last)
	_ = json.Unmarshal(params, &careless)
	first, _ := strictjson.Members(params)
	var list []reading
	for _, r := range [][2]json.RawMessage{
		{last["name"], last["arguments"]},
		{strictjson.Value(first, "name"), strictjson.Value(first, "arguments")},
		{careless.Name, careless.Arguments},
	} {
		var name string
		_ = json.Unmarshal(r[0], &name)
		list = append(list, reading{name, r[1]})
	}
	return list
}

// plainText reports whether a careless reader finds the same text in arguments as
// an exact one.
func plainText(args json.RawMessage) bool {
	var exact map[string]json.RawMessage
	var careless struct{ Text json.RawMessage }
	_ = json.Unmarshal(args, &exact)
	_ = json.Unmarshal(args, &careless)
	return bytes.Equal(exact["text"], careless.Text)
}

// callSeen is a call as text. No arguments are as good as an empty object.
func callSeen(t *testing.T, name string, args json.RawMessage) string {
	t.Helper()
	if strictjson.IsNull(args) {
		args = json.RawMessage("{}")
	}
	var b bytes.Buffer
	if err := json.Compact(&b, args); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return name + " " + b.String()
}
