package monitor_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// asks reports whether an observation is of a call that opened a question, or is shown again in
// one.
func asks(o monitor.Observation) bool {
	return slices.ContainsFunc(o.Entries, func(e journal.Entry) bool { return e.Kind == "ticket-opened" || e.Kind == "ticket-extended" })
}

// A question is asked, and asked again with a new code as its call changes. Even if the goroutine
// that wrote the first version is delayed past the second write, people get the first one first:
// the older code would otherwise arrive last and answer nothing.
func TestCallsOfAQuestionAreToldInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &phone{}
		inside, goOn := make(chan struct{}), make(chan struct{})
		var held atomic.Bool
		d := newDesk(t, journal.NewMemory(), withPhone(p), func(c *monitor.Config) {
			c.Observe = func(o monitor.Observation) {
				if asks(o) && held.CompareAndSwap(false, true) {
					close(inside)
					<-goOn
				}
			}
		})
		poisoned(t, d, "s")
		var work sync.WaitGroup
		work.Go(func() { d.tell(t, letter("s", "c1", "one@firm.example")) })
		<-inside
		poisonedAgain(t, d, "s")
		d.tell(t, letter("s", "c2", "one@firm.example"))
		synctest.Wait()
		if n := len(p.tickets()); n == 0 {
			t.Error("nobody was told")
		}
		close(goOn)
		work.Wait()
		synctest.Wait()
		got := p.tickets()
		if len(got) != 2 {
			t.Fatalf("%d were told", len(got))
		}
		if got[0].ID != got[1].ID || got[0].Code == got[1].Code || got[1].Calls != 1 {
			t.Fatalf("told %s with %d calls, then %s with %d", got[0].ID, got[0].Calls, got[1].ID, got[1].Calls)
		}
		cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Code: got[1].Code, Channel: "cli"}
		if a, err := d.Answer(t.Context(), session("s"), cmd); err != nil || len(a.Facts) == 0 {
			t.Errorf("the last code that was told: %+v, %v", a, err)
		}
	})
}

// A slow is a channel that blocks on each ticket.
type slow struct {
	phone
	came chan approval.Ticket
	may  chan struct{}
}

func (s *slow) Ask(ctx context.Context, t approval.Ticket) error {
	s.came <- t
	<-s.may
	return s.phone.Ask(ctx, t)
}

// A channel that is slow with one call gets the next one afterwards; another question does not wait
// for it.
func TestASlowChannelKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &slow{came: make(chan approval.Ticket, 8), may: make(chan struct{})}
		d := newDesk(t, journal.NewMemory(), func(cfg *monitor.Config) { cfg.Approvers = []approval.Approver{c} })
		poisoned(t, d, "s")
		poisoned(t, d, "other")
		d.tell(t, letter("s", "c1", "one@firm.example"))
		one := <-c.came
		poisonedAgain(t, d, "s")
		d.tell(t, letter("s", "c2", "one@firm.example"))
		d.tell(t, letter("other", "c1", "one@firm.example"))
		if next := <-c.came; next.Session != "other" || one.Session != "s" {
			t.Errorf("told of %s and then of %s", one.Session, next.Session)
		}
		close(c.may)
		if next := <-c.came; next.ID != one.ID || next.Code == one.Code {
			t.Errorf("then %+v", next)
		}
	})
}

// Keepers have the valid code before people are told of the question: when it is asked, when it is
// asked again, and after a restart.
func TestKeepersHaveTheCodeFirst(t *testing.T) {
	mem := journal.NewMemory()
	var s *shelf
	var late []floodmark.TicketID
	heard := 0
	open := func() *desk {
		s = &shelf{}
		keeper, told := s, 0
		return newDesk(t, mem, func(c *monitor.Config) {
			c.Approvers = []approval.Approver{keeper}
			c.Observe = func(o monitor.Observation) {
				if !asks(o) {
					return
				}
				heard++
				if n := len(keeper.tickets()); n > told {
					told = n
				} else {
					late = append(late, o.Ticket)
				}
			}
		})
	}
	d := open()
	poisoned(t, d, "s")
	d.tell(t, letter("s", "c1", "one@firm.example"))
	poisonedAgain(t, d, "s")
	d.tell(t, letter("s", "c2", "one@firm.example"))
	d.Close()
	again := open()
	again.tickets.Store(1 << 20)
	if n, err := again.AskAgain(t.Context(), ""); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if heard != 3 || len(late) > 0 || len(s.tickets()) != 1 {
		t.Errorf("of %d questions that were heard of, %q had no code yet; %d calls were asked again", heard, late, len(s.tickets()))
	}
}
