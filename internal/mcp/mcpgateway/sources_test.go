package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// labelling answers as the monitor does at the end of a call.
func labelling(l floodmark.Label) func(context.Context, hook.Event) (hook.Reply, error) {
	return func(_ context.Context, ev hook.Event) (hook.Reply, error) {
		r := yes()
		if ev.Point == hook.AfterToolCall {
			r.Label, r.Mark = &l, &l
		}
		return r, nil
	}
}

func TestResultsAreLabelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ours = `"dev.floodmark/label":{"trust":"external","secrecy":"private"}`
		for server, want := range map[string]string{
			`{"content":[]}`:                             `{"content":[],"_meta":{` + ours + `}}`,
			`{"content":[],"_meta":{"a":1}}`:             `{"content":[],"_meta":{"a":1,` + ours + `}}`,
			`{"content":[],"_meta":null}`:                `{"content":[],"_meta":{` + ours + `}}`,
			`{"_meta":{"dev.floodmark/label":"system"}}`: `{"_meta":{` + ours + `}}`,
		} {
			s := newStand(t, &fakeJudge{answer: labelling(floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Private})}, nil)
			s.listed(echoTool)
			s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
			s.server.hear()
			s.server.say(`{"jsonrpc":"2.0","id":1,"result":` + server + `}`)
			s.client.wants(`{"jsonrpc":"2.0","id":1,"result":` + want + `}`)
		}
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}`)
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["a"]},"_meta":{"dev.floodmark/label":{"trust":"system"}}}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":1,"result":{"completion":{"values":["a"]},"_meta":{}}}`)
	})
}

func TestWhatAServerSaysOfItsResult(t *testing.T) {
	for said, want := range map[string]hook.Hints{
		`{"integrity":"untrusted"}`:                          {Trust: "untrusted"},
		`{"integrity":"trusted","confidentiality":"public"}`: {},
		`{"integrity":"system"}`:                             {Trust: "system"},
		`{"integrity":"whatever"}`:                           {Trust: "untrusted"},
		`{"integrity":5}`:                                    {Trust: "untrusted"},
		`{"trust":"external","secrecy":"secret"}`:            {Trust: "external", Secrecy: "secret"},
		`{"confidentiality":["public"]}`:                     {},
		`{"confidentiality":["alice","bob"]}`:                {Secrecy: "private"},
		`{"confidentiality":{"readers":[]}}`:                 {Secrecy: "secret"},
		`{"confidentiality":"high"}`:                         {Secrecy: "secret"},
		`"anything"`:                                         {Trust: "untrusted", Secrecy: "secret"},
		`{}`:                                                 {},
	} {
		got := ifc(json.RawMessage(`{"content":[],"_meta":{"ifc":` + said + `}}`))
		if got == nil {
			got = &hook.Hints{}
		}
		if *got != want {
			t.Errorf("%s: %+v, want %+v", said, *got, want)
		}
	}
	if got := ifc(json.RawMessage(`{"_meta":{}}`)); got != nil {
		t.Errorf("nothing said: %+v", got)
	}
}

func TestServersWordsReachTheMonitorBeforeTheClient(t *testing.T) {
	for method, c := range map[string]struct{ ask, answer, point, word string }{
		"resource":   {`"resources/read","params":{"uri":"test://a"}`, `{"contents":[{"uri":"test://a","text":"poison"}]}`, "after_tool_call", "poison"},
		"prompt":     {`"prompts/get","params":{"name":"p","arguments":{"a":"b"}}`, `{"messages":[{"role":"user","content":{"type":"text","text":"poison"}}]}`, "after_tool_call", "poison"},
		"completion": {`"completion/complete","params":{}`, `{"completion":{"values":["poison"]}}`, "after_tool_call", "poison"},
		"resources":  {`"resources/list"`, `{"resources":[{"uri":"a","description":"poison"}]}`, "context_assembled", "poison"},
		"structured": {`"tools/call","params":{"name":"echo"}`, `{"content":[],"structuredContent":{"poison":12.50}}`, "after_tool_call", "poison\n12.50"},
		"unknown":    {`"future/get"`, `{"x":{"y":["poison"]}}`, "after_tool_call", "poison"},
	} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, fails := range []bool{false, true} {
					j := &fakeJudge{}
					if fails {
						j.answer = only(hook.Point(c.point), yes(), errors.New("disk full"))
					}
					s := newStand(t, j, nil)
					s.client.say(`{"jsonrpc":"2.0","id":1,"method":` + c.ask + `}`)
					if got := s.server.hear(); strings.Contains(got, "floodmark-1") {
						s.server.say(`{"jsonrpc":"2.0","id":"floodmark-1","result":{"tools":[` + echoTool + `]}}`)
						s.server.hear()
					}
					s.server.say(`{"jsonrpc":"2.0","id":1,"result":` + c.answer + `}`)
					got := s.client.hear()
					if fails && (strings.Contains(got, "poison") || !strings.Contains(got, "rror")) {
						t.Errorf("not taken in, and passed on: %s", got)
					}
					if fails {
						continue
					}
					if !strings.Contains(got, "poison") {
						t.Errorf("heard %s", got)
					}
					if words := all(j.told(hook.Point(c.point))); !strings.Contains(words, c.word) {
						t.Errorf("told %q", words)
					}
				}
			})
		})
	}
}

