// Package past reads recorded sessions for the console's reports, the last written first. It holds
// one session in memory at a time, and a session that is too large is passed over. It verifies no
// hashes and changes nothing.
package past

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel/replay"
)

// The limits of one session. A long day of an agent has some thousand facts and some megabytes.
const (
	MaxFacts = 200_000
	MaxBytes = 64 << 20
)

// maxForeign bounds a text of others, in characters.
const maxForeign = 1_000

// Foreign makes a text of others safe to send: short, and valid UTF-8.
func Foreign(text string) string {
	return floodmark.Shorten(strings.ToValidUTF8(text, "\uFFFD"), maxForeign)
}

// ErrTooLong says that a session is larger than the limits.
var ErrTooLong = errors.New("the session is too long to be shown here: «floodmark journal export SESSION» writes it to a file")

// A Session is one recorded session.
type Session struct {
	tally.Session
	First   uint64    // the number of the first fact
	Written time.Time // when it was last written
	// Last is the hash of its last entry when it was listed, which stands for all before it.
	Last journal.Hash
	// Known says that the caller knew the session by its last entry. It has no facts then.
	Known bool
	// Wrong is why the session could not be read. It has no facts then.
	Wrong error
}

// Since returns the sessions of a tenant that were written since a time, the last written first. An
// error ends them. A session whose last entry is known is not read; without known, all are.
func Since(ctx context.Context, j journal.Journal, tenant string, since time.Time, known func(last journal.Hash) bool) iter.Seq2[Session, error] {
	return between(ctx, j, tenant, since, time.Time{}, known)
}

// Between returns the sessions of [Since] that were last written before a time. A zero time excludes
// none.
func Between(ctx context.Context, j journal.Journal, tenant string, since, before time.Time) iter.Seq2[Session, error] {
	return between(ctx, j, tenant, since, before, nil)
}

func between(ctx context.Context, j journal.Journal, tenant string, since, before time.Time, known func(last journal.Hash) bool) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		for h, err := range j.Recent(ctx, tenant) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Session{}, err)
				return
			}
			written := time.Unix(0, h.At)
			if written.Before(since) {
				return
			}
			if !before.IsZero() && !written.Before(before) {
				continue
			}
			if known != nil && known(h.Link.Hash) {
				s := Session{Session: tally.Session{Name: string(h.Session.ID)}, Written: written, Last: h.Link.Hash, Known: true}
				if !yield(s, nil) {
					return
				}
				continue
			}
			s, err := Read(ctx, j, h.Session)
			if ctx.Err() != nil {
				yield(Session{}, ctx.Err())
				return
			}
			s.Written, s.Last, s.Wrong = written, h.Link.Hash, err
			if !yield(s, nil) {
				return
			}
		}
	}
}

// Read returns one session. It returns [ErrTooLong] for one that is larger than the limits.
func Read(ctx context.Context, j journal.Journal, of journal.Session) (Session, error) {
	s := Session{Session: tally.Session{Name: string(of.ID)}}
	start, err := j.Begin(ctx, of)
	if err != nil {
		return s, err
	}
	after := uint64(0)
	if t := start.Tombstone; t != nil {
		mark := t.Mark
		s.Erased, after = &mark, t.Link.Seq
	}
	bytes := 0
	for e, err := range j.Read(ctx, of, after) {
		if err != nil {
			return Session{Session: tally.Session{Name: s.Name}}, err
		}
		var f floodmark.Fact
		if bytes += len(e.Body); bytes > MaxBytes || len(s.Facts) >= MaxFacts {
			err = ErrTooLong
		} else {
			f, err = e.Fact()
		}
		if err != nil {
			return Session{Session: tally.Session{Name: s.Name}}, err
		}
		if len(s.Facts) == 0 {
			s.First = e.Seq
		}
		s.Facts = append(s.Facts, replay.Recorded{At: e.Time().UTC(), Fact: f})
	}
	return s, nil
}
