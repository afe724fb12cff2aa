package mcpgateway

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark/hook"
)

// A message that carries its sender's words to the server is judged by all of them, with any
// method.
func TestWhatLeavesIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for ask, want := range map[string]hook.Call{
			`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"the secret"},"context":{"arguments":{"b":"c"}},"_meta":{"progressToken":1}}`: {
				Name: asComplete, Args: json.RawMessage(`{"server":"files","ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"the secret"},"context":{"arguments":{"b":"c"}}}`),
			},
			`"completion/complete","params":{"x":"the secret"}`:                          {Name: asComplete, Args: json.RawMessage(`{"server":"files","more x":"the secret"}`)},
			`"resources/subscribe","params":{"uri":"test://a?the=secret"}`:               {Name: asResource, Args: json.RawMessage(`{"server":"files","uri":"test://a?the=secret"}`)},
			`"future/thing","params":{"a":["the secret"],"_meta":{"progressToken":1}}`:   {Server: "files", Name: "method future/thing", Args: json.RawMessage(`{"a":["the secret"]}`)},
			`"future/thing","params":["the secret"]`:                                     {Server: "files", Name: "method future/thing", Args: json.RawMessage(`{"params":["the secret"]}`)},
			`"tasks/update","params":{"taskId":"1","inputResponses":{"q":"the secret"}}`: {Server: "files", Name: "method tasks/update", Args: json.RawMessage(`{"taskId":"1","inputResponses":{"q":"the secret"}}`)},
			`"echo"`: {Server: "files", Name: "method echo"},
		} {
			for _, refused := range []bool{false, true} {
				j := &fakeJudge{}
				if refused {
					j.answer = only(hook.BeforeToolCall, no("it is refused"), nil)
				}
				s := newStand(t, j, nil)
				line := `{"jsonrpc":"2.0","id":1,"method":` + ask + `}`
				s.client.say(line)
				if refused {
					if got := s.client.hear(); !strings.Contains(got, "it is refused") || !strings.Contains(got, `"code":-32050`) {
						t.Errorf("%s: heard %s", ask, got)
					}
					s.server.silent()
				} else {
					s.server.wants(line)
					s.server.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
					s.client.hear()
				}
				got := j.told(hook.BeforeToolCall)
				if len(got) != 1 || got[0].Call.Server != want.Server || got[0].Call.Name != want.Name || (want.Args != nil || got[0].Call.Args != nil) && !same(string(got[0].Call.Args), string(want.Args)) {
					t.Errorf("%s: judged %+v", ask, got)
				}
			}
		}
	})
}

// So is what the client says without wanting an answer, unless it says nothing.
func TestWhatIsToldIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &fakeJudge{answer: only(hook.BeforeToolCall, no("no"), nil)}
		s := newStand(t, j, nil)
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/future","params":{"a":"the secret"}}`,
			`{"jsonrpc":"2.0","method":"notifications/future","params":{"a":1,"a":2}}`)
		s.server.silent()
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		s.server.wants(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		if got := j.told(hook.BeforeToolCall); len(got) != 1 || got[0].Call.Name != "method notifications/future" || string(got[0].Call.Args) != `{"a":"the secret"}` {
			t.Errorf("judged %+v", got)
		}
		s = newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/future","params":{"a":1}}`)
		s.server.wants(`{"jsonrpc":"2.0","method":"notifications/future","params":{"a":1}}`)
	})
}

// What can be read in two ways is not passed on here either, nor what is held.
func TestUnknownRequestsAreReadStrictly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, seesAll{held: map[string]string{"prompt p": "floodmark: it is held."}})
		s.client.say(`{"jsonrpc":"2.0","id":7,"method":"prompts/list"}`)
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":7,"result":{"prompts":[{"name":"p"}]}}`)
		s.client.hear()
		for ask, want := range map[string]string{
			`"future/thing","params":{"a":1,"A":2}`:                                                 "-32602",
			`"` + strings.Repeat("x", MaxName) + `"`:                                                "-32602",
			`"resources/subscribe","params":{"uri":7}`:                                              "-32602",
			`"completion/complete","params":{"ref":{"name":"q","Name":"p"}}`:                        "-32602",
			`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{}}`: "it is held",
			`"Completion/Complete","params":{}`:                                                     "-32601",
			`"resources/Subscribe","params":{"uri":"a"}`:                                            "-32601",
		} {
			s.client.say(`{"jsonrpc":"2.0","id":1,"method":` + ask + `}`)
			if got := s.client.hear(); !strings.Contains(got, want) {
				t.Errorf("%.80s: heard %s", ask, got)
			}
		}
		s.server.silent()
	})
}

// Who listens to changes says nothing; who names what he listens to does.
func TestWhoListensOnly(t *testing.T) {
	for params, want := range map[string]bool{
		`{"notifications":{"toolsListChanged":true,"promptsListChanged":false},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`: true,
		`{"notifications":{}}`: true,
		`{"notifications":{"resourceSubscriptions":["test://the-secret"]}}`: false,
		`{"notifications":{"toolsListChanged":"the secret"}}`:               false,
		`{"notifications":{},"x":1}`:                                        false,
		`{"notifications":{},"Notifications":{"a":"b"}}`:                    false,
		`{}`: false,
		``:   false,
	} {
		if got := listensOnly(json.RawMessage(params)); got != want {
			t.Errorf("%s: %v", params, got)
		}
	}
}
