package daemon

import (
	"context"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// mayAnswer returns which groups may answer which questions; nil if service.yaml does not say.
func (d *Daemon) mayAnswer() func([]string, journal.Session, string, []floodmark.ToolRef) bool {
	if len(d.opts.Service.Answers) == 0 {
		return nil
	}
	return func(groups []string, s journal.Session, agent string, tools []floodmark.ToolRef) bool {
		return d.opts.Service.MayAnswer(groups, s.Tenant, agent, tools)
	}
}

// routed reports whether only members of groups may answer a question. Then the desk keeps no code
// for the question, and no agent's window asks it.
func (d *Daemon) routed(tenant string, q approval.Question) bool {
	return !d.opts.Service.MayAnswer(nil, tenant, "", toolsOf(q))
}

// toolsOf returns the tools a question is about; none if it is about trusting content, which
// affects the calls of all tools.
func toolsOf(q approval.Question) []floodmark.ToolRef {
	if q.Vouch != (approval.Origin{}) {
		return nil
	}
	return []floodmark.ToolRef{q.Action.Tool}
}

// anyRouted reports whether routed is true for any call of a question.
func (d *Daemon) anyRouted(p monitor.Pending) bool {
	for _, q := range p.Questions {
		if d.routed(p.Session.Tenant, q) {
			return true
		}
	}
	return false
}

// A groupChannel asks a group only the questions that this group answers.
type groupChannel struct {
	approval.Approver
	approval.Closer
	fits func(approval.Ticket) bool
}

// Ask implements [approval.Approver].
func (c groupChannel) Ask(ctx context.Context, t approval.Ticket) error {
	if !c.fits(t) {
		return nil
	}
	return c.Approver.Ask(ctx, t)
}
