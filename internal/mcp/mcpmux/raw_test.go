package mcpmux

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A script is a Mux before servers whose messages a test writes itself.
type script struct {
	t    testing.TB
	m    *Mux
	ends map[string]mcp.Connection // the servers' ends
}

const caps = `{"tools":{},"resources":{},"logging":{},"tasks":{}}`

// scripted returns an initialized Mux over servers of these names.
func scripted(t testing.TB, names ...string) *script {
	t.Helper()
	return scriptedWithin(t, 0, names...)
}

// scriptedWithin is like scripted, with a limit on how long a list waits for a server.
func scriptedWithin(t testing.TB, listWait time.Duration, names ...string) *script {
	t.Helper()
	s := &script{t: t, ends: map[string]mcp.Connection{}}
	opts := Options{ListWait: listWait}
	for _, name := range names {
		near, far := Pipe()
		s.ends[name] = far
		opts.Upstreams = append(opts.Upstreams, Upstream{Name: name, Dial: func(context.Context) (mcp.Connection, error) { return near, nil }})
	}
	m, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.m = m
	t.Cleanup(func() { _ = m.Close() })
	s.say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","odd":1}}`)
	for _, name := range names {
		req := s.reads(name).(*jsonrpc.Request)
		if req.Method != "initialize" || !strings.Contains(string(req.Params), `"odd":1`) {
			t.Fatalf("%s was told %s %s", name, req.Method, req.Params)
		}
		s.writes(name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"protocolVersion":"2025-06-18","capabilities":%s}}`, req.ID.Raw(), caps))
	}
	s.hears(`"protocolVersion":"2025-06-18"`)
	s.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, name := range names {
		if req := s.reads(name).(*jsonrpc.Request); req.Method != "notifications/initialized" {
			t.Fatalf("%s was told %s", name, req.Method)
		}
	}
	return s
}

func message(t testing.TB, text string) jsonrpc.Message {
	t.Helper()
	msg, err := jsonrpc.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return msg
}

func (s *script) say(text string) {
	s.t.Helper()
	if err := s.m.Write(s.t.Context(), message(s.t, text)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) writes(name, text string) {
	s.t.Helper()
	if err := s.ends[name].Write(s.t.Context(), message(s.t, text)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) reads(name string) jsonrpc.Message {
	s.t.Helper()
	msg, err := s.ends[name].Read(s.t.Context())
	if err != nil {
		s.t.Fatalf("%s heard nothing: %v", name, err)
	}
	return msg
}

// hears takes the client's next message, and checks that it contains all of parts.
func (s *script) hears(parts ...string) string {
	s.t.Helper()
	msg, err := s.m.Read(s.t.Context())
	if err != nil {
		s.t.Fatalf("the client heard nothing of %v: %v", parts, err)
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(string(data), part) {
			s.t.Fatalf("the client heard %s, not %s", data, part)
		}
	}
	return string(data)
}

func TestUnknownFieldsPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, "a", "b")
		s.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"b__x","arguments":{"z":"<&>"},"odd":[1],"_meta":{"m":2}}}`)
		req := s.reads("b").(*jsonrpc.Request)
		if string(req.Params) != `{"_meta":{"m":2},"arguments":{"z":"<&>"},"name":"x","odd":[1]}` {
			t.Errorf("%s", req.Params)
		}
		s.writes("b", fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":[{"type":"resource_link","uri":"made://up"}],"odd":true,"task":{"taskId":"T"}}}`, req.ID.Raw()))
		s.hears(`"id":7`, `"odd":true`)
		// The addresses that a result named are known now.
		s.say(`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"uri":"made://up"}}`)
		// The other server may list it, so all are asked first.
		for range []string{"resources/list", "resources/templates/list"} {
			for _, name := range []string{"a", "b"} {
				req := s.reads(name).(*jsonrpc.Request)
				s.writes(name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"resources":[],"resourceTemplates":[]}}`, req.ID.Raw()))
			}
		}
		if req := s.reads("b").(*jsonrpc.Request); req.Method != "resources/read" {
			t.Error(req.Method)
		}
		s.say(`{"jsonrpc":"2.0","id":9,"method":"tasks/get","params":{"taskId":"T"}}`)
		if req := s.reads("b").(*jsonrpc.Request); req.Method != "tasks/get" {
			t.Error(req.Method)
		}
		s.say(`{"jsonrpc":"2.0","id":10,"method":"odd/method"}`)
		s.hears(`"id":10`, `-32601`)
		s.say(`{"jsonrpc":"2.0","method":"notifications/odd","params":{"k":1}}`)
		for _, name := range []string{"a", "b"} {
			if req := s.reads(name).(*jsonrpc.Request); req.Method != "notifications/odd" || string(req.Params) != `{"k":1}` {
				t.Errorf("%s: %s %s", name, req.Method, req.Params)
			}
		}
		s.writes("a", `{"jsonrpc":"2.0","method":"notifications/odd","params":{"k":2}}`)
		s.hears(`notifications/odd`, `"k":2`)
	})
}

// A server cannot send messages about another server's calls or questions.
func TestServersCannotSpeakForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, "a", "b")
		s.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x","_meta":{"progressToken":5}}}`)
		call := s.reads("a").(*jsonrpc.Request)
		s.writes("b", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":9}}`)
		s.writes("b", fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":"forged"}}`, call.ID.Raw()))
		s.writes("a", `{"jsonrpc":"2.0","id":77,"method":"sampling/createMessage","params":{"_meta":{"progressToken":1},"messages":[]}}`)
		asked := s.hears(`sampling/createMessage`, `"progressToken":"a/n1"`)
		s.writes("b", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`)
		s.writes("b", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":1}}`)
		s.hears(`"logger":"b/l"`)
		var head struct{ ID int }
		if err := json.Unmarshal([]byte(asked), &head); err != nil {
			t.Fatal(err)
		}
		s.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a/n1","progress":3}}`)
		if req := s.reads("a").(*jsonrpc.Request); string(req.Params) != `{"progress":3,"progressToken":1}` {
			t.Errorf("%s", req.Params)
		}
		s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"role":"assistant"}}`, head.ID))
		if answer := s.reads("a").(*jsonrpc.Response); answer.ID.Raw() != int64(77) {
			t.Errorf("%v", answer.ID.Raw())
		}
		// A second equal answer is dropped, and the call still gets its own result.
		s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"role":"assistant"}}`, head.ID))
		s.writes("a", fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":"real"}}`, call.ID.Raw()))
		s.hears(`"id":1`, `real`)
	})
}

func TestCancelledQuestionsAndCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, "a", "b")
		s.writes("a", `{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}`)
		s.hears(`elicitation/create`)
		s.writes("a", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"r"}}`)
		s.hears(`notifications/cancelled`, `"reason":"r"`)
		s.say(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"a__x"}}`)
		call := s.reads("a").(*jsonrpc.Request)
		s.say(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"b__x"}}`)
		s.hears(`"id":"c"`, `still open`)
		s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"r"}}`)
		s.hears(`"id":"c"`, `-32800`)
		if req := s.reads("a").(*jsonrpc.Request); string(req.Params) != fmt.Sprintf(`{"reason":"r","requestId":%v}`, call.ID.Raw()) {
			t.Errorf("%s", req.Params)
		}
		// Its later answers are dropped.
		s.writes("a", fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"content":"late"}}`, call.ID.Raw()))
		s.writes("a", `{"jsonrpc":"2.0","id":"q2","method":"roots/list"}`)
		s.hears(`roots/list`)
		// A server that ends takes its questions back.
		_ = s.ends["a"].Close()
		s.hears(`notifications/cancelled`, `server a stopped`)
		s.hears(`notifications/tools/list_changed`)
		s.hears(`notifications/resources/list_changed`)
	})
}

func TestLevelsGoToAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, "a", "b")
		s.say(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
		for _, name := range []string{"a", "b"} {
			req := s.reads(name).(*jsonrpc.Request)
			if string(req.Params) != `{"level":"debug"}` {
				t.Errorf("%s", req.Params)
			}
			s.writes(name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{}}`, req.ID.Raw()))
		}
		s.hears(`"id":1`, `"result":{}`)
	})
}

// A list contains the answers of all servers that do not fail.
func TestListsLeaveOutWhoFails(t *testing.T) {
	synctest.Test(t, listsLeaveOut) // waiting for one server must not use up the time of the others
}

