package kernel_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

const twoPeople = `approvals: {admin: two, people: {anna: ["owner.sock:1000", "telegram:4711"], ben: ["telegram:4712", "token:ben"]}}
rules: [{name: ask, when: 'true', tools: [mail], action: {verdict: confirm}}]
`

// says sends the command of a person whom a channel has proved.
func (d *desk) says(verb approval.Verb, channel, by string) kernel.Output {
	d.t.Helper()
	cmd := approval.Command{Verb: verb, Tool: "all", Ticket: d.ticket, Channel: channel, By: by}
	return d.take(kernel.Answer(d.state, d.rules, d.input(hook.Event{}), cmd))
}

const setup = `{"key":"x"}`

// admin returns a session in which a call that changes the agent waits.
func admin(t testing.TB, user string) *desk {
	t.Helper()
	d := newDesk(t, user)
	d.owner("hello")
	if out := d.call("setup", setup); out.Ask == nil {
		t.Fatalf("nobody was asked: %+v", out.Reply.Decision)
	}
	return d
}

// It takes two people to approve. The first approval allows nothing, and both are written down.
func TestTwoPeopleApprove(t *testing.T) {
	d := admin(t, twoPeople)
	first := d.says(approval.Approve, "owner.sock", "user 1000")
	counted := kept[floodmark.TicketCounted](first)
	if len(first.Facts) != 1 || len(counted) != 1 || counted[0].Person != "anna" || counted[0].By != "user 1000" || counted[0].Channel != "owner.sock" {
		t.Fatalf("%+v", first.Facts)
	}
	if !strings.HasPrefix(first.Reply.Notice, "One of two: another person") {
		t.Errorf("%q", first.Reply.Notice)
	}
	if v := d.call("setup", setup).Reply.Decision.Verdict; v != floodmark.Confirm {
		t.Errorf("after one: %v", v)
	}
	again, err := kernel.Replay(d.facts)
	if err != nil || again.Book.Tickets[0].First != "anna" {
		t.Errorf("replayed: %+v, %v", again.Book, err)
	}
	second := d.says(approval.Approve, "token", "ben")
	answered := kept[floodmark.TicketAnswered](second)
	if len(kept[floodmark.GrantGiven](second)) != 1 || len(answered) != 1 || answered[0].Verdict != floodmark.Allow || answered[0].By != "anna and ben" {
		t.Fatalf("%+v", second.Facts)
	}
	if v := d.call("setup", setup).Reply.Decision; v.Verdict != floodmark.Allow || v.Reasons[0].Code != floodmark.Granted {
		t.Errorf("after two: %+v", v)
	}
	if v := d.call("setup", setup).Reply.Decision.Verdict; v != floodmark.Confirm {
		t.Errorf("a second time: %v", v)
	}
}

// One person is counted once, by whichever channel. An answer that names no known person, or comes
// from a conversation, is not counted.
func TestOnePersonIsNotTwo(t *testing.T) {
	d := admin(t, twoPeople)
	d.says(approval.Approve, "owner.sock", "user 1000")
	for _, who := range [][2]string{
		{"owner.sock", "user 1000"},
		{"telegram", "user 4711"},
		{"telegram", "user 9"},
		{"token", "user 1000"},
		{"owner.sock", "user 4712"},
		{"chat", "ben"},
		{"", "token:ben"},
		{"openclaw", "owner"},
		{"telegram", ""},
	} {
		if out := d.says(approval.Approve, who[0], who[1]); len(out.Facts) != 0 || out.Reply.Notice == "" {
			t.Errorf("%v: %q %+v", who, out.Reply.Notice, out.Facts)
		}
	}
	// An agent's own channel may be called telegram as well.
	in := olga()
	in.Name, in.Sender = "telegram", "4712"
	out := d.tell(hook.Event{Point: hook.MessageReceived, Origin: in, Text: ".approve all " + d.code})
	if len(out.Facts) != 0 || !strings.HasPrefix(out.Reply.Notice, "It takes two people, each at a channel of their own") {
		t.Errorf("in a conversation: %q %+v", out.Reply.Notice, out.Facts)
	}
	if v := d.call("setup", setup).Reply.Decision.Verdict; v != floodmark.Confirm {
		t.Errorf("%v", v)
	}
	if out := d.says(approval.Approve, "telegram", "user 4712"); len(kept[floodmark.GrantGiven](out)) != 1 {
		t.Errorf("ben: %q", out.Reply.Notice)
	}
}

