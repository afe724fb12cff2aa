package mcpgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/hook"
)

// fuzzed runs a relay over bytes of one side until it ends, and returns what
// reached the server and the client.
func fuzzed(t *testing.T, client, server io.Reader, j Judge) (toServer, toClient string) {
	var s, c guarded
	none := func() error { return nil }
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = Run(ctx, Lines(client, &c, none, nil), Lines(server, &s, none, nil), Options{
			Server: "files", Session: NewSession(j, Client{}), Pins: seesAll{}, grace: 2 * time.Millisecond,
		})
	}()
	select {
	case <-done:
	case <-time.After(15 * time.Second):
		t.Fatal("it hangs")
	}
	return s.String(), c.String()
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

// refusing refuses every call, so that none may reach the server.
func refusing() *fakeJudge { return &fakeJudge{answer: only(hook.BeforeToolCall, no("no."), nil)} }

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

func FuzzFromClient(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{}}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}},{"jsonrpc":"2.0","method":"tools/call"}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"Method":"tools/call","method":"ping"}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"floodmark-1","result":{"tools":[]}}` + "\n" + `{"jsonrpc":"2.0","id":"floodmark-1","method":"x"}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		if len(said) > 1<<16 {
			return
		}
		open := make(chan struct{})
		close(open)
		// A server that has no tools: the relay asks it once.
		server := leftover{strings.NewReader(`{"jsonrpc":"2.0","id":"floodmark-1","result":{"tools":[]}}` + "\n"), make(chan struct{})}
		defer close(server.open)
		toServer, _ := fuzzed(t, leftover{bytes.NewReader(said), open}, server, refusing())
		for line := range strings.Lines(toServer) {
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
}

func FuzzFromServer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"poison"}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","inputSchema":{"properties":{"a":{}}}}]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":2,"result":{"_meta":{"ifc":{"integrity":[]}},"task":{"taskId":5},"requestState":{}}}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		if len(said) > 1<<16 {
			return
		}
		client := leftover{strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"a:b"}}` + "\n"), make(chan struct{})}
		defer close(client.open)
		open := make(chan struct{})
		close(open)
		_, toClient := fuzzed(t, client, leftover{bytes.NewReader(said), open}, &fakeJudge{answer: only(hook.AfterToolCall, hook.Reply{}, nil)})
		for line := range strings.Lines(toClient) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("no message: %q", line)
			}
			if strings.Contains(line, `"contents"`) && strings.Contains(line, `"id":2`) && strings.Contains(line, `"result"`) {
				t.Fatalf("what was not taken in reached the client: %s", line)
			}
		}
	})
}

// An object is taken apart as the library would, or not at all.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,"}"]},"c":"\"" , "d" : null}`, `[]`, `{"a":"\\"}`, ` {"":-1e5 } `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		list, err := members(data)
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil {
			if err == nil {
				t.Fatalf("%q is no object", data)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		got := map[string]json.RawMessage{}
		for _, m := range list {
			got[m.key] = m.value
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %v, want %v", data, got, want)
		}
		for k, v := range want {
			if string(got[k]) != string(v) {
				t.Fatalf("%q: %q is %q, want %q", data, k, got[k], v)
			}
		}
		if apart(list, nil) == nil && !same(string(object(list)), string(data)) {
			t.Fatalf("%q was written as %q", data, object(list))
		}
	})
}
