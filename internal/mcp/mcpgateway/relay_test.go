package mcpgateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/mcp/mcpstdio"
)

func TestMessagesPassBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		for _, m := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":"x","method":"future/thing","params":{"a":[1,2,{"b":null}],"_meta":{"k":1}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","method":"notifications/future","params":[1,2]}`,
		} {
			s.client.say(m)
			s.server.wants(m)
		}
		for _, m := range []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1,"total":2}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"x":1}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`,
		} {
			s.server.say(m)
			s.client.wants(m)
		}
		s.client.say(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
		s.server.wants(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		s.server.say(`{"jsonrpc":"2.0","id":"x","result":{"unknown":["kept"],"n":12345678901234567890}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":"x","result":{"unknown":["kept"],"n":12345678901234567890}}`)
		if got := all(s.judge.told(hook.AfterToolCall)); !strings.Contains(got, "kept") {
			t.Errorf("the answer to an unknown method is no source: %v", got)
		}
	})
}

func TestACallIsDecidedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.listed(echoTool)
		call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"},"_meta":{"progressToken":1}}}`
		s.client.say(call)
		s.server.wants(call)
		before := s.judge.told(hook.BeforeToolCall)
		if len(before) != 1 || before[0].Call.Server != "files" || before[0].Call.Name != "echo" || string(before[0].Call.Args) != `{"text":"hi"}` {
			t.Fatalf("asked about %+v", before)
		}
		if h := before[0].Call.Hints; h == nil || h.ReadOnly == nil || !*h.ReadOnly {
			t.Errorf("hints %+v", h)
		}
		answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi there"}]}}`
		s.server.say(answer)
		s.client.wants(answer)
		after := s.judge.told(hook.AfterToolCall)
		if len(after) != 1 || after[0].Call.ID != before[0].Call.ID || !strings.Contains(after[0].Result.Text, "hi there") || after[0].Result.Error {
			t.Errorf("told %+v", after)
		}
	})
}

func TestARefusedCallIsAToolsError(t *testing.T) {
	for name, j := range map[string]*fakeJudge{
		"a no":                {answer: only(hook.BeforeToolCall, no("That sends mail."), nil)},
		"an error with a yes": {answer: only(hook.BeforeToolCall, yes(), errors.New("no daemon"))},
		"a verifier unasked": {answer: only(hook.BeforeToolCall, func() hook.Reply {
			r := yes()
			r.Decision.Verifiers = []string{"office"}
			return r
		}(), nil)},
		"in a box only":          {answer: only(hook.BeforeToolCall, boxed(""), nil)},
		"as another command":     {answer: only(hook.BeforeToolCall, boxed("box -- echo"), nil)},
		"the turn ends":          {answer: only(hook.BeforeToolCall, func() hook.Reply { r := yes(); r.BlockTurn = true; return r }(), nil)},
		"the start is refused":   {answer: only(hook.SessionStart, hook.Reply{}, nil)},
		"the start did not work": {answer: only(hook.SessionStart, yes(), errors.New("no daemon"))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, j, nil)
				s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
				s.server.wants(`{"jsonrpc":"2.0","id":"floodmark-1","method":"tools/list","params":{}}`)
				s.server.say(`{"jsonrpc":"2.0","id":"floodmark-1","result":{"tools":[` + echoTool + `]}}`)
				got := s.client.hear()
				if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, `"text":"floodmark: `) {
					t.Errorf("answered %s", got)
				}
				s.server.silent()
			})
		})
	}
}

func boxed(command string) hook.Reply {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow}, Line: "beside the point", Command: command}
}

// Nothing here replaces a command, and the model reads that.
func TestABoxedYesIsRefusedInWords(t *testing.T) {
	for command, want := range map[string]error{"": hook.ErrNoBox, "box -- echo": hook.ErrOtherCommand} {
		if got := refusal(boxed(command), nil); got != "floodmark: refused because "+want.Error()+"." {
			t.Errorf("with %q: %q", command, got)
		}
	}
}

func TestAResultThatWasNotTakenInIsKeptBack(t *testing.T) {
	for name, answer := range map[string]func(context.Context, hook.Event) (hook.Reply, error){
		"error": only(hook.AfterToolCall, yes(), errors.New("disk full")),
		"no":    only(hook.AfterToolCall, hook.Reply{}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, &fakeJudge{answer: answer}, nil)
				s.listed(echoTool)
				s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
				s.server.hear()
				s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"poison"}]}}`)
				if got := s.client.hear(); strings.Contains(got, "poison") || !strings.Contains(got, `"isError":true`) {
					t.Errorf("heard %s", got)
				}
			})
		})
	}
}

func TestAnswersNobodyAskedForAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.listed(echoTool)
		s.server.say(`{"jsonrpc":"2.0","id":5,"result":{"content":[]}}`)
		s.client.say(`{"jsonrpc":"2.0","id":6,"result":{}}`)
		s.client.say(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		s.server.wants(`{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		s.server.say(`{"jsonrpc":"2.0","id":7,"result":{}}`, `{"jsonrpc":"2.0","id":7,"result":{"again":1}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":7,"result":{}}`)
		s.client.silent()
	})
}

