package owner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// errStrange means that an entry is intact, but that this version does not understand it.
var errStrange = errors.New("what is written there is not understood by this version")

// maxUnreadLines bounds how many unreadable sessions are listed.
const maxUnreadLines = 20

// An unread lists sessions that were skipped because they cannot be read. They are skipped so that
// they do not hide all others.
type unread struct {
	lines []string
	count int
}

// words returns a line for each session, with what to do.
func (u unread) words() []string {
	if more := u.count - len(u.lines); more > 0 {
		return append(slices.Clip(u.lines), fmt.Sprintf("and %d more sessions; «floodmark journal verify» looks at all of them", more))
	}
	return u.lines
}

// pass records a session that is skipped because of an error. It returns false if the error, such
// as one of the store or a cancelled request, concerns all sessions.
func (u *unread) pass(ctx context.Context, s journal.Session, err error) bool {
	var why string
	switch {
	case ctx.Err() != nil:
		return false
	case errors.Is(err, journal.ErrBroken), errors.Is(err, httpapi.ErrNotFound):
		why = "what is kept of it is not what was written, so agents are refused there; «floodmark journal verify» says where it is damaged"
	case errors.Is(err, httpapi.ErrInvalid):
		why = fmt.Sprintf("it has more than %d facts; have the agent begin another session", maxTold)
	case errors.Is(err, errStrange):
		why = "something is written there that this version does not understand; ask again at a newer node, or upgrade this one"
	case errors.Is(err, journal.ErrConflict):
		why = "it was erased while it was read; ask again"
	default:
		return false
	}
	if u.count++; len(u.lines) < maxUnreadLines {
		u.lines = append(u.lines, fmt.Sprintf("session %s is passed over: %s", s.ID, why))
	}
	return true
}

// recent reads the sessions of a tenant that were written to lately and in which a question waits or
// something is granted, the newest first, until see returns false. It skips those that cannot be
// read.
func (d *Desk) recent(ctx context.Context, tenant string, see func(*tale) (more bool)) (passed unread, err error) {
	since := d.Now().Add(-recentTime).UnixNano()
	for h, err := range d.Journal.Recent(ctx, tenant) {
		if err != nil {
			return passed, err
		}
		if h.At < since {
			break
		}
		if h.Session.ID == monitor.Incidents || h.Session.ID == monitor.Pauses || h.Session.ID == monitor.Files {
			continue // no questions there
		}
		if d.settled.Has(h.Link.Hash) {
			continue
		}
		t, err := d.tell(ctx, h.Session, nil, nil)
		if err != nil && passed.pass(ctx, h.Session, err) {
			continue
		}
		if err != nil {
			return passed, err
		}
		if book := &t.state.Book; len(t.tickets(d.Now())) == 0 && len(book.Grants) == 0 && len(book.Hosts) == 0 {
			d.settled.Add(t.link.Hash)
			continue
		}
		if !see(t) {
			break
		}
	}
	return passed, nil
}
