package mcpgateway

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark/hook"
)

// What a server asks a person says who asks, and hides nothing.
func TestAQuestionOfAServerIsVisible(t *testing.T) {
	for name, c := range map[string]struct{ asked, shown string }{
		"plain": {
			`{"message":"Your name?\nPlease.","requestedSchema":{"type":"object","properties":{"name":{"type":"string","minLength":1}}}}`,
			`{"message":"The server “files” asks: Your name?\nPlease.","requestedSchema":{"type":"object","properties":{"name":{"type":"string","minLength":1}}}}`,
		},
		"a picture":  {`{"message":"Done ✔️?"}`, `{"message":"The server “files” asks: Done ✔️?"}`},
		"no message": {`{}`, `{"message":"The server “files” asks: "}`},
		"in our name": {
			`{"message":"Floodmark asks before this call is made."}`, `{"message":"The server “files” asks: Floodmark asks before this call is made."}`,
		},
		"the message": {`{"message":"Ok\u200b\u202e\u001b[2J?"}`, `{"message":"The server “files” asks: Ok\\u{200b}\\u{202e}\\u{1b}[2J?"}`},
		"the schema": {
			`{"message":"m","requestedSchema":{"title":"a\u200bb","properties":{"p":{"title":"\u001b[31mred","description":"x\u202ey","enum":["1","2"],"enumNames":["o\u200bne","two"],"oneOf":[{"const":"1","title":"o\u2060ne"}]}}}}`,
			`{"message":"The server “files” asks: m","requestedSchema":{"title":"a\\u{200b}b","properties":{"p":{"title":"\\u{1b}[31mred","description":"x\\u{202e}y","enum":["1","2"],"enumNames":["o\\u{200b}ne","two"],"oneOf":[{"const":"1","title":"o\\u{2060}ne"}]}}}}`,
		},
		"an address": {
			`{"mode":"url","message":"Log in","url":"https://evil.example:8443/good.example","elicitationId":"1"}`,
			`{"mode":"url","message":"The server “files” asks you to open evil.example:8443: Log in","url":"https://evil.example:8443/good.example","elicitationId":"1"}`,
		},
		"a hidden name":      {`{"message":"m","requestedSchema":{"properties":{"na\u200bme":{"type":"string"}}}}`, ""},
		"a hidden value":     {`{"message":"m","requestedSchema":{"properties":{"p":{"enum":["a\u200b"]}}}}`, ""},
		"a hidden default":   {`{"message":"m","requestedSchema":{"properties":{"p":{"default":"a\u001b[2K"}}}}`, ""},
		"a hidden address":   {`{"mode":"url","message":"m","url":"https://good.example/\u200b"}`, ""},
		"before the host":    {`{"mode":"url","message":"m","url":"https://good.example@evil.example/"}`, ""},
		"no web address":     {`{"mode":"url","message":"m","url":"javascript:alert(1)"}`, ""},
		"no address":         {`{"mode":"url","message":"m","url":7}`, ""},
		"two messages":       {`{"message":"a","Message":"b"}`, ""},
		"two schemas within": {`{"message":"a","requestedSchema":{"properties":{"p":{"title":"a","title":"b"}}}}`, ""},
		"too deep":           {`{"message":"a","requestedSchema":` + strings.Repeat(`{"a":`, maxForm+1) + `1` + strings.Repeat(`}`, maxForm+1) + `}`, ""},
		"a list":             {`[]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, nil, nil)
				s.server.say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":` + c.asked + `}`)
				if c.shown == "" {
					if l := s.server.hear(); !strings.Contains(l, "kept back") {
						t.Errorf("heard %s", l)
					}
					s.client.silent()
					return
				}
				s.client.wants(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":` + c.shown + `}`)
				if got := s.judge.told(hook.ContextAssembled); len(got) != 1 {
					t.Errorf("told %v", got)
				}
				s.client.say(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
				s.server.wants(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
			})
		})
	}
}

