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

// ErrNotYours says that only another group may answer a question.
var ErrNotYours = errors.New("monitor: another group answers this")

type groupsKey struct{}

// AsMember adds the groups of the person who gives a command to ctx. The caller must have verified
// that the person is in these groups. Without AsMember the person is in no group.
func AsMember(ctx context.Context, groups ...string) context.Context {
	return context.WithValue(ctx, groupsKey{}, groups)
}

// groupsOf returns the groups that [AsMember] stored.
func groupsOf(ctx context.Context) []string {
	groups, _ := ctx.Value(groupsKey{}).([]string)
	return groups
}

// step judges an event. A code that the owner types into a conversation answers a question, too; as
// its author the owner is in no group.
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

// route refuses an answer that the settings do not let the groups give. It looks up the question in
// the state that the answer is judged on. Commands that only withdraw something need no group.
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
			return nil // nothing to answer; the kernel reports that
		}
		tools = open.Tools()
	case approval.Endorse: // it affects all later calls
	default:
		return nil
	}
	if !m.cfg.MayAnswer(groups, s, st.Agent, tools) {
		return fmt.Errorf("%w: %s", ErrNotYours, s)
	}
	return nil
}
