package hook_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

func full() hook.Event {
	yes := true
	origin := floodmark.Origin{Kind: floodmark.FromSender, Sender: "x", Group: "g"}
	content := []hook.Content{{Kind: floodmark.NodeInput, Origin: origin, Text: "t", Trust: "local"}}
	call := hook.Call{ID: "c", Server: "s", Name: "n", Args: json.RawMessage(`{"a":1}`), Hints: &hook.Hints{ReadOnly: &yes, Trust: "local"}}
	return hook.Event{
		Point: hook.BeforeToolCall, Agent: "a", Session: "s", Cause: hook.Clear, ByPerson: true, Project: "/p", Home: "/h",
		Origin: origin, Text: "t", Typed: true, Parts: content, Sources: content, Messages: content,
		Tools: []hook.Tool{{Server: "s", Name: "n"}}, Iteration: 2, Calls: []hook.Call{call}, Call: call,
		Result: hook.Result{Text: "r", Error: true}, Audience: hook.ToOwner, Child: "k",
		SystemPrompt: "p", Loop: floodmark.Loop{
			Model: "m", TokenEstimate: 1, TokenUsage: floodmark.TokenUsage{Input: 2, Output: 3}, LatencyMs: 4, PendingToolResults: 5,
			MessageCount: 6, ToolCallsMade: 7, NewMessagesAdded: 8, WillContinue: true, SessionKey: "k", Channel: "c",
		},
	}
}