// So does what it asks in the answer to a call.
func TestAQuestionInAnAnswerIsVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for answer, want := range map[string]string{
			`"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Ok\u200b?"}},"r":{"method":"roots/list"}}}`: `"message":"The server “files” asks: Ok\\u{200b}?"`,
			`"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"a","Message":"b"}}}}`:                       "kept back",
			`"result":{"resultType":"input_required","inputRequests":[]}`:                                                                                                 "kept back",
			`"error":{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","message":"Log in","url":"https://evil.example/a"}]}}`:                        `The server “files” asks you to open evil.example: Log in`,
			`"error":{"code":-32042,"message":"first","data":{"elicitations":[{"mode":"url","message":"Log in","url":"https://a@evil.example/"}]}}`:                       "kept back",
			`"error":{"code":-32042,"message":"first","data":7}`:                                                                                                          "kept back",
		} {
			s := newStand(t, nil, nil)
			s.listed(echoTool)
			s.client.say(callEcho)
			s.server.wants(callEcho)
			s.server.say(`{"jsonrpc":"2.0","id":1,` + answer + `}`)
			if l := s.client.hear(); !strings.Contains(l, want) {
				t.Errorf("%s\nheard %s", answer, l)
			}
		}
	})
}

// And what a task asks that continues after an answer, whether the call that began it is known or
// not.
func TestAQuestionOfATaskIsVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const ask = `{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"t1"}}`
		for asked, want := range map[string]string{
			`{"q":{"method":"elicitation/create","params":{"message":"Ok\u200b?"}}}`:       `"message":"The server “files” asks: Ok\\u{200b}?"`,
			`{"q":{"method":"elicitation/create","params":{"message":"a","Message":"b"}}}`: "kept back",
			`[]`: "kept back",
		} {
			for _, begun := range []bool{true, false} {
				s := newStand(t, nil, nil)
				if begun {
					s.listed(echoTool)
					s.client.say(callEcho)
					s.server.wants(callEcho)
					s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t1","status":"working"}}}`)
					s.client.hear()
				}
				s.client.say(ask)
				s.server.wants(ask)
				s.server.say(`{"jsonrpc":"2.0","id":2,"result":{"taskId":"t1","status":"input_required","inputRequests":` + asked + `}}`)
				if l := s.client.hear(); !strings.Contains(l, want) {
					t.Errorf("%s, begun here %v: heard %s", asked, begun, l)
				}
			}
		}
	})
}

// That a person answered a server's form is written down before the server hears
// it, without what was typed.
func TestAnAnsweredFormIsWrittenDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for answer, want := range map[string]string{
			`"result":{"action":"accept","content":{"password":"hunter2"}}`: "accept",
			`"result":{"action":"decline"}`:                                 "decline",
			`"result":{"action":"hunter2"}`:                                 "other",
			`"error":{"code":-1,"message":"hunter2"}`:                       "error",
		} {
			for _, refused := range []bool{false, true} {
				j := &fakeJudge{}
				if refused {
					j.answer = only(hook.BeforeToolCall, hook.Reply{}, errors.New("disk full"))
				}
				s := newStand(t, j, nil)
				s.server.say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Your password?"}}`)
				s.client.hear()
				s.client.say(`{"jsonrpc":"2.0","id":1,` + answer + `}`)
				got := s.server.hear()
				if refused == strings.Contains(got, "hunter2") && strings.Contains(answer, "hunter2") {
					t.Errorf("%s, refused %v: the server heard %s", answer, refused, got)
				}
				told := j.told(hook.BeforeToolCall)
				if len(told) != 1 || told[0].Call.Name != "answer_form" || !same(string(told[0].Call.Args), `{"server":"files","action":"`+want+`"}`) {
					t.Errorf("%s: told %+v", answer, told)
				}
			}
		}
	})
}

// What a person types into the form of a server that clients share may come out of
// it for another client: the session's mark is left there first, or nothing is.
func TestAnAnsweredFormOfASharedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, refused := range []bool{false, true} {
			j := &fakeJudge{answer: func(_ context.Context, ev hook.Event) (hook.Reply, error) {
				if ev.Given && refused {
					return hook.Reply{}, errors.New("disk full")
				}
				return yes(), nil
			}}
			s := newStandWith(t, j, nil, func(o *Options) { o.Shared = true })
			s.server.say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Your password?"}}`)
			s.client.hear()
			s.client.say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"password":"hunter2"}}}`)
			if got := s.server.hear(); strings.Contains(got, "hunter2") == refused {
				t.Errorf("refused %v: the server heard %s", refused, got)
			}
			given := slices.ContainsFunc(j.told(hook.ContextAssembled), func(ev hook.Event) bool { return ev.Given && ev.Shared == "files" })
			if !given {
				t.Errorf("refused %v: nothing says that the server was given something", refused)
			}
		}
	})
}
