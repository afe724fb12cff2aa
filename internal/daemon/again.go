package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// What a former life asked may still be open. Only sessions that were written to
// within the longest time a question waits can hold one, so that not the whole
// journal is read.
const (
	longestQuestion = 24 * time.Hour // as the policy allows
	maxAgain        = 4096           // sessions that are looked at
	lastEntries     = 512            // of a session, to find the call in
)

// askAgain asks the open questions of a former life once more, through the
// channels that can carry one without its code: that was never written down.
func (d *Daemon) askAgain(ctx context.Context) error {
	if len(d.again) == 0 {
		return nil
	}
	since := d.opts.Now().Add(-longestQuestion).UnixNano()
	looked := 0
	for head, err := range d.store.Recent(ctx, d.opts.Service.Telegram.Tenant) {
		if err != nil || head.At < since || looked == maxAgain || ctx.Err() != nil {
			if err != nil {
				d.opts.Log.Warn("look for open questions", "error", err)
			}
			break
		}
		looked++
		for _, t := range d.openIn(ctx, head.Session) {
			for _, channel := range d.again {
				if err := channel.Ask(ctx, t); err != nil && ctx.Err() == nil {
					d.opts.Log.Warn("ask again", "error", err)
				}
			}
		}
	}
	return nil
}

// openIn are the open questions of a session, with one ticket for each call.
func (d *Daemon) openIn(ctx context.Context, s journal.Session) []approval.Ticket {
	v, err := d.monitor.View(ctx, s)
	if err != nil {
		return nil // such as that of the incidents, or one that is broken
	}
	var list []approval.Ticket
	for _, o := range v.State.Book.Tickets {
		if o.Approved || !d.opts.Now().Before(o.Expires) {
			continue
		}
		for _, shown := range o.Shown {
			list = append(list, approval.Ticket{
				ID: o.ID, Tenant: s.Tenant, Session: s.ID, Call: d.question(ctx, s, v.Link, shown), Calls: len(o.Shown), Expires: o.Expires, Again: true,
			})
		}
	}
	return list
}

// question is a call as it was shown, as far as that was written down.
func (d *Daemon) question(ctx context.Context, s journal.Session, last journal.Link, shown floodmark.Shown) approval.Question {
	q := approval.Question{
		Action: floodmark.Action{Kind: floodmark.CallTool, Tool: shown.Tool, ArgsDigest: shown.ArgsDigest}, Pattern: shown.Pattern, Offers: slices.Clone(shown.Offers),
	}
	if !shown.Pick.IsZero() {
		q.Pick = &approval.Pick{Words: "type where it goes, in full"} // what there was to choose from was not written down
	}
	after := uint64(0)
	if last.Seq > lastEntries {
		after = last.Seq - lastEntries
	}
	for e, err := range d.store.Read(ctx, s, after) {
		if err != nil {
			break
		}
		if e.Kind != "action-decided" {
			continue
		}
		f, err := e.Fact()
		a, ok := f.(floodmark.ActionDecided)
		if err != nil || !ok || a.Action.Tool != shown.Tool || a.Action.ArgsDigest != shown.ArgsDigest {
			continue
		}
		q.Action = a.Action
		if len(a.Decision.Reasons) > 0 {
			q.Line = a.Decision.Reasons[0].Text
		}
	}
	return q
}
