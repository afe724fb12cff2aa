package mcpgateway

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// Some clients let their model say from where a list goes on. What the server has
// not given is news to it, and is judged like anything else that it is told.
func TestACursorThatTheServerDidNotGive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		no := only(hook.BeforeToolCall, hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Restrict}, Line: "not that."}, nil)
		for _, method := range []string{listTools, listPrompts, listTemplates, listResources, "tasks/list"} {
			for _, params := range []string{`{"cursor":"the secret"}`, `{"cursor":7}`, `{"Cursor":"the secret"}`, `{"cursor":"2","told":"the secret"}`, `["the secret"]`} {
				s := newStand(t, &fakeJudge{answer: no}, nil)
				s.client.say(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
				s.server.wants(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
				s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"nextCursor":"2"}}`)
				s.client.hear()
				s.client.say(`{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":` + params + `}`)
				if got := s.client.hear(); !strings.Contains(got, `"error"`) {
					t.Errorf("%s %s: %s", method, params, got)
				}
				s.client.say(`{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"cursor":"2","_meta":{}}}`)
				s.server.wants(`{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"cursor":"2","_meta":{}}}`)
			}
		}
	})
}

// If that is allowed, the list is one like any other.
func TestACursorThatIsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, seesAll{held: map[string]string{"tool echo": "bad"}})
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`)
		s.server.wants(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`)
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + echoTool + `]}}`)
		if got := s.client.hear(); strings.Contains(got, "echo") {
			t.Errorf("what is held is shown: %s", got)
		}
		judged := s.judge.told(hook.BeforeToolCall)
		if len(judged) != 1 || judged[0].Call.Name != asFrom || !strings.Contains(string(judged[0].Call.Args), `"cursor":"x"`) {
			t.Errorf("judged %+v", judged)
		}
		if after := s.judge.told(hook.AfterToolCall); len(after) != 1 {
			t.Errorf("the call waits for its result: %+v", after)
		}
	})
}

// Everything beside the address of a resource, or the name of a prompt, reaches the server too.
func TestWhatStandsBesideAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for method, what := range map[string]string{readResource: `"uri":"test://a"`, getPrompt: `"name":"p"`, subscribe: `"uri":"test://a"`} {
			for _, more := range []string{`"requestState":"the secret"`, `"told":"the secret"`, `"task":{"told":"the secret"}`} {
				s := newStand(t, nil, nil)
				s.client.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
				s.server.hear()
				s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"test://a"}]}}`)
				s.client.hear()
				s.client.say(`{"jsonrpc":"2.0","id":2,"method":"` + method + `","params":{` + what + `,` + more + `}}`)
				s.server.hear()
				c := s.judge.told(hook.BeforeToolCall)[0].Call
				if !strings.Contains(string(c.Args), "the secret") || c.Name == asListed {
					t.Errorf("%s %s was judged as %s %s", method, more, c.Name, c.Args)
				}
			}
		}
	})
}
