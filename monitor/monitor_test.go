package monitor_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

func TestNewNamesWhatIsMissing(t *testing.T) {
	_, err := monitor.New(monitor.Config{})
	for _, name := range []string{"Journal", "Rules", "Key", "Now", "NewCode", "NewTicket"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing, and New says: %v", name, err)
		}
	}
	cfg := newDesk(t, journal.NewMemory()).cfg
	cfg.Limits.Waiting = -1
	if _, err := monitor.New(cfg); err == nil || !strings.Contains(err.Error(), "Waiting") {
		t.Errorf("a limit below zero: %v", err)
	}
}

// A page is read, a resulting call is asked about, the owner approves, and the same call passes.
func TestAskedApprovedAllowed(t *testing.T) {
	j := journal.NewMemory()
	d := newDesk(t, j)
	poisoned(t, d, "s")
	reply := d.tell(t, mail("s", "c1"))
	if reply.Decision.Verdict != floodmark.Confirm || reply.Ticket == "" {
		t.Fatalf("got %v with ticket %q, want a question", reply.Decision.Verdict, reply.Ticket)
	}
	pending := d.Pending("")
	if len(pending) != 1 || pending[0].Ticket != reply.Ticket || pending[0].Calls != 1 || len(d.Pending("other")) != 0 {
		t.Fatalf("pending: %+v", pending)
	}
	of := pending[0].Session
	if here, other := d.PendingOf(of), d.PendingOf(journal.Session{Tenant: "other", ID: of.ID}); len(here) != 1 || len(other) != 0 {
		t.Errorf("of its session %v, of another %v", here, other)
	}
	got, err := d.Answer(t.Context(), session("s"), approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: reply.Ticket, Picked: "evil.example", By: "owner", Channel: "console"})
	if err != nil || !strings.HasPrefix(got.Notice, "Approved") || len(got.Facts) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if left := d.Pending(""); len(left) != 0 {
		t.Errorf("still pending: %+v", left)
	}
	if v, err := d.Await(t.Context(), session("s"), reply.Ticket); err != nil || v != floodmark.Allow {
		t.Errorf("await: %v, %v", v, err)
	}
	if reply := d.tell(t, mail("s", "c1")); reply.Decision.Verdict != floodmark.Allow {
		t.Errorf("after the approval: %v", reply.Decision.Verdict)
	}
	view, err := d.View(t.Context(), session("s"))
	if err != nil || view.State.Mark().Trust != floodmark.Untrusted || int(view.Link.Seq) != len(facts(t, j, session("s"))) {
		t.Errorf("view: %+v, %v", view, err)
	}
}

func TestNamesAreChecked(t *testing.T) {
	d := newDesk(t, journal.NewMemory())
	long := strings.Repeat("x", journal.MaxSessionBytes)
	d.tell(t, at(long, hook.SessionStart))
	refused(t, d, at(long+"x", hook.SessionStart), hook.ErrTooLarge)
	for _, id := range []string{"", "a\x00b", "a\xffb", string(monitor.Incidents), string(monitor.Pauses), "laptop/m1/s1", monitor.CopyPrefix} {
		refused(t, d, at(id, hook.SessionStart), nil)
		if id != "" {
			refused(t, d, spawns(long, id), nil)
		}
	}
	d.tell(t, at("laptop", hook.SessionStart))
}
