package monitor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

const nightly = plain + "approvals: {quiet: {from: \"22:00\", to: \"07:00\", zone: UTC, do: hold}}\n"

// shelf keeps questions and notifies no person.
type shelf struct{ phone }

func (*shelf) Keeps() {}

func quietDesk(t *testing.T, mem journal.Journal, p *phone, s *shelf) *desk {
	t.Helper()
	rules := mustRules(t, nightly)
	return newDesk(t, mem, func(c *monitor.Config) {
		c.Rules = func() kernel.Rules { return rules }
		c.Approvers = []approval.Approver{p, s}
	})
}

// looks advances the clock in a bubble, so that the monitor does what is due.
func (d *desk) looks() {
	time.Sleep(d.cfg.Limits.Poll)
	synctest.Wait()
}

// In quiet hours no person is notified, but keepers get each question at once. In the morning each
// call is announced with a code of its own.
func TestHeldQuestionsRingInTheMorning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := &phone{}, &shelf{}
		d := quietDesk(t, journal.NewMemory(), p, s)
		poisoned(t, d, "s")
		d.tell(t, letter("s", "c1", "one@firm.example"))
		d.tell(t, letter("s", "c2", "two@firm.example"))
		synctest.Wait()
		if n := len(s.tickets()); n != 2 {
			t.Fatalf("%d are kept", n)
		}
		d.clock.Add(int64(7*time.Hour - time.Nanosecond))
		d.looks()
		if n := len(p.tickets()); n != 0 {
			t.Fatalf("%d rang at night", n)
		}
		d.clock.Add(1)
		d.looks()
		got := p.tickets()
		if len(got) != 2 {
			t.Fatalf("%d rang in the morning", len(got))
		}
		if got[0].Calls != 1 || got[1].Calls != 1 || got[0].ID == got[1].ID || got[0].Code == got[1].Code {
			t.Errorf("rang as %+v", got)
		}
		cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Code: got[1].Code, Channel: "cli"}
		if a, err := d.Answer(t.Context(), session("s"), cmd); err != nil || a.Notice != "Approved: send_email." {
			t.Errorf("%+v, %v", a, err)
		}
		d.tell(t, letter("s", "c3", "three@firm.example"))
		synctest.Wait()
		if n := len(p.tickets()); n != 3 {
			t.Errorf("what is asked by day does not ring: %d", n)
		}
	})
}

// A question answered in quiet hours is never announced, and a clock that is set back does not
// announce one early.
func TestHeldQuestionsThatAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := &phone{}, &shelf{}
		d := quietDesk(t, journal.NewMemory(), p, s)
		poisoned(t, d, "s")
		id := d.tell(t, letter("s", "c1", "one@firm.example")).Ticket
		d.clock.Add(-int64(time.Hour))
		if _, err := d.Answer(t.Context(), session("s"), deny(id)); err != nil {
			t.Fatal(err)
		}
		d.clock.Add(int64(9 * time.Hour))
		d.looks()
		if n := len(p.tickets()); n != 0 {
			t.Errorf("%d rang", n)
		}
	})
}

// After a restart in quiet hours held questions stay held; after one in the morning they are sent.
func TestHeldQuestionsOutliveTheMonitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		first := quietDesk(t, mem, &phone{}, &shelf{})
		poisoned(t, first, "s")
		first.tell(t, letter("s", "c1", "one@firm.example"))
		first.Close()
		p := &phone{}
		second := quietDesk(t, mem, p, &shelf{})
		second.tickets.Store(1 << 20)
		if n, err := second.AskAgain(context.Background(), ""); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		second.looks()
		if n := len(p.tickets()); n != 0 {
			t.Fatalf("%d rang at night", n)
		}
		second.Close()
		third := quietDesk(t, mem, p, &shelf{})
		third.tickets.Store(1 << 21)
		third.clock.Add(int64(7 * time.Hour))
		if n, err := third.AskAgain(context.Background(), ""); n != 1 || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
		synctest.Wait()
		if n := len(p.tickets()); n != 1 {
			t.Errorf("%d rang in the morning", n)
		}
	})
}
