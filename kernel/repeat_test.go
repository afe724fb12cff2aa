package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
)

func again(ev hook.Event) hook.Event {
	ev.Retry = true
	return ev
}

// An event that was written down is not written twice when its sender got no answer and sends it
// again. The answer is the same.
func TestAskedAgainIsOneDecision(t *testing.T) {
	const args = `{"q":"a"}`
	before := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("look", args)}
	after := hook.Event{Point: hook.AfterToolCall, Call: before.Call, Result: hook.Result{Text: "what there was"}}
	page := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("page", `{"url":"https://news.example/"}`)}
	run := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("shell", `{"code":"make all"}`)}
	for name, c := range map[string]struct {
		before []hook.Event
		event  hook.Event
	}{
		"allowed":        {nil, before},
		"lowers by self": {nil, page},
		"result":         {[]hook.Event{before}, after},
		"asked":          {[]hook.Event{page}, run},
		"owner's words":  {nil, hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: "and now?", Typed: true}},
		"others' words":  {nil, hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "x"}, Text: "hello"}},
		"sub-agent":      {nil, hook.Event{Point: hook.SubagentSpawned, Child: "k", Text: "go on"}},
	} {
		d := newDesk(t, "")
		d.owner("look around")
		for _, ev := range c.before {
			d.tell(ev)
		}
		first := d.tell(c.event)
		if len(first.Facts) == 0 {
			t.Fatalf("%s: nothing was written", name)
		}
		second := d.tell(again(c.event))
		if len(second.Facts) != 0 || len(second.Forks) != 0 || second.Ask != nil {
			t.Errorf("%s: written twice: %+v", name, second.Facts)
		}
		if a, b := first.Reply, second.Reply; a.Decision.Verdict != b.Decision.Verdict || a.Ticket != b.Ticket || a.Line != b.Line {
			t.Errorf("%s: answered %+v, then %+v", name, a, b)
		}
	}
}

// An event that is not the same, or whose earlier answer is out of date, is judged like a new one.
func TestAskedAgainIsJudged(t *testing.T) {
	before := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("look", `{"q":"a"}`)}
	page := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("page", `{"url":"https://news.example/"}`)}
	for name, c := range map[string]struct {
		between []hook.Event
		change  func(*hook.Event)
	}{
		"not said to be again": {nil, func(ev *hook.Event) { ev.Retry = false }},
		"other arguments":      {nil, func(ev *hook.Event) { ev.Call.Args = []byte(`{"q":"b"}`) }},
		"other tool":           {nil, func(ev *hook.Event) { ev.Call.Name = "wall" }},
		"other name":           {nil, func(ev *hook.Event) { ev.Call.ID = "other" }},
		"a lower mark":         {[]hook.Event{page, {Point: hook.AfterToolCall, Call: page.Call, Result: hook.Result{Text: "news"}}}, nil},
		"a stranger":           {[]hook.Event{{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "x"}, Text: "hi"}}, nil},
		"its result is here":   {[]hook.Event{{Point: hook.AfterToolCall, Call: before.Call, Result: hook.Result{Text: "x"}}}, nil},
		"a later turn":         {[]hook.Event{{Point: hook.SessionEnd}}, nil},
	} {
		d := newDesk(t, "")
		d.owner("look around")
		if out := d.tell(before); !allowed(out) {
			t.Fatal(out.Reply)
		}
		for _, ev := range c.between {
			d.tell(ev)
		}
		ev := again(before)
		if c.change != nil {
			c.change(&ev)
		}
		if out := d.tell(ev); len(kept[floodmark.ActionDecided](out)) != 1 {
			t.Errorf("%s: not judged: %+v", name, out.Facts)
		}
	}
}