func listsLeaveOut(t *testing.T) {
	s := scriptedWithin(t, time.Second, "good", "bad", "mute", "odd")
	s.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for name, result := range map[string]string{
		"good": `{"tools":[{"name":"x","odd":1},{"noname":1},3],"nextCursor":"more","_meta":{"k":1}}`, "bad": `{"tools":{}}`, "odd": `[]`,
	} {
		req := s.reads(name).(*jsonrpc.Request)
		s.writes(name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":%s}`, req.ID.Raw(), result))
	}
	lost := s.reads("mute").(*jsonrpc.Request)
	answer := s.hears(`"id":1`, `"name":"good__x"`, `"odd":1`, `"dev.floodmark/servers":{"good":{"k":1}}`)
	if strings.Contains(answer, "noname") {
		t.Error(answer)
	}
	if req := s.reads("mute").(*jsonrpc.Request); string(req.Params) != fmt.Sprintf(`{"requestId":%v}`, lost.ID.Raw()) {
		t.Errorf("%s", req.Params)
	}
	var page struct{ Result struct{ NextCursor string } }
	if err := json.Unmarshal([]byte(answer), &page); err != nil {
		t.Fatal(err)
	}
	s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":%q}}`, page.Result.NextCursor))
	req := s.reads("good").(*jsonrpc.Request)
	if string(req.Params) != `{"cursor":"more"}` {
		t.Errorf("%s", req.Params)
	}
	s.writes("good", fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{"tools":[]}}`, req.ID.Raw()))
	if got := s.hears(`"id":2`, `"tools":[]`); strings.Contains(got, "nextCursor") {
		t.Error(got)
	}
	for _, cursor := range []string{`"x"`, `5`, `""`, `"e30"`, `"` + strings.Repeat("e", MaxCursor) + `"`, `"` + strings.Repeat("e", MaxCursor+1) + `"`} {
		s.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":` + cursor + `}}`)
		s.hears(`"id":3`, `none that was given out here`)
	}
}

// A server that does not read delays no other.
func TestAServerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, "stuck", "fine")
		for i := range maxQueue + 1 { // the writer holds one more message
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"stuck__x"}}`, i))
		}
		s.say(`{"jsonrpc":"2.0","id":"over","method":"tools/call","params":{"name":"stuck__x"}}`)
		// The writer may or may not have taken a message; if it has, this call is the first beyond
		// the limit.
		s.say(`{"jsonrpc":"2.0","id":"over2","method":"tools/call","params":{"name":"stuck__x"}}`)
		s.hears(`does not read`)
		s.say(`{"jsonrpc":"2.0","id":"f","method":"tools/call","params":{"name":"fine__x"}}`)
		if req := s.reads("fine").(*jsonrpc.Request); req.Method != "tools/call" {
			t.Error(req.Method)
		}
	})
}

func TestOpenCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, "a")
		for i := range MaxOpen {
			s.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"a__x"}}`, i))
			s.reads("a")
		}
		s.say(`{"jsonrpc":"2.0","id":"one","method":"tools/call","params":{"name":"a__x"}}`)
		s.hears(`"id":"one"`, `calls are open`)
	})
}

// No message of a server or client may crash the Mux or block it for ever.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a__x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"e30"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"b__x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a://x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":[]}`,
		`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"x"}],"nextCursor":4}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"resource_link","uri":5}]}}`,
		`{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":{"_meta":{"progressToken":"t"}}}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, fromClient bool) {
		synctest.Test(t, func(t *testing.T) {
			msg, err := jsonrpc.DecodeMessage(data)
			if err != nil {
				return
			}
			s := scriptedWithin(t, 100*time.Millisecond, "a", "b")
			s.say(`{"jsonrpc":"2.0","id":"open","method":"tools/call","params":{"name":"a__x"}}`)
			s.reads("a")
			drained := s.drain()
			if fromClient {
				err = s.m.Write(t.Context(), msg)
			} else {
				err = s.ends["a"].Write(t.Context(), msg)
			}
			if err != nil {
				t.Error(err)
			}
			if err := s.m.Close(); err != nil {
				t.Error(err)
			}
			<-drained
			for _, conn := range s.ends {
				_ = conn.Close()
			}
		})
	})
}

// drain reads the messages to all sides until the end.
func (s *script) drain() <-chan struct{} {
	for _, conn := range s.ends {
		go func() {
			for {
				if _, err := conn.Read(context.Background()); err != nil {
					return
				}
			}
		}()
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for {
			msg, err := s.m.Read(context.Background())
			if err != nil {
				return
			}
			if _, err := jsonrpc.EncodeMessage(msg); err != nil {
				s.t.Errorf("what the client is told cannot be written: %v", err)
			}
		}
	}()
	return drained
}
