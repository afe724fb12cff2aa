package monitor_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// full runs the long forms: go test ./monitor -full.
var full = flag.Bool("full", false, "run the long forms of races and crowds")

// After a restart the monitor asks every open question again, with a new valid code. Answered
// questions stay answered.
func TestOpenQuestionsAreAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		first := newDesk(t, mem, func(c *monitor.Config) { c.Approvers = nil })
		many := rounds(1000, 40)
		answered := map[floodmark.SessionID]floodmark.TicketID{}
		for n := range many {
			id := fmt.Sprint("s", n)
			poisoned(t, first, id)
			ticket := first.tell(t, letter(id, "c1", "one@firm.example")).Ticket
			if n%10 == 0 {
				if _, err := first.Answer(t.Context(), session(id), deny(ticket)); err != nil {
					t.Fatal(err)
				}
				answered[floodmark.SessionID(id)] = ticket
			}
		}
		p := &phone{}
		second := newDesk(t, mem, withPhone(p))
		second.tickets.Store(1 << 20)
		asked, err := second.AskAgain(t.Context(), "")
		if err != nil || asked != many-len(answered) {
			t.Fatalf("%d asked again, %v; want %d", asked, err, many-len(answered))
		}
		synctest.Wait()
		if n := len(p.tickets()); n != asked {
			t.Fatalf("%d of %d were asked", n, asked)
		}
		for _, k := range p.tickets() {
			if !k.Again || k.Code == "" || k.Call.Line == "" || len(k.Call.Offers) == 0 || k.Call.Consequence == "" || answered[k.Session] != "" {
				t.Fatalf("asked as %+v", k)
			}
		}
		if n := len(second.Pending("")); n != asked {
			t.Errorf("%d wait", n)
		}
		k := p.tickets()[0]
		old := approval.Command{Verb: approval.Approve, Tool: approval.All, Code: "c0de0001", Channel: "cli"}
		if got, err := second.Answer(t.Context(), session(string(k.Session)), old); err != nil || len(got.Facts) != 1 {
			t.Errorf("another code: %+v, %v", got, err)
		}
		old.Code = k.Code
		if _, err := second.Answer(t.Context(), session(string(k.Session)), old); err != nil {
			t.Fatal(err)
		}
		if got := second.tell(t, letter(string(k.Session), "c2", "one@firm.example")).Decision.Verdict; got != floodmark.Allow {
			t.Errorf("the approved call: %s", got)
		}
		if n, err := second.AskAgain(t.Context(), ""); n != 0 || err != nil {
			t.Errorf("asked twice: %d, %v", n, err)
		}
		second.clock.Add(int64(time.Hour))
		third := newDesk(t, mem)
		third.clock.Store(second.clock.Load())
		if n, err := third.AskAgain(t.Context(), ""); n != 0 || err != nil {
			t.Errorf("what has expired is asked: %d, %v", n, err)
		}
	})
}

// The agent asks another question while its questions are asked again: both are asked, each with
// its one call.
func TestACallThatComesWhileAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		first := newDesk(t, mem, func(c *monitor.Config) { c.Approvers = nil })
		poisoned(t, first, "s")
		first.tell(t, letter("s", "c1", "one@firm.example"))
		p, reads := &phone{}, 0
		j := &faulty{Journal: mem}
		second := newDesk(t, j, withPhone(p))
		second.tickets.Store(1 << 20)
		j.read = func() {
			// The session is read first, then its decisions.
			if reads++; reads == 2 {
				second.tell(t, letter("s", "c2", "two@firm.example"))
			}
		}
		if n, err := second.AskAgain(t.Context(), ""); n == 0 || err != nil {
			t.Fatalf("%d asked again, %v", n, err)
		}
		synctest.Wait()
		asked := map[floodmark.Digest]floodmark.TicketID{}
		for _, k := range p.tickets() {
			if k.Calls != 1 {
				t.Errorf("%s has %d calls", k.ID, k.Calls)
			}
			asked[k.Call.Action.ArgsDigest] = k.ID
		}
		if len(asked) != 2 {
			t.Errorf("%d calls were asked: %+v", len(asked), p.tickets())
		}
	})
}

// A pick is still required after a restart.
func TestAPickIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		first := newDesk(t, mem)
		poisoned(t, first, "s")
		first.tell(t, mail("s", "c1"))
		p := &phone{}
		second := newDesk(t, mem, withPhone(p))
		second.tickets.Store(1 << 20)
		if n, err := second.AskAgain(t.Context(), ""); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		synctest.Wait()
		if n := len(p.tickets()); n != 1 {
			t.Fatalf("%d calls were told", n)
		}
		k := p.tickets()[0]
		if k.Call.Pick == nil || k.Call.Place() != "mallory@evil.example" {
			t.Fatalf("%+v", k.Call)
		}
		cmd := approval.Command{Verb: approval.Approve, Tool: approval.All, Code: k.Code, Picked: "evil.example"}
		if _, err := second.Answer(t.Context(), session("s"), cmd); err != nil {
			t.Fatal(err)
		}
		if got := second.tell(t, mail("s", "c2")).Decision.Verdict; got != floodmark.Allow {
			t.Errorf("%s", got)
		}
		second.tell(t, at("s", hook.SessionEnd))
	})
}
