// Package presence reports whether a person could answer a question now, and how long an agent then
// waits for the answer. If no person is there, the agent does not wait: its call is refused at
// once, and the question stays open. The package asks no questions and makes no decisions.
package presence

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/policy"
)

// ErrNobody means that no person is there to answer.
var ErrNobody = errors.New("no person is there to answer")

// A Presence knows the ways in which people can answer. All its fields are required.
type Presence struct {
	// There has a function for each way to answer. It reports whether a person can be reached that
	// way now.
	There []func() bool
	// Questions waits until a question is answered. It is a method of the monitor.
	Questions func(ctx context.Context, s journal.Session, t floodmark.TicketID) (floodmark.Verdict, error)
	// Settings returns the settings in force for an agent.
	Settings func(agent string) policy.Settings
}

// attended reports whether a person could answer now. That is also the case if the agent shows its
// questions to the person who uses it, because a question says where to answer it.
func (p Presence) attended(ctx context.Context) bool {
	return hookframe.Shows(ctx) || slices.ContainsFunc(p.There, func(there func() bool) bool { return there() })
}

// Await waits for a person's answer if a person is there. Otherwise it returns [ErrNobody].
func (p Presence) Await(ctx context.Context, s journal.Session, t floodmark.TicketID) (floodmark.Verdict, error) {
	if !p.attended(ctx) {
		return floodmark.Restrict, ErrNobody
	}
	return p.Questions(ctx, s, t)
}

// Patience returns how long an event's question may wait for a person: as long as the policy
// allows, and no longer than this agent can wait. Zero means that the event gets no extra time.
func (p Presence) Patience(ctx context.Context, ev hook.Event) time.Duration {
	if ev.Point != hook.BeforeToolCall || !p.attended(ctx) {
		return 0
	}
	return min(hookframe.Person(ctx), p.Settings(ev.Agent).Wait)
}