func TestEventsGoThereAndBack(t *testing.T) {
	for _, p := range hook.Points() {
		small := hook.Event{Point: p, Agent: "a", Session: "s"}
		large := full()
		large.Point = p
		for _, ev := range []hook.Event{small, large} {
			data, err := json.Marshal(ev)
			if err != nil {
				t.Fatal(err)
			}
			back, err := hook.Decode(data)
			if err != nil || !reflect.DeepEqual(back, ev) {
				t.Errorf("%s: wrote %+v, read %+v, %v", p, ev, back, err)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	const ok = `{"point":"session_end","agent":"a","session":"s"`
	for name, text := range map[string]string{
		"nothing":         ``,
		"no point":        `{"agent":"a","session":"s"}`,
		"unknown point":   `{"point":"before_dinner","agent":"a","session":"s"}`,
		"no agent":        `{"point":"session_end","session":"s"}`,
		"no session":      `{"point":"session_end","agent":"a"}`,
		"unknown field":   ok + `,"isOwner":true}`,
		"two values":      ok + `}{}`,
		"wrong type":      ok + `,"iteration":"many"}`,
		"long agent":      `{"point":"session_end","session":"s","agent":"` + strings.Repeat("x", hook.MaxNameBytes+1) + `"}`,
		"long model":      ok + `,"model":"` + strings.Repeat("x", hook.MaxNameBytes+1) + `"}`,
		"long key":        ok + `,"sessionKey":"` + strings.Repeat("x", hook.MaxNameBytes+1) + `"}`,
		"long channel":    ok + `,"channel":"` + strings.Repeat("x", hook.MaxNameBytes+1) + `"}`,
		"tokens below 0":  ok + `,"tokenUsage":{"input":-1}}`,
		"round below 0":   ok + `,"iteration":-1}`,
		"latency below 0": ok + `,"latencyMs":-1}`,
		"long tool":       ok + `,"call":{"name":"` + strings.Repeat("x", hook.MaxNameBytes+1) + `"}}`,
		"long server":     ok + `,"calls":[{"name":"x","server":"` + strings.Repeat("x", hook.MaxNameBytes+1) + `"}]}`,
		"too many parts":  ok + `,"parts":[` + strings.Repeat(`{"kind":"input"},`, hook.MaxParts) + `{"kind":"input"}]}`,
		"too many tools":  ok + `,"tools":[` + strings.Repeat(`{"name":"x"},`, hook.MaxTools) + `{"name":"x"}]}`,
		"too deep":        ok + `,"call":{"name":"x","args":` + strings.Repeat("[", hook.MaxArgsDepth+1) + strings.Repeat("]", hook.MaxArgsDepth+1) + `}}`,
		"unknown trust":   ok + `,"origin":{"kind":"sender","trust":"owner"}}`,
		"too large":       ok + strings.Repeat(" ", hook.MaxEventBytes) + `}`,
		"large arguments": ok + `,"call":{"name":"x","args":"` + strings.Repeat("x", hook.MaxArgsBytes) + `"}}`,
	} {
		if ev, err := hook.Decode([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, ev)
		}
	}
}

func TestDecodeTakesWhatIsAtTheLimit(t *testing.T) {
	const ok = `{"point":"session_end","session":"s"`
	for name, text := range map[string]string{
		"agent": ok + `,"agent":"` + strings.Repeat("x", hook.MaxNameBytes) + `"}`,
		"parts": ok + `,"agent":"a","parts":[` + strings.Repeat(`{"kind":"input"},`, hook.MaxParts-1) + `{"kind":"input"}]}`,
		"tools": ok + `,"agent":"a","tools":[` + strings.Repeat(`{"name":"x"},`, hook.MaxTools-1) + `{"name":"x"}]}`,
		"depth": ok + `,"agent":"a","call":{"name":"x","args":` + strings.Repeat("[", hook.MaxArgsDepth) + strings.Repeat("]", hook.MaxArgsDepth) + `}}`,
		"quote": ok + `,"agent":"a","call":{"name":"x","args":"` + strings.Repeat("[", hook.MaxArgsDepth+1) + `\"{"}}`,
		"args":  ok + `,"agent":"a","call":{"name":"x","args":"` + strings.Repeat("x", hook.MaxArgsBytes-2) + `"}}`,
	} {
		if _, err := hook.Decode([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLeaves(t *testing.T) {
	for args, want := range map[string][]hook.Leaf{
		``:                                       nil,
		`  `:                                     nil,
		`{}`:                                     {},
		`{"to":"a@b.example"}`:                   {{Path: "to", Top: "to", Value: "a@b.example"}},
		`{"n":1.50,"b":true}`:                    {{Path: "n", Top: "n", Value: "1.50", Kind: hook.Number}, {Path: "b", Top: "b", Value: "true", Kind: hook.Bool}},
		`{"x":null}`:                             {{Path: "x", Top: "x", Value: "null", Kind: hook.Null}},
		`{"l":["a",{"u":"b"}]}`:                  {{Path: "l[0]", Top: "l", Value: "a"}, {Path: "l[1].u", Top: "l", Value: "b"}},
		`"just text"`:                            {{Value: "just text"}},
		`{"a":{"b":{"c":"d"}}}`:                  {{Path: "a.b.c", Top: "a", Value: "d"}},
		`{"big":123456789012345678901234567890}`: {{Path: "big", Top: "big", Value: "123456789012345678901234567890", Kind: hook.Number}},
	} {
		got, err := hook.Call{Args: json.RawMessage(args)}.Leaves()
		if err != nil || !reflect.DeepEqual(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %+v, %v; want %+v", args, got, err, want)
		}
	}
	many := `[` + strings.Repeat(`1,`, hook.MaxLeaves) + `1]`
	for _, args := range []string{
		`{`, `{"a":1,"a":2}`, `{} {}`, `{"a":`, strings.Repeat("[", hook.MaxArgsDepth+1), many, `nope`,
		`{"url of the command":"x"}`, `{"url\u0020of the command":[{"y":1}]}`,
	} {
		if got, err := (hook.Call{Args: json.RawMessage(args)}).Leaves(); !errors.Is(err, hook.ErrArgs) {
			t.Errorf("%.40s: %v, %v", args, got, err)
		}
	}
	if got, err := (hook.Call{Args: json.RawMessage(many[:len(many)-3] + "]")}).Leaves(); err != nil || len(got) != hook.MaxLeaves {
		t.Errorf("at the limit: %d leaves, %v", len(got), err)
	}
}

func TestContentDigest(t *testing.T) {
	d := floodmark.DigestOf("x")
	if (hook.Content{Text: "x", Digest: floodmark.DigestOf("y")}).ContentDigest() != d {
		t.Error("a text is identified by itself, whatever its sender says")
	}
	if (hook.Content{Digest: d}).ContentDigest() != d || (hook.Result{Digest: d}).ContentDigest() != d {
		t.Error("without a text the given digest counts")
	}
	if (hook.Result{Text: "x"}).ContentDigest() != d {
		t.Error("a result is identified by its text")
	}
}

// FuzzDecode checks that a decoded event is within the limits and encodes back the same.
func FuzzDecode(f *testing.F) {
	data, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"point":"session_end","agent":"a","session":"s","call":{"name":"x","args":{"a":[1,{"b":null}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ev, err := hook.Decode(data)
		if err != nil {
			return
		}
		leaves, err := ev.Call.Leaves()
		if err == nil && len(leaves) > hook.MaxLeaves {
			t.Errorf("%d leaves", len(leaves))
		}
		out, err := json.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hook.Decode(out); err != nil && !errors.Is(err, hook.ErrTooLarge) {
			t.Errorf("cannot read back %s: %v", out, err)
		}
	})
}