// A server must not answer a call before it was allowed.
func TestAnAnswerBeforeTheCallIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask, go_ := make(chan struct{}), make(chan struct{})
		j := &fakeJudge{}
		j.answer = func(ctx context.Context, ev hook.Event) (hook.Reply, error) {
			if ev.Point == hook.BeforeToolCall {
				close(ask)
				<-go_
				return no("no."), nil
			}
			return yes(), nil
		}
		s := newStand(t, j, nil)
		s.listed(echoTool)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		<-ask
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"forged"}]}}`)
		s.client.silent()
		close(go_)
		if got := s.client.hear(); strings.Contains(got, "forged") || !strings.Contains(got, "isError") {
			t.Errorf("heard %s", got)
		}
	})
}

func TestAnIDIsUsedOnceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
		s.server.hear()
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		if got := s.client.hear(); !strings.Contains(got, `"code":-32600`) {
			t.Errorf("heard %s", got)
		}
		s.server.silent()
		s.server.say(`{"jsonrpc":"2.0","id":9,"method":"ping"}`, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
		s.client.hear()
		if got := s.server.hear(); !strings.Contains(got, `"code":-32600`) {
			t.Errorf("heard %s", got)
		}
	})
}

func TestOpenRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		for i := range MaxOpen {
			s.client.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, i))
			s.server.hear()
		}
		s.client.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"slow"}`, MaxOpen))
		if got := s.client.hear(); !strings.Contains(got, `"code":-32600`) {
			t.Errorf("heard %s", got)
		}
	})
}

func TestWhatCanBeReadInTwoWaysIsNotPassedOn(t *testing.T) {
	for _, params := range []string{
		`{"name":"echo","name":"rm"}`,
		`{"name":"echo","Name":"rm"}`,
		`{"NAME":"rm"}`,
		`{"name":"echo","\u006eame":"rm"}`,
		`{"name":"echo","arguments":{},"arguments":{"text":"x"}}`,
		`{"name":"echo","argument\u017f":{"text":"x"}}`,
		`{"name":"echo","arguments":{"text":"a","TEXT":"b"}}`,
		`{"name":"echo","arguments":{"Text":"b"}}`,
		`{"name":"echo","arguments":{"t\u0065xt":"a","text":"b"}}`,
		`{"name":"echo","arguments":[1]}`,
		`{"name":"echo","arguments":"x"}`,
		`{"name":["echo"]}`,
		`{"name":""}`,
		`{"name":"ech\ud800"}`, // half of a character: some read it as another name
		"{\"name\":\"ech\x8d\"}",
		"{\"name\":\"echo\",\"arguments\":{\"text\":\"\x8d\"}}",
		`{"name":"` + strings.Repeat("x", MaxName+1) + `"}`,
		`["echo"]`,
		`{}`,
		`null`,
	} {
		t.Run(params[:min(len(params), 60)], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(t, nil, nil)
				s.listed(echoTool)
				s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`)
				if got := s.client.hear(); !strings.Contains(got, `"code":-32602`) {
					t.Errorf("heard %s", got)
				}
				s.server.silent()
				if got := s.judge.told(hook.BeforeToolCall); len(got) != 0 {
					t.Errorf("it was judged: %+v", got)
				}
			})
		})
	}
}

func TestMethodsSpelledAlmostLikeACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		for i, method := range []string{"Tools/Call", "tools/call ", " tools/call", "tools//call", "TOOLS/CALL", "tool\\u017f/call", "tools.call", "/tools/call", "resources/Read", "Prompts/get"} {
			s.client.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{"name":"echo"}}`, i, method))
			if got := s.client.hear(); !strings.Contains(got, `"code":-32601`) {
				t.Errorf("%s: heard %s", method, got)
			}
		}
		// Without an id there is no request to answer.
		s.client.say(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}`, `{"jsonrpc":"2.0","id":null,"method":"Tools/call","params":{"name":"echo"}}`)
		s.server.silent()
	})
}

func TestABatchIsTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, &fakeJudge{answer: only(hook.BeforeToolCall, no("no."), nil)}, nil)
		s.listed(echoTool)
		s.client.say(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","method":"notifications/x"}]`)
		s.server.wants(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		s.server.wants(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		s.server.silent()
		if got := s.client.hear(); !strings.Contains(got, `"isError":true`) {
			t.Errorf("heard %s", got)
		}
	})
}

func TestLinesThatAreNoMessagesAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.server.say("Server running on stdio", "", `{"half":`, `"text"`, `[]`, `[1,2]`, `{"jsonrpc":"1.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/a","Method":"notifications/b"}`, `{"jsonrpc":"2.0","method":"notifications/c","method":"notifications/d"}`)
		s.server.say(`{"jsonrpc":"2.0","method":"notifications/ok"}`)
		s.client.wants(`{"jsonrpc":"2.0","method":"notifications/ok"}`)
	})
}

func TestACallIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{})
		j := &fakeJudge{}
		j.answer = func(ctx context.Context, ev hook.Event) (hook.Reply, error) {
			if ev.Point == hook.BeforeToolCall && strings.Contains(string(ev.Call.Args), "wait") {
				close(asked)
				<-ctx.Done()
				return yes(), ctx.Err()
			}
			return yes(), nil
		}
		s := newStand(t, j, nil)
		s.listed(echoTool)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"wait"}}}`)
		<-asked
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		s.server.silent()
		s.client.silent()
		// One that runs already is taken back at the server.
		s.client.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"go"}}}`)
		s.server.hear()
		s.client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		s.server.wants(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		s.server.say(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"late"}]}}`)
		s.client.silent()
		after := s.judge.settled(hook.AfterToolCall)
		if len(after) != 1 || !after[0].Result.Error || strings.Contains(after[0].Result.Text, "late") {
			t.Errorf("told %+v", after)
		}
	})
}

func TestWhenTheServerEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.listed(echoTool)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		s.server.hear()
		_ = s.server.in.Close()
		if got := s.client.hear(); !strings.Contains(got, `"code":-32051`) || !strings.Contains(got, `"id":1`) {
			t.Errorf("heard %s", got)
		}
		if err := <-s.ended; !errors.Is(err, errServer) {
			t.Errorf("ended with %v", err)
		}
		if after := s.judge.told(hook.AfterToolCall); len(after) != 1 || !after[0].Result.Error {
			t.Errorf("told %+v", after)
		}
	})
}

// A server that ends after it answered: what it said is heard, and what is asked of
// it before its end was noticed is answered, too.
func TestWhenTheServerHasJustEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		s.server.hear()
		if err := s.server.deaf(); err != nil {
			t.Fatal(err)
		}
		s.client.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		s.server.missed()
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		_ = s.server.in.Close()
		if got := s.client.hear(); !strings.Contains(got, `"code":-32051`) || !strings.Contains(got, `"id":2`) {
			t.Errorf("heard %s", got)
		}
		if err := <-s.ended; !errors.Is(err, errServer) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestWhenTheClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.listed(echoTool)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		_ = s.client.in.Close()
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		s.client.wants(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		if err := <-s.ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestAMessageThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		s.server.hear()
		go func() { _, _ = s.server.in.Write([]byte(strings.Repeat("x", mcpstdio.MaxMessage+2) + "\n")) }()
		if got := s.client.hear(); !strings.Contains(got, `"code":-32051`) {
			t.Errorf("heard %s", got)
		}
		if err := <-s.ended; !errors.Is(err, mcpstdio.ErrTooLong) {
			t.Errorf("ended with %v", err)
		}
	})
}

// What cannot be read is answered if it says whom it is for.
func TestAnswersThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
		for _, answer := range []string{
			`{"jsonrpc":"2.0","id":1,"result":` + deep + `}`,
			`{"jsonrpc":"2.0","id":1,"result":{},"Result":{"x":1}}`,
			`{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`,
			`{"jsonrpc":"1.0","id":1,"result":{}}`,
			`{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}`,
			`{"jsonrpc":"2.0","id":1,"result":"text"}`,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[],"content":[]}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"Content":[]}}`,
			`{"jsonrpc":"2.0","id":1}`,
		} {
			s := newStand(t, nil, nil)
			s.listed(echoTool)
			s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
			s.server.hear()
			s.server.say(answer)
			if got := s.client.hear(); !strings.Contains(got, `"error"`) && !strings.Contains(got, `"isError":true`) {
				t.Errorf("%.80s: heard %s", answer, got)
			}
		}
		s := newStand(t, nil, nil)
		s.client.say(`{"jsonrpc":"2.0","id":4,"method":"ping","METHOD":"tools/call"}`)
		if got := s.client.hear(); !strings.Contains(got, `"id":4`) || !strings.Contains(got, `"code":-32600`) {
			t.Errorf("heard %s", got)
		}
		s.server.silent()
	})
}

// Tools that change right behind the list are looked at again before a call.
func TestToolsThatChangeBehindTheirList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, nil, seesAll{held: map[string]string{"tool rm": "rm is held."}})
		s.client.say(askTools)
		s.server.hear()
		s.server.say(`{"jsonrpc":"2.0","id":100,"result":{"tools":[`+echoTool+`]}}`, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		s.client.hear()
		s.client.hear()
		s.client.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}`)
		s.server.wants(`{"jsonrpc":"2.0","id":"floodmark-1","method":"tools/list","params":{}}`)
		s.server.say(`{"jsonrpc":"2.0","id":"floodmark-1","result":{"tools":[{"name":"rm"}]}}`)
		if got := s.client.hear(); !strings.Contains(got, "rm is held.") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("heard %s", got)
		}
		s.server.silent()
	})
}
