package monitor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A closer is an approver that is told how its questions ended.
type closer struct {
	approver
	closed func(floodmark.SessionID, floodmark.TicketID, approval.Outcome) error
}

func (c closer) Closed(_ context.Context, s floodmark.SessionID, t floodmark.TicketID, o approval.Outcome) error {
	return c.closed(s, t, o)
}

type ended struct {
	session floodmark.SessionID
	ticket  floodmark.TicketID
	outcome approval.Outcome
}

// Channels are told each outcome once it is durable; one that fails or panics changes nothing.
func TestChannelsHearHowQuestionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		heard := make(chan ended, 10)
		silent := approver(func(context.Context, approval.Ticket) error { return nil })
		d := newDesk(t, mem, func(c *monitor.Config) {
			c.Approvers = []approval.Approver{
				silent,
				closer{silent, func(s floodmark.SessionID, q floodmark.TicketID, o approval.Outcome) error {
					list := facts(t, mem, session(string(s)))
					if !slices.ContainsFunc(list, func(f floodmark.Fact) bool { a, ok := f.(floodmark.TicketAnswered); return ok && a.Ticket == q }) {
						t.Error("told before it was written")
					}
					heard <- ended{s, q, o}
					return nil
				}},
				closer{silent, func(floodmark.SessionID, floodmark.TicketID, approval.Outcome) error { return errors.New("no network") }},
				closer{silent, func(floodmark.SessionID, floodmark.TicketID, approval.Outcome) error { panic("odd") }},
			}
		})
		poisoned(t, d, "s")
		reply := d.tell(t, mail("s", "c1"))
		if _, err := d.Answer(t.Context(), session("s"), deny(reply.Ticket)); err != nil {
			t.Fatal(err)
		}
		got := <-heard
		if got.session != "s" || got.ticket != reply.Ticket || got.outcome.Verdict != floodmark.Restrict || got.outcome.By != "owner" || got.outcome.Channel != "console" || got.outcome.Expired || got.outcome.At.IsZero() {
			t.Errorf("heard %+v", got)
		}
		synctest.Wait()
		for _, want := range []string{"no network", "the channel panicked"} {
			if !slices.ContainsFunc(d.observed(), func(o monitor.Observation) bool { return o.Warning != nil && strings.Contains(o.Warning.Error(), want) }) {
				t.Errorf("no warning says %q", want)
			}
		}
		if len(heard) != 0 {
			t.Errorf("heard again: %+v", <-heard)
		}
	})
}
