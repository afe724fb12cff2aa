package owner

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// maxOld is how many copies are listed and erased at a time.
const maxOld = 256

// copyStone returns the name of a copy in its tombstone. A name that is too long for that is
// replaced by its digest.
func copyStone(tenant string, id machines.ID, s floodmark.SessionID) journal.Session {
	name := LaptopSession(string(id), string(s))
	if len(name) > journal.MaxSessionBytes {
		digest := floodmark.DigestOf(string(s))
		name = LaptopSession(string(id), "sha256:"+hex.EncodeToString(digest[:]))
	}
	return journal.Session{Tenant: tenant, ID: floodmark.SessionID(name)}
}

// buryCopy erases a copy up to its head, and puts a signed tombstone there. No session is judged by
// the tombstone's mark.
func buryCopy(ctx context.Context, book machines.Book, signer note.Signer, c machines.OldCopy, at time.Time, why string) (journal.Tombstone, bool, error) {
	t, err := journal.SignTombstone(signer, journal.Tombstone{Session: copyStone(c.Tenant, c.Machine, c.Session), Link: c.Head, At: at.UnixNano(), Why: why})
	if err != nil {
		return journal.Tombstone{}, false, err
	}
	done, err := book.Bury(ctx, c.Tenant, c.Machine, c.Session, t)
	return t, done, err
}

// LetCopiesGo erases the copies of laptops' sessions that have not grown since a time. It does
// nothing if the database's role may not erase.
func LetCopiesGo(ctx context.Context, book machines.Book, signer note.Signer, since, now time.Time) (gone int, err error) {
	for {
		list, err := book.Old(ctx, since, maxOld)
		if err != nil {
			return gone, err
		}
		before := gone
		for _, c := range list {
			_, done, err := buryCopy(ctx, book, signer, c, now, journal.WhyRetention)
			if errors.Is(err, machines.ErrMayNotErase) {
				return gone, nil
			}
			if err != nil {
				return gone, err
			}
			if done {
				gone++
			}
		}
		if len(list) < maxOld || gone == before {
			return gone, nil
		}
	}
}

// forgetCopy erases the copy of a laptop's session. The session on the laptop is not changed.
func (d *Desk) forgetCopy(ctx context.Context, who httpapi.Identity, c copied, why string) (*wire.ForgetResponse, error) {
	said := floodmark.IncidentSeen{Kind: "copy-forgotten", Text: fmt.Sprintf("%s (%s) erases the copy of session %q of machine %s, %d entries", who.Name, who.Channel, printedID(c.name()), c.of.ID, c.Head.Seq)}
	if err := d.Incident(ctx, journal.Session{Tenant: who.Tenant, ID: monitor.Incidents}, said); err != nil {
		return nil, err
	}
	t, done, err := buryCopy(ctx, d.Mirror, d.Key.Signer, machines.OldCopy{Tenant: who.Tenant, Machine: c.of.ID, Session: c.Session, Head: c.Head}, d.Now(), why)
	switch {
	case errors.Is(err, machines.ErrMayNotErase):
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, machines.ErrMayNotErase)
	case err != nil:
		return nil, err
	case !done:
		return nil, fmt.Errorf("%w: the laptop sent more of it meanwhile; try again", httpapi.ErrInvalid)
	}
	return &wire.ForgetResponse{Tombstone: wire.FromTombstone(t)}, nil
}