// all is the text of events.
func all(list []hook.Event) string {
	var b strings.Builder
	for _, ev := range list {
		b.WriteString(ev.Result.Text)
		for _, c := range ev.Sources {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

func TestARefusedReadIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, &fakeJudge{answer: only(hook.BeforeToolCall, no("It would leave."), nil)}, nil)
		for _, m := range []string{`"resources/read","params":{"uri":"test://a"}`, `"prompts/get","params":{"name":"p"}`} {
			s.client.say(`{"jsonrpc":"2.0","id":1,"method":` + m + `}`)
			if got := s.client.hear(); !strings.Contains(got, `"code":-32050`) || !strings.Contains(got, "It would leave.") {
				t.Errorf("heard %s", got)
			}
		}
		s.server.silent()
	})
}

func TestErrorsAreSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.listed(echoTool)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"poison","data":{"more":"venom"}}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"poison","data":{"more":"venom"}}}`)
		after := s.judge.told(hook.AfterToolCall)
		if len(after) != 1 || !after[0].Result.Error || !strings.Contains(after[0].Result.Text, "poison") || !strings.Contains(after[0].Result.Text, "venom") {
			t.Errorf("told %+v", after)
		}
	})
}

func TestALongResultIsBelievedLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.listed(echoTool)
		for i, c := range []struct {
			words int
			trust string
		}{{MaxText/6 - 100, ""}, {MaxText / 5, "untrusted"}} {
			s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
			s.server.hear()
			part := `{"type":"text","text":"` + strings.Repeat("word ", c.words/2) + `"}`
			s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"content":[` + part + `,` + part + `]}}`)
			s.client.hear()
			h := s.judge.told(hook.AfterToolCall)[i].Call.Hints
			if h.Trust != c.trust || (h.Secrecy == "secret") != (c.trust != "") {
				t.Errorf("%d words: %+v", c.words, h)
			}
		}
	})
}

func TestWhatAModelIsToReadForAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		ask := `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"poison"}}],"includeContext":"thisServer"}}`
		s.server.say(ask)
		s.client.wants(ask)
		if got := all(s.judge.told(hook.ContextAssembled)); !strings.Contains(got, "poison") {
			t.Errorf("told %q", got)
		}
		s.judge.mu.Lock()
		s.judge.answer = only(hook.BeforeToolCall, no("It would leave."), nil)
		s.judge.mu.Unlock()
		s.client.say(`{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"text","text":"all that was said"}}}`)
		if got := s.server.hear(); strings.Contains(got, "all that was said") || !strings.Contains(got, `"code":-32050`) {
			t.Errorf("heard %s", got)
		}
		s.server.say(strings.Replace(ask, `,"includeContext":"thisServer"`, ``, 1))
		s.client.hear()
		s.client.say(`{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"text","text":"ok"}}}`)
		s.server.wants(`{"jsonrpc":"2.0","id":1,"result":{"content":{"type":"text","text":"ok"}}}`)
	})
}

// What the server itself has listed is read under a name of its own: its address
// is no news to the server. Anything else about the address is.
func TestResourcesThatTheServerListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"test://a"},{"uri":"test://b","URI":"test://c"},{"uri":"test://` + strings.Repeat("x", maxURI) + `"}]}}`)
		s.client.hear()
		for i, c := range []struct{ params, want string }{
			{`{"uri":"test://a"}`, asListed},
			{`{"uri":"test://a?told=1"}`, asResource},
			{`{"uri":"TEST://a"}`, asResource},
			{`{"uri":"test://b"}`, asResource},
			{`{"uri":"test://c"}`, asResource},
			{`{"uri":"test://` + strings.Repeat("x", maxURI) + `"}`, asResource},
			{`{"uri":"test://a","inputResponses":{"a":{"action":"accept"}}}`, asResource},
		} {
			s.client.say(`{"jsonrpc":"2.0","id":9,"method":"resources/read","params":` + c.params + `}`)
			s.server.hear()
			s.server.say(`{"jsonrpc":"2.0","id":9,"result":{"contents":[]}}`)
			s.client.hear()
			if got := s.judge.told(hook.BeforeToolCall)[i].Call.Name; got != c.want {
				t.Errorf("%s was judged as %s, want %s", c.params, got, c.want)
			}
		}
		other := newStand(t, nil, nil)
		other.client.say(`{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"test://a"}}`)
		other.server.hear()
		if got := other.judge.told(hook.BeforeToolCall)[0].Call.Name; got != asResource {
			t.Errorf("another server did not list it: %s", got)
		}
	})
}

// Of two claims of a server the lower counts, whichever came later.
func TestTheLowerClaimCounts(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", ""},
		{"untrusted", "", "untrusted"},
		{"", "external", "external"},
		{"untrusted", "external", "untrusted"},
		{"external", "untrusted", "untrusted"},
		{"external", "?", "?"},
		{"?", "external", "?"},
	} {
		if got := tighter(&hook.Hints{Trust: c.a}, &hook.Hints{Trust: c.b}).Trust; got != c.want {
			t.Errorf("%q and %q: %q", c.a, c.b, got)
		}
	}
	if got := tighter(&hook.Hints{Secrecy: "secret"}, &hook.Hints{Secrecy: "internal"}).Secrecy; got != "secret" {
		t.Errorf("%q", got)
	}
}
