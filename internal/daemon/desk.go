package daemon

import (
	"context"
	"crypto/subtle"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// A desk is the owner's own channel on this machine: it holds the codes of open
// questions until a person at a terminal asks for them. Codes are in memory
// only; after a restart a question is asked again.
type desk struct {
	now func() time.Time

	mu   sync.Mutex // guards open
	open []approval.Ticket
}

var _ approval.Approver = (*desk)(nil)

// maxOpen bounds the questions held. The oldest is let go: it can still be
// asked again.
const maxOpen = 1024

func newDesk(now func() time.Time) *desk { return &desk{now: now} }

// Ask implements [approval.Approver].
func (d *desk) Ask(_ context.Context, t approval.Ticket) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	d.open = slices.DeleteFunc(d.open, func(o approval.Ticket) bool { return o.ID == t.ID && o.Session == t.Session })
	if len(d.open) >= maxOpen {
		d.open = slices.Delete(d.open, 0, len(d.open)-maxOpen+1)
	}
	d.open = append(d.open, t)
	return nil
}

// Code returns the code of an open question.
func (d *desk) Code(s journal.Session, t floodmark.TicketID) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	for _, o := range d.open {
		if o.ID == t && o.Session == s.ID {
			return o.Code, true
		}
	}
	return "", false
}

// Named returns the open question with a code. The kernel proves the code
// against what the journal keeps; this only finds the session to ask.
func (d *desk) Named(code string) (journal.Session, floodmark.TicketID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tidy()
	var found approval.Ticket
	ok := false
	for _, o := range d.open {
		if subtle.ConstantTimeCompare([]byte(o.Code), []byte(code)) == 1 {
			found, ok = o, true
		}
	}
	return journal.Session{ID: found.Session}, found.ID, ok
}

func (d *desk) tidy() {
	now := d.now()
	d.open = slices.DeleteFunc(d.open, func(o approval.Ticket) bool { return !o.Expires.After(now) })
}
