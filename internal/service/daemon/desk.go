package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// A desk is the owner's own channel on this machine: it keeps the codes of open questions until a
// person at a terminal asks for them. Codes are in memory only; after a restart a question is asked
// again.
type desk struct {
	now func() time.Time
	// routed says which questions a group answers; nil: none.
	routed func(tenant string, q approval.Question) bool

	mu   sync.Mutex // guards open
	open []approval.Ticket
}

var (
	_ approval.Approver = (*desk)(nil)
	_ approval.Closer   = (*desk)(nil)
	_ approval.Keeper   = (*desk)(nil)
)

// maxOpen bounds the questions whose codes are kept. Beyond it the oldest is dropped, and can be
// asked again.
const maxOpen = 1024

func newDesk(now func() time.Time) *desk { return &desk{now: now} }

// Ask implements [approval.Approver].
func (d *desk) Ask(_ context.Context, t approval.Ticket) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	if d.routed != nil && d.routed(t.Tenant, t.Call) {
		return nil // the owner at this machine is in no group
	}
	d.open = slices.DeleteFunc(d.open, func(o approval.Ticket) bool { return o.ID == t.ID && o.Session == t.Session && o.Tenant == t.Tenant })
	if len(d.open) >= maxOpen {
		d.open = slices.Delete(d.open, 0, len(d.open)-maxOpen+1)
	}
	d.open = append(d.open, t)
	return nil
}

// Keeps implements [approval.Keeper]: the desk notifies no person.
func (d *desk) Keeps() {}

// Code returns the code of an open question.
func (d *desk) Code(s journal.Session, t floodmark.TicketID) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	for _, o := range d.open {
		if o.ID == t && o.Session == s.ID && o.Tenant == s.Tenant {
			return o.Code, true
		}
	}
	return "", false
}

// Named returns the open question with a code. The kernel checks the code against the journal; this
// only finds the session. It compares digests of one length with every entry, so that the time it
// takes reveals nothing.
func (d *desk) Named(code string) (journal.Session, floodmark.TicketID, bool) {
	typed := floodmark.DigestOf(code)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	var found approval.Ticket
	ok := false
	for _, o := range d.open {
		if approval.SameDigest(floodmark.DigestOf(o.Code), typed) && o.Code != "" {
			found, ok = o, true
		}
	}
	return journal.Session{Tenant: found.Tenant, ID: found.Session}, found.ID, ok
}

// Closed implements [approval.Closer]: it drops the code of a question that has ended.
func (d *desk) Closed(_ context.Context, s floodmark.SessionID, t floodmark.TicketID, _ approval.Outcome) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = slices.DeleteFunc(d.open, func(o approval.Ticket) bool { return o.ID == t && o.Session == s })
	return nil
}

// picks reports whether an agent's own window cannot ask a question, because a person must pick
// where the call goes, because it takes two people, or because only a group may answer it.
func (d *Daemon) picks(s floodmark.SessionID, t floodmark.TicketID) bool {
	for _, p := range d.monitor.Pending("") {
		if p.Ticket == t && p.Session.ID == s {
			return d.anyRouted(p) || slices.ContainsFunc(p.Questions, func(q approval.Question) bool { return q.Pick != nil || q.Two })
		}
	}
	return true // the question is not known here
}

// words returns a question as a chat or an agent's window shows it.
func (d *Daemon) words(s floodmark.SessionID, t floodmark.TicketID, most int) string {
	for _, p := range d.monitor.Pending("") {
		if p.Ticket == t && p.Session.ID == s && len(p.Questions) == 1 {
			return p.Questions[0].Text(most)
		}
	}
	return ""
}

func (d *desk) tidy() {
	now := d.now()
	d.open = slices.DeleteFunc(d.open, func(o approval.Ticket) bool { return !o.Expires.After(now) })
}

// askAgain asks the questions again that were open when the service last ended, because codes are in
// memory only. Questions that cannot be asked again are recorded as an incident.
func (d *Daemon) askAgain(ctx context.Context) error {
	asked, err := d.monitor.AskAgain(ctx, "")
	if tg := d.opts.Service.Telegram; tg != nil && tg.Tenant != "" {
		more, failed := d.monitor.AskAgain(ctx, tg.Tenant)
		asked, err = asked+more, errors.Join(err, failed)
	}
	if err != nil && ctx.Err() == nil {
		d.incident(ctx, "not-asked-again", err.Error())
	}
	if asked > 0 {
		d.opts.Log.Info("open questions were asked again", "questions", asked)
	}
	return nil
}
