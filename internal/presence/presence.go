// Package presence tells whether a person could answer a question now: only then an agent waits,
// and for how long. It asks no questions and decides nothing. On a machine without a person at it a
// call is refused at once, and the question stays open.
package presence

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/policy"
)

// ErrNobody says that no person is there to answer.
var ErrNobody = errors.New("no person is there to answer")

// A Presence knows where people are asked. All its fields are required.
type Presence struct {
	// There has a function for each way to answer, which reports whether a person is at it.
	There []func() bool
	// Questions waits until a question is answered; the monitor does.
	Questions func(ctx context.Context, s journal.Session, t floodmark.TicketID) (floodmark.Verdict, error)
	// Settings are those in force for an agent.
	Settings func(agent string) policy.Settings
}

// attended reports whether a person could answer now: one who sits at an agent that shows its
// questions can read there where to answer.
func (p Presence) attended(ctx context.Context) bool {
	return hookframe.Shows(ctx) || slices.ContainsFunc(p.There, func(there func() bool) bool { return there() })
}

// Await waits for a person, if one is there.
func (p Presence) Await(ctx context.Context, s journal.Session, t floodmark.TicketID) (floodmark.Verdict, error) {
	if !p.attended(ctx) {
		return floodmark.Restrict, ErrNobody
	}
	return p.Questions(ctx, s, t)
}

// Patience is how long an event's question may wait: as long as the policy lets an agent wait, and
// no longer than this agent can. Zero means no longer than for any answer.
func (p Presence) Patience(ctx context.Context, ev hook.Event) time.Duration {
	if ev.Point != hook.BeforeToolCall || !p.attended(ctx) {
		return 0
	}
	return min(hookframe.Person(ctx), p.Settings(ev.Agent).Wait)
}
