package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/floodmark/floodmark"
)

// Why a session is erased.
const (
	WhyRetention = "retention"
	WhyOwner     = "owner"
)

// A MarkOf returns the mark of a session at exactly the given entry. It returns [ErrConflict] if
// the session's last entry is another one; the caller then asks again.
type MarkOf func(ctx context.Context, s Session, at Link) (floodmark.Label, error)

// maxForgetTries bounds the retries of Forget for a session with constant writes.
const maxForgetTries = 5

// ErrUnknownSession says that a journal has no such session.
var ErrUnknownSession = errors.New("journal: no such session")

// Forget erases all entries of a session and leaves a signed tombstone. If all of them are erased
// already, it returns the existing tombstone.
//
// Forget checks the session's chain first. It does not erase a session whose chain is broken,
// because the tombstone would hide the tampering for ever.
func Forget(ctx context.Context, j Journal, signer note.Signer, s Session, mark MarkOf, now time.Time, why string) (Tombstone, error) {
	var err error
	for range maxForgetTries {
		var t Tombstone
		t, err = forget(ctx, j, signer, s, mark, now, why)
		if err == nil {
			return t, nil
		}
		if !errors.Is(err, ErrConflict) {
			break
		}
	}
	return Tombstone{}, fmt.Errorf("erase session %s: %w", plain(s), err)
}

func forget(ctx context.Context, j Journal, signer note.Signer, s Session, mark MarkOf, now time.Time, why string) (Tombstone, error) {
	last, stone, err := lastEntry(ctx, j, s)
	if err != nil {
		return Tombstone{}, err
	}
	if last.Seq == 0 {
		return Tombstone{}, ErrUnknownSession
	}
	if stone != nil && stone.Link == last {
		return *stone, nil
	}
	label, err := mark(ctx, s, last)
	if err != nil {
		return Tombstone{}, fmt.Errorf("find its mark: %w", err)
	}
	t, err := SignTombstone(signer, Tombstone{Session: s, Link: last, Mark: label, At: now.UnixNano(), Why: why})
	if err != nil {
		return Tombstone{}, err
	}
	return t, j.Erase(ctx, t)
}

// lastEntry reads a session to its end, checking the chain on the way.
func lastEntry(ctx context.Context, j Journal, s Session) (Link, *Tombstone, error) {
	start, err := j.Begin(ctx, s)
	if err != nil {
		return Link{}, nil, err
	}
	var last Link
	if start.Tombstone != nil {
		last = start.Tombstone.Link
	}
	for e, err := range j.Read(ctx, s, last.Seq) {
		if err != nil {
			return Link{}, nil, err
		}
		if err := Check(s, last, e); err != nil {
			return Link{}, nil, fmt.Errorf("%w; it stays as evidence: run journal verify", err)
		}
		last = e.Link()
	}
	if last.Seq < start.Link.Seq {
		return Link{}, nil, fmt.Errorf("%w: session %s ends at %d, its snapshot is of %d", ErrBroken, plain(s), last.Seq, start.Link.Seq)
	}
	return last, start.Tombstone, ctx.Err()
}

const (
	// MaxStepErased bounds the work of one step of retention.
	MaxStepErased = 256
	// maxDue bounds the queue of sessions to erase, about 10 MB of names.
	maxDue = 1 << 16
)

// A Retention erases the sessions without recent writes, the oldest first. It keeps its place
// between calls, because listing the oldest sessions may walk the whole journal. A Retention is not
// for concurrent use.
type Retention struct {
	Journal Journal
	Signer  note.Signer
	Mark    MarkOf
	// Keep is how long a session is kept after its last entry; zero is for ever.
	Keep time.Duration
	// Spare reports whether a session is kept at any age; nil spares none.
	Spare func(Session) bool

	due   []Head    // to be erased, the oldest first
	after Mark      // all up to here were looked at
	until time.Time // before this nothing more is due
}

// A Retained is the result of one step of retention.
type Retained struct {
	Erased int
	// Kept are sessions that were due and could not be erased, with the reason.
	// They are tried again after a restart.
	Kept []Unerased
	// More says that there may be more to do at once.
	More bool
}

// An Unerased is a session that could not be erased.
type Unerased struct {
	Session Session
	Why     error
}

// Step erases at most [MaxStepErased] sessions whose last entry is older than
// Keep.
func (r *Retention) Step(ctx context.Context, now time.Time) (Retained, error) {
	var did Retained
	if r.Keep <= 0 {
		return did, nil
	}
	if len(r.due) == 0 && !now.Before(r.until) {
		if err := r.look(ctx, now); err != nil {
			return did, fmt.Errorf("list the oldest sessions: %w", err)
		}
	}
	for range min(len(r.due), MaxStepErased) {
		if err := r.erase(ctx, r.due[0], now, &did); err != nil {
			return did, err
		}
		r.due = r.due[1:]
	}
	did.More = len(r.due) > 0 || !now.Before(r.until)
	return did, nil
}

// look queues expired sessions, the oldest first, and stops at the first one that is not expired.
func (r *Retention) look(ctx context.Context, now time.Time) error {
	var due []Head
	after := r.after
	r.until = now // until the end is reached there may be more
	for h, err := range r.Journal.Heads(ctx, r.after) {
		switch {
		case err != nil:
			return err
		case h.At > now.UnixNano():
			// The clock was wrong when this entry was written, or is wrong now. This session must
			// not delay all others.
			after = h.Mark
			continue
		case h.At > now.Add(-r.Keep).UnixNano():
			r.due, r.after = due, after
			r.until = time.Unix(0, h.At).Add(r.Keep)
			return nil
		case len(due) >= maxDue && h.Mark != after:
			r.due, r.after = due, after
			return nil
		}
		due, after = append(due, h), h.Mark
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.due, r.after = due, after
	r.until = now.Add(r.Keep)
	return nil
}

func (r *Retention) erase(ctx context.Context, h Head, now time.Time, did *Retained) error {
	if r.Spare != nil && r.Spare(h.Session) {
		return nil
	}
	start, err := r.Journal.Begin(ctx, h.Session)
	if err == nil && start.Tombstone != nil && start.Tombstone.Link == h.Link {
		return nil // erased earlier
	}
	if err == nil {
		// The session may be erased only if h is still its last entry: see onlyAt.
		_, err = forget(ctx, r.Journal, r.Signer, h.Session, onlyAt(h.Link, r.Mark), now, WhyRetention)
	}
	switch {
	case err == nil:
		did.Erased++
	case ctx.Err() != nil || errors.Is(err, ErrClosed):
		return fmt.Errorf("erase session %s: %w", plain(h.Session), err)
	case errors.Is(err, ErrConflict):
		// A new entry was written, so the session is not due any more. It is listed again later.
	default:
		did.Kept = append(did.Kept, Unerased{Session: h.Session, Why: err})
	}
	return nil
}

// onlyAt returns a MarkOf that calls mark for the entry want and returns ErrConflict for any other.
func onlyAt(want Link, mark MarkOf) MarkOf {
	return func(ctx context.Context, s Session, at Link) (floodmark.Label, error) {
		if at != want {
			return floodmark.Label{}, ErrConflict
		}
		return mark(ctx, s, at)
	}
}
