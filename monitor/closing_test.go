package monitor_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A phone is an approver that is told how its questions ended.
type phone struct {
	mu     sync.Mutex
	asked  []approval.Ticket
	closed map[floodmark.TicketID][]approval.Outcome
	fails  bool
}

func (p *phone) Ask(_ context.Context, t approval.Ticket) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, t)
	return nil
}

func (p *phone) Closed(_ context.Context, _ floodmark.SessionID, t floodmark.TicketID, o approval.Outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails {
		panic("odd")
	}
	if p.closed == nil {
		p.closed = map[floodmark.TicketID][]approval.Outcome{}
	}
	p.closed[t] = append(p.closed[t], o)
	return nil
}

// told returns the outcomes that the phone got for a question. It is called in a bubble.
func (p *phone) told(t floodmark.TicketID) []approval.Outcome {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed[t]
}

func (p *phone) tickets() []approval.Ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]approval.Ticket(nil), p.asked...)
}

func withPhone(p *phone) func(*monitor.Config) {
	return func(c *monitor.Config) { c.Approvers = []approval.Approver{p} }
}

func letter(id, call, to string) hook.Event {
	return calls(id, call, "send_email", `{"to":"`+to+`","body":"hello"}`)
}

// A channel learns how a question ended: who answered it, or that it expired.
func TestChannelsAreToldTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &phone{}
		d := newDesk(t, journal.NewMemory(), withPhone(p))
		poisoned(t, d, "s")
		yes := approval.Command{Verb: approval.Approve, Tool: approval.All, By: "anna", Channel: "cli"}
		yes.Ticket = d.tell(t, letter("s", "c1", "one@firm.example")).Ticket
		if _, err := d.Answer(t.Context(), session("s"), yes); err != nil {
			t.Fatal(err)
		}
		if got := p.told(yes.Ticket); len(got) != 1 || got[0].Verdict != floodmark.Allow || got[0].By != "anna" || got[0].Channel != "cli" || got[0].At.IsZero() {
			t.Errorf("approved: %+v", got)
		}
		no := deny(d.tell(t, letter("s", "c2", "two@firm.example")).Ticket)
		if _, err := d.Answer(t.Context(), session("s"), no); err != nil {
			t.Fatal(err)
		}
		if got := p.told(no.Ticket); len(got) != 1 || got[0].Verdict != floodmark.Restrict {
			t.Errorf("denied: %+v", got)
		}
		old := d.tell(t, letter("s", "c3", "three@firm.example")).Ticket
		d.clock.Add(int64(time.Hour))
		d.tell(t, at("s", hook.LoopIterationStart))
		if got := p.told(old); len(got) != 1 || got[0].Verdict != floodmark.Confirm || !got[0].Expired {
			t.Errorf("expired: %+v", got)
		}
		p.mu.Lock()
		p.fails = true
		p.mu.Unlock()
		last := deny(d.tell(t, letter("s", "c4", "four@firm.example")).Ticket)
		if _, err := d.Answer(t.Context(), session("s"), last); err != nil {
			t.Errorf("a channel that panics: %v", err)
		}
	})
}

// A late answer is told which answer came first, and when.
func TestLateAnswersAreTold(t *testing.T) {
	d := newDesk(t, journal.NewMemory())
	poisoned(t, d, "s")
	no := deny(d.tell(t, letter("s", "c1", "one@firm.example")).Ticket)
	no.By, no.Channel = "anna", "phone"
	if _, err := d.Answer(t.Context(), session("s"), no); err != nil {
		t.Fatal(err)
	}
	d.clock.Add(int64(time.Minute))
	yes := no
	yes.Verb, yes.By, yes.Channel = approval.Approve, "ben", "cli"
	got, err := d.Answer(t.Context(), session("s"), yes)
	want := "That question was answered already: denied by anna (phone). That was at 00:00:00 UTC on 1 January."
	if err != nil || got.Notice != want || len(got.Facts) != 0 {
		t.Errorf("%q, %v, %v", got.Notice, got.Facts, err)
	}
}

// rounds is how often a race is run.
func rounds(long, short int) int {
	if testing.Short() || !*full {
		return short
	}
	return long
}