// A call without a name of its own may be another one, and one approval is for one
// call: only the try that was told again has it.
func TestAskedAgainUsesOneApproval(t *testing.T) {
	d := newDesk(t, "")
	d.reads("page", `{"url":"https://news.example/"}`, "text")
	run := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("shell", `{"code":"make all"}`)}
	d.tell(run)
	d.answer(approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: d.ticket, Typed: true, Code: d.code})
	if out := d.tell(run); !allowed(out) || len(kept[floodmark.GrantUsed](out)) != 1 {
		t.Fatalf("%+v", out.Reply)
	}
	if out := d.tell(again(run)); !allowed(out) || len(out.Facts) != 0 {
		t.Errorf("told again: %+v", out.Facts)
	}
	if out := d.tell(run); allowed(out) {
		t.Error("a second call ran on one approval")
	}
	if out := d.tell(again(run)); allowed(out) {
		t.Error("after a no the old yes counted")
	}
	d = newDesk(t, "")
	nameless := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("look", `{"q":"a"}`)}
	nameless.Call.ID = ""
	d.tell(nameless)
	if out := d.tell(again(nameless)); len(kept[floodmark.ActionDecided](out)) != 1 {
		t.Error("a call without a name was taken for another")
	}
}

// A message is not taken for an earlier one because it has the same words: its parts are taken in,
// and so is who else could hear it.
func TestAskedAgainWithOtherParts(t *testing.T) {
	d := newDesk(t, "")
	d.owner("yes")
	d.owner("go on")
	ev := again(hook.Event{Point: hook.MessageReceived, Origin: olga(), Text: "yes", Typed: true})
	ev.Parts = []hook.Content{{Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromUnknown}, Text: "a page"}}
	if out := d.tell(ev); len(kept[floodmark.ContentSeen](out)) != 1 {
		t.Errorf("what came along: %+v", out.Facts)
	}
	if d.state.Mark().Trust != floodmark.Untrusted {
		t.Error("the mark stands as if nothing had come along")
	}
	if out := d.tell(ev); len(out.Facts) != 0 {
		t.Errorf("and once more: %+v", out.Facts)
	}
	ev.Parts, ev.Origin.Group = nil, "friends"
	if out := d.tell(ev); len(kept[floodmark.ContentSeen](out)) == 0 {
		t.Error("a message in a group was taken for one that nobody else heard")
	}
	ev.Origin, ev.Typed, ev.Text = olga(), false, strings.Repeat("long ", 100)
	d.owner(ev.Text)
	if out := d.tell(ev); len(kept[floodmark.ContentSeen](out)) != 1 {
		t.Error("a paste was taken for what was typed")
	}
}

// An approval that was taken back allows nothing, also to a caller that has not heard of it yet.
func TestAskedAgainAfterItWasTakenBack(t *testing.T) {
	run := hook.Event{Point: hook.BeforeToolCall, Call: toolCall("mail", `{"to":"bob@example.com","body":"x"}`)}
	for name, takeBack := range map[string]func(d *desk, ticket floodmark.TicketID){
		"revoked": func(d *desk, ticket floodmark.TicketID) {
			d.answer(approval.Command{Verb: approval.Revoke, Ticket: ticket})
		},
		"denied": func(d *desk, ticket floodmark.TicketID) {
			d.answer(approval.Command{Verb: approval.Deny, Tool: approval.All, Ticket: ticket})
		},
		"other rules": func(d *desk, _ floodmark.TicketID) {
			d.apply(floodmark.RulesLoaded{Policy: floodmark.DigestOf("others"), Catalog: d.rules.Catalog.Hash()})
			d.apply(floodmark.RulesLoaded{Policy: d.rules.Policy.Hash(), Catalog: d.rules.Catalog.Hash()})
		},
	} {
		d := tainted(t, "")
		d.tell(run)
		ticket := d.ticket
		d.answer(approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ticket, For: 30 * time.Minute})
		if out := d.tell(run); !allowed(out) {
			t.Fatalf("%s: %+v", name, out.Reply)
		}
		takeBack(d, ticket)
		if out := d.tell(again(run)); len(kept[floodmark.ActionDecided](out)) != 1 {
			t.Errorf("%s: not judged: %v", name, out.Reply.Decision)
		}
	}
}
