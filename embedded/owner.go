package embedded

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// The methods below act for the owner. The program must make sure that no agent and no model can
// call them.

// channel is the journal's name for answers by these methods.
const channel = "embedded"

// Approve approves all calls of the question with this code, and returns a text for the owner. The
// identical call is allowed until the turn ends.
func (g *Guard) Approve(ctx context.Context, s floodmark.SessionID, code string) (string, error) {
	return g.Answer(ctx, s, approval.Command{Verb: approval.Approve, Tool: approval.All, Code: code})
}

// ApproveTo is like [Guard.Approve], for a question that also asks where the call goes, because
// only others, and not the owner, named that place (see [approval.Pick]). place is what the owner
// picked or typed. A wrong place counts as a wrong code.
func (g *Guard) ApproveTo(ctx context.Context, s floodmark.SessionID, code, place string) (string, error) {
	return g.Answer(ctx, s, approval.Command{Verb: approval.Approve, Tool: approval.All, Code: code, Picked: place})
}

// Deny denies all calls of the question with this code.
func (g *Guard) Deny(ctx context.Context, s floodmark.SessionID, code string) (string, error) {
	return g.Answer(ctx, s, approval.Command{Verb: approval.Deny, Tool: approval.All, Code: code})
}

// Endorse endorses the content with this digest, or whose digest begins with it. From then on, the
// content is trusted like the owner's own files. [Guard.Sources] lists digests.
func (g *Guard) Endorse(ctx context.Context, s floodmark.SessionID, digest string) (string, error) {
	return g.typed(ctx, s, approval.Endorse, digest)
}

// Withdraw withdraws an endorsement.
func (g *Guard) Withdraw(ctx context.Context, s floodmark.SessionID, digest string) (string, error) {
	return g.typed(ctx, s, approval.Withdraw, digest)
}

// Answer applies any command of the owner, and returns a text for the owner.
func (g *Guard) Answer(ctx context.Context, s floodmark.SessionID, cmd approval.Command) (string, error) {
	if cmd.By == "" {
		cmd.By = "owner"
	}
	cmd.Channel, cmd.Code = channel, strings.ToLower(cmd.Code)
	did, err := g.monitor.Answer(ctx, journal.Session{ID: s}, cmd)
	return did.Notice, err
}

func (g *Guard) typed(ctx context.Context, s floodmark.SessionID, verb approval.Verb, rest string) (string, error) {
	cmd, err := approval.ParseCommand(string(verb) + " " + rest)
	if err != nil {
		return "", fmt.Errorf("a digest is at least %d hex digits: %w", approval.MinDigestDigits, err)
	}
	return g.Answer(ctx, s, cmd)
}

// Await implements [guard.Waiter].
func (g *Guard) Await(ctx context.Context, s floodmark.SessionID, t floodmark.TicketID) (floodmark.Verdict, error) {
	return g.monitor.Await(ctx, journal.Session{ID: s}, t)
}

// Pending returns the questions that wait for the owner, without their codes.
func (g *Guard) Pending() []monitor.Pending { return g.monitor.Pending("") }

// Mark returns the mark of a conversation: the lowest trust and the highest secrecy of all content
// that is in it.
func (g *Guard) Mark(ctx context.Context, s floodmark.SessionID) (floodmark.Label, error) {
	v, err := g.monitor.View(ctx, journal.Session{ID: s})
	if err != nil {
		return floodmark.Label{}, err
	}
	return v.State.Mark(), nil
}

// Sources returns the sources of a conversation, oldest first. They contain digests of the content,
// and not the content itself.
func (g *Guard) Sources(ctx context.Context, s floodmark.SessionID) ([]floodmark.Source, error) {
	v, err := g.monitor.View(ctx, journal.Session{ID: s})
	if err != nil {
		return nil, err
	}
	return slices.Collect(v.State.Ledger.Sources()), nil
}
