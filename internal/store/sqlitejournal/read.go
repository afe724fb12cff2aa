package sqlitejournal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"math"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// pageRows and pageBytes bound one read. Nothing is held between two pages, so a slow reader delays
// neither checkpoints nor Close.
const (
	pageRows  = 256
	pageBytes = 1 << 20
)

// Begin implements [journal.Journal].
func (j *Journal) Begin(ctx context.Context, s journal.Session) (journal.Start, error) {
	var start journal.Start
	err := j.read(ctx, func(r *reader) error {
		is, writes := j.missing.has(s)
		if is {
			return nil
		}
		row, err := r.begin.row(values(s.Tenant, string(s.ID))...)
		if err == nil && row != nil {
			start, err = startOf(s, row)
		} else if err == nil {
			j.missing.learn(s, writes)
		}
		return err
	})
	if err != nil {
		return journal.Start{}, reading("begin session "+s.String(), err)
	}
	return start, nil
}

// startOf reads a session's Start from a row: its snapshot's number, hash and state, then its
// tombstone.
func startOf(s journal.Session, row []driver.Value) (start journal.Start, err error) {
	if row[3] != nil {
		t := &journal.Tombstone{Session: s, At: integer(row[7]), Why: text(row[8]), Note: blob(row[9])}
		if t.Link, err = linkOf(integer(row[3]), row[4]); err != nil {
			return journal.Start{}, err
		}
		if t.Mark, err = labelOf(text(row[5]), text(row[6])); err != nil {
			return journal.Start{}, fmt.Errorf("%w: tombstone of session %s: %v", journal.ErrBroken, s, err)
		}
		start.Link, start.Tombstone = t.Link, t
	}
	if row[0] != nil {
		start.Snapshot = blob(row[2])
		if start.Link, err = linkOf(integer(row[0]), row[1]); err != nil {
			return journal.Start{}, err
		}
	}
	return start, nil
}

func linkOf(seq int64, hash driver.Value) (l journal.Link, err error) {
	l.Seq = uint64(seq)
	l.Hash, err = hashOf(hash)
	return l, err
}

func labelOf(trust, secrecy string) (l floodmark.Label, err error) {
	if l.Trust, err = floodmark.ParseTrust(trust); err != nil {
		return floodmark.Label{}, err
	}
	if l.Secrecy, err = floodmark.ParseSecrecy(secrecy); err != nil {
		return floodmark.Label{}, err
	}
	return l, nil
}

// Read implements [journal.Journal].
func (j *Journal) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if after > math.MaxInt64 {
			return
		}
		at := cursor{session: s, after: after}
		for {
			entries, err := j.page(ctx, &at)
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Entry{}, err)
				return
			}
			if at.end {
				return
			}
		}
	}
}

// A cursor is the position of a read in a session.
type cursor struct {
	session journal.Session
	after   uint64 // the row to continue after; it is read again for its hash
	begun   bool   // whether entries were yielded already
	end     bool
}

// page reads the next entries. Entries returned beside an error are valid.
func (j *Journal) page(ctx context.Context, at *cursor) (entries []journal.Entry, err error) {
	var prev journal.Link
	var wrong error // an error in the rows, whose text names the session already
	count, size := 0, 0
	err = j.read(ctx, func(r *reader) error {
		if is, _ := j.missing.has(at.session); is {
			return nil
		}
		return r.page.each(func(row []driver.Value) (bool, error) {
			var e journal.Entry
			var whole bool
			if e, whole, wrong = at.entry(count == 0, prev, row); wrong != nil {
				return false, wrong
			}
			if whole {
				entries = append(entries, e)
				size += len(e.Body)
			}
			prev = e.Link()
			count++
			return size < pageBytes, nil
		}, values(at.session.Tenant, string(at.session.ID), int64(at.after))...)
	})
	switch {
	case wrong != nil:
		return entries, wrong
	case err != nil:
		return entries, reading("read session "+at.session.String(), err)
	case count == 0 && at.begun:
		return entries, at.gap(at.after)
	}
	at.end = count < pageRows && size < pageBytes
	at.after, at.begun = prev.Seq, at.begun || len(entries) > 0
	return entries, nil
}

// entry makes the entry of a row: number, time, hash, kind and body. If whole is false, the row is
// not an entry to yield: it only marks the place after which the next entry comes.
func (at *cursor) entry(first bool, prev journal.Link, row []driver.Value) (e journal.Entry, whole bool, err error) {
	link, err := linkOf(integer(row[0]), row[2])
	if err != nil {
		return e, false, reading("read session "+at.session.String(), err)
	}
	e = journal.Entry{Seq: link.Seq, At: integer(row[1]), Prev: prev.Hash, Hash: link.Hash}
	if whole, err = at.place(first, prev, link, row[3] != nil); !whole {
		return e, false, err
	}
	e.Kind, e.Body = text(row[3]), blob(row[4])
	if e.Seq == 1 {
		e.Prev = journal.Genesis(at.session)
	}
	return e, true, nil
}

// place reports whether a row is the next entry, or only marks the place before it. A row that fits
// nowhere is an error: a session is never silently shorter.
func (at *cursor) place(first bool, prev, link journal.Link, entry bool) (bool, error) {
	switch {
	case first && at.after > 0 && link.Seq == at.after:
		return false, nil
	case first && !entry && !at.begun:
		return false, nil // the read began within erased entries
	case !entry:
		return false, fmt.Errorf("%w: session %s was erased while it was read", journal.ErrConflict, at.session)
	case first && (at.after > 0 || link.Seq != 1), !first && link.Seq != prev.Seq+1:
		return false, at.gap(max(prev.Seq+1, at.after))
	}
	return true, nil
}

func (at *cursor) gap(seq uint64) error {
	return fmt.Errorf("%w: session %s, entry %d is missing", journal.ErrBroken, at.session, seq)
}

// Postings implements [journal.Journal].
func (j *Journal) Postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error) {
	found := map[floodmark.Digest][]byte{}
	err := j.read(ctx, func(r *reader) error {
		for _, d := range contents {
			row, err := r.posting.row(values(tenant, d[:])...)
			if err != nil {
				return err
			}
			if row != nil {
				found[d] = blob(row[0])
			}
		}
		return nil
	})
	if err != nil {
		return nil, reading("read the index of contents", err)
	}
	return found, nil
}