// One denial closes the question, before or after the first approval.
func TestOneOfTwoDenies(t *testing.T) {
	for _, first := range []bool{false, true} {
		d := admin(t, twoPeople)
		if first {
			d.says(approval.Approve, "telegram", "user 4711")
		}
		out := d.says(approval.Deny, "token", "ben")
		if a := kept[floodmark.TicketAnswered](out); len(a) != 1 || a[0].Verdict != floodmark.Restrict {
			t.Errorf("%+v", out.Facts)
		}
		if out := d.says(approval.Approve, "telegram", "user 4712"); len(out.Facts) != 0 {
			t.Errorf("after the no: %+v", out.Facts)
		}
		if v := d.call("setup", setup).Reply.Decision.Verdict; v != floodmark.Restrict {
			t.Errorf("%v", v)
		}
	}
}

// An approval by the first person ends if something new comes in before the second. If the same
// question is asked once more, with a new code, it stays.
func TestTheFirstOfTwoIsBoundToWhatWasShown(t *testing.T) {
	d := admin(t, twoPeople)
	d.says(approval.Approve, "telegram", "user 4711")
	d.reads("wall", `{"q":"x"}`, "what friends wrote")
	if out := d.call("setup", setup); len(kept[floodmark.TicketExtended](out)) != 1 {
		t.Fatalf("%+v", out.Facts)
	}
	if out := d.says(approval.Approve, "token", "ben"); len(kept[floodmark.GrantGiven](out)) != 0 || len(kept[floodmark.TicketCounted](out)) != 1 {
		t.Errorf("%+v", out.Facts)
	}
	var decided []floodmark.ActionDecided
	for _, f := range d.facts {
		if f, ok := f.(floodmark.ActionDecided); ok {
			decided = append(decided, f)
		}
	}
	out, asked, err := kernel.Again(d.state, d.rules, d.input(hook.Event{}), d.ticket, decided)
	if err != nil || len(asked) != 1 || !asked[0].Call.Two {
		t.Fatalf("%+v, %v", asked, err)
	}
	d.apply(out.Facts...)
	if err := asShown(d.state, d.at, &asked[0]); err != nil {
		t.Error(err)
	}
	if out := d.says(approval.Approve, "owner.sock", "user 1000"); len(kept[floodmark.GrantGiven](out)) != 1 {
		t.Errorf("asked again: %q", out.Reply.Notice)
	}
}

// A question that takes two people is asked alone, says so, and is about nothing else.
func TestWhatTakesTwoIsAskedAlone(t *testing.T) {
	d := admin(t, twoPeople)
	first := d.ticket
	out := d.call("mail", letter)
	if out.Ask == nil || out.Ask.ID == first || out.Ask.Call.Two {
		t.Fatalf("a mail joins it: %+v", out.Ask)
	}
	mail := d.ticket
	other := d.call("setup", `{"key":"y"}`)
	if other.Ask == nil || other.Ask.ID == first || other.Ask.ID == mail || !other.Ask.Call.Two {
		t.Errorf("another: %+v", other.Ask)
	}
	if b := other.Ask.Call.Beware; len(b) != 1 || b[0] != "It takes two people to allow it." {
		t.Errorf("%q", b)
	}
	d.ticket = mail
	if out := d.says(approval.Approve, "chat", "somebody"); len(kept[floodmark.GrantGiven](out)) != 1 {
		t.Errorf("the mail: %q", out.Reply.Notice)
	}
	one := admin(t, strings.Replace(twoPeople, "admin: two", "admin: one", 1))
	if out := one.says(approval.Approve, "chat", "somebody"); len(kept[floodmark.GrantGiven](out)) != 1 {
		t.Errorf("where one is enough: %q", out.Reply.Notice)
	}
	many := admin(t, strings.Replace(twoPeople, "admin: two", "perHour: 1, admin: two", 1))
	if v := many.call("setup", `{"key":"y"}`).Reply.Decision; v.Verdict != floodmark.Restrict || v.Reasons[0].Rule != "approvals.perHour" {
		t.Errorf("one more than may be asked: %+v", v)
	}
}
