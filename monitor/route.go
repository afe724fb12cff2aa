package monitor

import (
	"context"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// ErrNotYours says that another group answers a question.
var ErrNotYours = errors.New("monitor: another group answers this")

type groupsKey struct{}

// AsMember says in which groups whoever gives a command is. Only what has proved
// it may say so. Who says nothing is in none.
func AsMember(ctx context.Context, groups ...string) context.Context {
	return context.WithValue(ctx, groupsKey{}, groups)
}

// groupsOf are the groups of whoever gives a command.
func groupsOf(ctx context.Context) []string {
	groups, _ := ctx.Value(groupsKey{}).([]string)
	return groups
}

// step judges an event. A code that the owner types into a conversation answers a
// question, too; who types there is in no group.
func (m *Monitor) step(st *kernel.State, r kernel.Rules, in kernel.Input, s journal.Session) (kernel.Output, error) {
	ev := &in.Event
	if m.cfg.MayAnswer != nil && ev.Point == hook.MessageReceived && ev.Origin.IsOwner && ev.Origin.Kind == floodmark.FromSender {
		if cmd, err := approval.ParseCommand(ev.Text); err == nil && cmd.Code != "" {
			if err := m.route(nil, s, st, in, cmd); err != nil {
				return kernel.Output{}, err
			}
		}
	}
	return kernel.Step(st, r, in)
}

// route refuses an answer of somebody whom the settings do not let answer. It
// looks at the question as it stands in the very state that the answer is
// judged by. What only takes something back is anybody's.
func (m *Monitor) route(groups []string, s journal.Session, st *kernel.State, in kernel.Input, cmd approval.Command) error {
	if m.cfg.MayAnswer == nil {
		return nil
	}
	var tools []floodmark.ToolRef
	switch cmd.Verb {
	case approval.Approve, approval.Deny:
		open, ok := st.Book.ByID(cmd.Ticket, in.At)
		if cmd.Code != "" {
			open, ok = st.Book.ByCode(in.Key[:], s.ID, cmd.Code, in.At)
		}
		if !ok {
			return nil // there is nothing to answer, and the kernel says so
		}
		tools = open.Tools()
	case approval.Endorse: // it counts for every call that follows
	default:
		return nil
	}
	if !m.cfg.MayAnswer(groups, s, st.Agent, tools) {
		return fmt.Errorf("%w: %s", ErrNotYours, s)
	}
	return nil
}
