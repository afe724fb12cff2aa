package kernel_test

import (
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

const (
	quietDeny = "approvals: {ttl: 2m, quiet: {from: \"22:00\", to: \"07:00\", zone: UTC, do: deny}}"
	quietHold = "approvals: {ttl: 2m, quiet: {from: \"22:00\", to: \"07:00\", zone: UTC, do: hold}}"
	letter    = `{"to":"bob@firm.example","body":"x"}`
)

func clockAt(hour, minute int) time.Time { return time.Date(2026, 1, 2, hour, minute, 0, 0, time.UTC) }

// In quiet hours a call that would be asked about is refused at once, with what can be done. Before
// and after them it is asked about, and what is allowed stays allowed.
func TestQuietDenies(t *testing.T) {
	d := tainted(t, quietDeny)
	for _, c := range []struct {
		at   time.Time
		want floodmark.Verdict
	}{
		{clockAt(21, 59).Add(59 * time.Second), floodmark.Confirm},
		{clockAt(22, 0), floodmark.Restrict},
		{clockAt(0, 0), floodmark.Restrict},
		{clockAt(6, 59), floodmark.Restrict},
		{clockAt(7, 0), floodmark.Confirm},
	} {
		d := tainted(t, quietDeny)
		d.at = c.at
		if out := d.call("mail", letter); out.Reply.Decision.Verdict != c.want || (out.Ask != nil) != (c.want == floodmark.Confirm) {
			t.Errorf("at %s: %+v", c.at, out.Reply.Decision)
		}
	}
	d.at = clockAt(23, 0)
	out := d.call("mail", letter)
	dec := out.Reply.Decision
	if dec.Reasons[0].Rule != "approvals.quiet" || out.Reply.Ticket != "" || len(kept[floodmark.TicketOpened](out)) != 0 {
		t.Errorf("%+v", dec)
	}
	if want := "because it is quiet until 07:00 UTC, and nobody is asked before. Have it tried again after 07:00 UTC, or change approvals.quiet in the policy."; !strings.HasSuffix(out.Reply.Line, want) {
		t.Errorf("line: %q", out.Reply.Line)
	}
	if !strings.HasPrefix(dec.Remedy.Agent, "Do not try this before 07:00 UTC") {
		t.Errorf("agent: %q", dec.Remedy.Agent)
	}
	if v := d.call("look", `{"q":"x"}`).Reply.Decision.Verdict; v != floodmark.Allow {
		t.Errorf("looking at night: %v", v)
	}
	if n := d.owner(".status").Reply.Notice; !strings.Contains(n, "\n- quiet until 07:00 UTC: what would be asked is refused") {
		t.Errorf("status: %q", n)
	}
	d.at = clockAt(12, 0)
	if n := d.owner(".status").Reply.Notice; strings.Contains(n, "quiet") {
		t.Errorf("status at noon: %q", n)
	}
}

// An open question stays open. The same call joins it and is not refused; another call is.
func TestQuietLeavesOpenQuestions(t *testing.T) {
	d := tainted(t, quietDeny)
	d.at = clockAt(21, 59)
	first := d.call("mail", letter)
	d.at = clockAt(22, 0)
	if again := d.call("mail", letter); again.Reply.Ticket != first.Ask.ID || again.Ask != nil {
		t.Errorf("the same call: %+v", again.Reply)
	}
	if other := d.call("mail", `{"to":"ben@firm.example"}`); other.Reply.Decision.Verdict != floodmark.Restrict || other.Ask != nil {
		t.Errorf("another call: %+v", other.Reply)
	}
	d.reads("page", `{"url":"https://one.example/a"}`, "more")
	if changed := d.call("mail", letter); changed.Reply.Decision.Verdict != floodmark.Restrict || changed.Ask != nil {
		t.Errorf("the call as it stands now: %+v", changed.Reply)
	}
	d.answer(approval.Command{Verb: approval.Approve, Tool: "all", Ticket: first.Ask.ID})
	if len(d.state.Book.Grants) != 1 {
		t.Error("it could not be answered")
	}
}

// A held question is written down and waits for the end of the quiet hours. It expires counted from
// then, and an approval lets the same call pass.
func TestQuietHolds(t *testing.T) {
	d := tainted(t, quietHold)
	d.at = clockAt(23, 30)
	morning := clockAt(7, 0).Add(24 * time.Hour)
	out := d.call("mail", letter)
	opened := kept[floodmark.TicketOpened](out)
	if out.Reply.Decision.Verdict != floodmark.Confirm || out.Ask == nil || len(opened) != 1 {
		t.Fatalf("%+v", out.Reply)
	}
	if !opened[0].Held.Equal(morning) || !opened[0].Expires.Equal(morning.Add(2*time.Minute)) || !out.Ask.Held.Equal(morning) || !out.Ask.Expires.Equal(opened[0].Expires) {
		t.Errorf("held until %s, expires %s; %+v", opened[0].Held, opened[0].Expires, out.Ask)
	}
	if !strings.HasSuffix(out.Reply.Line, " It is quiet: nobody is asked before 07:00 UTC.") || strings.Contains(out.Ask.Call.Line, "quiet") {
		t.Errorf("%q, asked %q", out.Reply.Line, out.Ask.Call.Line)
	}
	if !strings.HasPrefix(out.Reply.Decision.Remedy.Agent, "The owner is not asked before 07:00 UTC.") {
		t.Errorf("%q", out.Reply.Decision.Remedy.Agent)
	}
	more := d.call("mail", `{"to":"ben@firm.example"}`)
	if more.Ask == nil || more.Ask.ID == out.Ask.ID || !more.Ask.Held.Equal(morning) || more.Ask.Calls != 1 {
		t.Errorf("one more: %+v", more.Ask)
	}
	if n := d.owner(".status").Reply.Notice; !strings.Contains(n, "Open questions: 2.") || !strings.Contains(n, "- quiet until 07:00 UTC: questions wait until then") {
		t.Errorf("status: %q", n)
	}
	d.at = morning.Add(time.Minute)
	if late := d.call("mail", letter); late.Reply.Ticket != out.Ask.ID || strings.Contains(late.Reply.Line, "quiet") {
		t.Errorf("in the morning: %+v", late.Reply)
	}
	d.answer(approval.Command{Verb: approval.Approve, Tool: "all", Ticket: out.Ask.ID})
	if v := d.call("mail", letter).Reply.Decision; v.Verdict != floodmark.Allow || v.Reasons[0].Code != floodmark.Granted {
		t.Errorf("after the yes: %+v", v)
	}
	again, err := kernel.Replay(d.facts)
	if err != nil || again.Book.Tickets[0].Held != d.state.Book.Tickets[0].Held {
		t.Errorf("replayed: %v", err)
	}
}

// A question from before the quiet hours does not notify again, and a question in them waits.
func TestQuietBeforeAndAfter(t *testing.T) {
	d := tainted(t, quietHold)
	d.at = clockAt(21, 59)
	evening := d.call("mail", letter)
	d.at = clockAt(22, 0)
	if same := d.call("mail", letter); same.Ask != nil || same.Reply.Ticket != evening.Ask.ID {
		t.Errorf("the same call rings: %+v", same.Ask)
	}
	night := d.call("mail", `{"to":"ben@firm.example"}`)
	if night.Ask == nil || night.Ask.ID == evening.Ask.ID || night.Ask.Held.IsZero() || !evening.Ask.Held.IsZero() {
		t.Fatalf("at night: %+v", night.Ask)
	}
	d.reads("page", `{"url":"https://one.example/a"}`, "more")
	changed := d.call("mail", letter)
	voided := kept[floodmark.TicketAnswered](changed)
	if changed.Ask == nil || changed.Ask.Held.IsZero() || len(voided) != 1 || voided[0].Ticket != evening.Ask.ID || voided[0].Verdict != floodmark.Confirm {
		t.Errorf("shown anew at night: %+v, %+v", changed.Ask, voided)
	}
	d.at = clockAt(7, 0).Add(24 * time.Hour)
	if morning := d.call("mail", `{"to":"joe@firm.example"}`); morning.Ask == nil || morning.Ask.ID == night.Ask.ID || !morning.Ask.Held.IsZero() {
		t.Errorf("in the morning: %+v", morning.Ask)
	}
}

// An answer to others is held and refused like a call.
func TestQuietReplies(t *testing.T) {
	for policy, want := range map[string]floodmark.Verdict{quietDeny: floodmark.Restrict, quietHold: floodmark.Confirm} {
		d := tainted(t, policy)
		d.at = clockAt(23, 0)
		if r := d.reply("hello all", hook.ToOthers); r.Decision.Verdict != want || !strings.Contains(r.Line, "07:00 UTC") {
			t.Errorf("%v: %+v", want, r)
		}
	}
}

// A clock that is set back makes it quiet again, and nothing else: it answers nothing, and what was
// held until the morning still is.
func TestQuietClockSetBack(t *testing.T) {
	d := tainted(t, quietHold)
	d.at = clockAt(7, 1)
	day := d.call("mail", letter)
	d.at = clockAt(6, 50)
	if same := d.call("mail", letter); same.Ask != nil || same.Reply.Decision.Verdict != floodmark.Confirm || same.Reply.Ticket != day.Ask.ID {
		t.Errorf("%+v", same.Reply)
	}
	if held := d.call("mail", `{"to":"ben@firm.example"}`); held.Ask == nil || !held.Ask.Held.Equal(clockAt(7, 0)) {
		t.Errorf("%+v", held.Ask)
	}
}
