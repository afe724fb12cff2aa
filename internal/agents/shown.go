package agents

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Shown returns the texts of open questions for agents that show them while they wait. The person
// can deny there, and reads where to approve. An approval is not accepted there, because it could
// come from any code in the agent.
type Shown struct {
	// Pending returns the open questions of a session.
	Pending func(s journal.Session) []monitor.Pending
	// Answer passes a denial to the monitor.
	Answer func(ctx context.Context, s journal.Session, cmd approval.Command) (monitor.Answered, error)
	// Wrong records an incident: an answer other than a denial.
	Wrong func(ctx context.Context, kind, text string)
}

// maxShown is the length of a question's line there, in characters.
const maxShown = 400

// show lets the agent show the question that an event waits for.
func (s *Shown) show(waiting context.Context, tenant string, ev hook.Event, ticket floodmark.TicketID) {
	if s == nil || !hookframe.Shows(waiting) {
		return
	}
	session, window := journal.Session{Tenant: tenant, ID: ev.Session}, "the window of "+floodmark.Program(ev.Agent)
	hookframe.Show(waiting, s.words(session, ticket), func(ctx context.Context, no bool) {
		if !no {
			s.Wrong(ctx, "no-answer", fmt.Sprintf("something other than no was said to question %.100q in %s, where nobody can say yes", ticket, window))
			return
		}
		// A question that is closed already stays as it is.
		_, _ = s.Answer(ctx, session, approval.Command{Verb: approval.Deny, Tool: approval.All, Ticket: ticket, By: window, Channel: "window"})
	})
}

// words returns what would be done, why it is asked, and which question it is, without a code. It
// is empty if the question is not open. For several calls it gives only their number.
func (s *Shown) words(session journal.Session, ticket floodmark.TicketID) string {
	for _, p := range s.Pending(session) {
		if p.Ticket != ticket {
			continue
		}
		what := fmt.Sprintf("%d calls", len(p.Questions))
		if len(p.Questions) == 1 {
			b := p.Questions[0].Brief()
			what = floodmark.OneLine(b.What.String(), maxShown) + "\n" + floodmark.OneLine(b.Why.String(), maxShown)
		}
		return what + "\nYes: «floodmark watch» in another terminal, question " + floodmark.OneLine(string(ticket), maxTicket) + "."
	}
	return ""
}