// Of eight concurrent approvals exactly one wins, and the others are told so.
func TestExactlyOneOfEightChannelsWins(t *testing.T) {
	const channels = 8
	d := newDesk(t, journal.NewMemory())
	for n := range rounds(2000, 60) {
		id := fmt.Sprint("s", n%50)
		if n < 50 {
			poisoned(t, d, id)
		}
		ticket := d.tell(t, letter(id, fmt.Sprint("c", n), fmt.Sprint("x", n, "@firm.example"))).Ticket
		var won, late atomic.Int32
		var begin, done sync.WaitGroup
		begin.Add(1)
		for c := range channels {
			done.Go(func() {
				begin.Wait()
				cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ticket, By: fmt.Sprint("p", c), Channel: fmt.Sprint("ch", c)}
				got, err := d.Answer(context.Background(), session(id), cmd)
				switch {
				case err != nil:
					t.Error(err)
				case len(got.Facts) > 0:
					won.Add(1)
				case strings.HasPrefix(got.Notice, "That question was answered already: approved by p"):
					late.Add(1)
				}
			})
		}
		begin.Done()
		done.Wait()
		if won.Load() != 1 || late.Load() != channels-1 {
			t.Fatalf("round %d: %d won, %d were told", n, won.Load(), late.Load())
		}
	}
	t.Logf("%d times one of %d channels won", rounds(2000, 60), channels)
}

// One denial among eight answers beats every approval, if it comes before the call runs.
func TestANoAmongEightBeatsTheYes(t *testing.T) {
	d := newDesk(t, journal.NewMemory())
	for n := range rounds(500, 30) {
		id := fmt.Sprint("s", n)
		poisoned(t, d, id)
		ev := letter(id, "c1", "x@firm.example")
		ticket := d.tell(t, ev).Ticket
		var done sync.WaitGroup
		for c := range 8 {
			done.Go(func() {
				cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Ticket: ticket, By: "p", Channel: fmt.Sprint("ch", c)}
				if c == n%8 {
					cmd.Verb = approval.Deny
				}
				if _, err := d.Answer(context.Background(), session(id), cmd); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		if got := d.tell(t, ev).Decision.Verdict; got != floodmark.Restrict {
			t.Fatalf("round %d: %s", n, got)
		}
	}
	t.Logf("%d times one no beat seven yes", rounds(500, 30))
}

// Ten thousand wrong codes: the question is void after five, few facts are
// written, and the channels are told once.
func TestGuessingCodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, mem := &phone{}, journal.NewMemory()
		d := newDesk(t, mem, withPhone(p))
		poisoned(t, d, "s")
		ticket := d.tell(t, letter("s", "c1", "one@firm.example")).Ticket
		before := len(facts(t, mem, session("s")))
		for n := range rounds(10_000, 500) {
			cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Code: fmt.Sprintf("%08x", n), By: "eve", Channel: "chat"}
			got, err := d.Answer(t.Context(), session("s"), cmd)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range got.Facts {
				if _, ok := f.(floodmark.GrantGiven); ok {
					t.Fatalf("code %d was right", n)
				}
			}
		}
		var refused, void, incidents int
		for _, f := range facts(t, mem, session("s"))[before:] {
			switch f := f.(type) {
			case floodmark.TicketRefused:
				refused++
			case floodmark.TicketAnswered:
				if f.Verdict == floodmark.Confirm && f.Ticket == ticket {
					void++
				}
			case floodmark.IncidentSeen:
				incidents++
			default:
			}
		}
		t.Logf("%d wrong codes: %d counted, %d question voided, %d incident", rounds(10_000, 500), refused, void, incidents)
		if refused != 5 || void != 1 || incidents != 1 {
			t.Errorf("%d refused, %d void, %d incidents", refused, void, incidents)
		}
		if got := p.told(ticket); len(got) != 1 || got[0].By != "too many wrong codes" {
			t.Errorf("told: %+v", got)
		}
		right := approval.Command{Verb: approval.Approve, Tool: approval.All, Code: p.tickets()[0].Code, Channel: "cli"}
		if got, err := d.Answer(t.Context(), session("s"), right); err != nil || !strings.Contains(got.Notice, "too many wrong codes") {
			t.Errorf("the right code afterwards: %q, %v", got.Notice, err)
		}
	})
}
