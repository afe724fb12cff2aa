package sqlitejournal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// pageRows and pageBytes bound what is read at once. Between two pages nothing
// is held, so a slow reader keeps neither the log from being moved nor Close
// waiting.
const (
	pageRows  = 256
	pageBytes = 1 << 20
)

// Begin implements [journal.Journal].
func (j *Journal) Begin(ctx context.Context, s journal.Session) (journal.Start, error) {
	if err := j.enter(); err != nil {
		return journal.Start{}, err
	}
	defer j.active.Done()
	var (
		snapSeq, stoneSeq, stoneAt       sql.NullInt64
		snapHash, stoneHash, state, note []byte
		trust, secrecy, why              sql.NullString
	)
	err := j.reads.QueryRowContext(ctx, `
		SELECT n.seq, n.hash, n.state, t.seq, t.hash, t.trust, t.secrecy, t.at, t.why, t.note
		FROM sessions s LEFT JOIN snapshots n ON n.sid = s.id LEFT JOIN tombstones t ON t.sid = s.id
		WHERE s.tenant = ? AND s.session = ?`, s.Tenant, string(s.ID)).
		Scan(&snapSeq, &snapHash, &state, &stoneSeq, &stoneHash, &trust, &secrecy, &stoneAt, &why, &note)
	if errors.Is(err, sql.ErrNoRows) {
		return journal.Start{}, nil
	}
	if err != nil {
		return journal.Start{}, reading("begin session "+s.String(), err)
	}
	var start journal.Start
	if stoneSeq.Valid {
		t := &journal.Tombstone{Session: s, At: stoneAt.Int64, Why: why.String, Note: note}
		if t.Link, err = linkOf(stoneSeq.Int64, stoneHash); err != nil {
			return journal.Start{}, err
		}
		if t.Mark, err = labelOf(trust.String, secrecy.String); err != nil {
			return journal.Start{}, fmt.Errorf("%w: tombstone of session %s: %v", journal.ErrBroken, s, err)
		}
		start.Link, start.Tombstone = t.Link, t
	}
	if snapSeq.Valid {
		start.Snapshot = state
		if start.Link, err = linkOf(snapSeq.Int64, snapHash); err != nil {
			return journal.Start{}, err
		}
	}
	return start, nil
}

func linkOf(seq int64, hash []byte) (l journal.Link, err error) {
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

// A cursor is how far a session was read.
type cursor struct {
	session journal.Session
	after   uint64 // the row to go on behind; it is read again for its hash
	begun   bool   // whether entries were given out already
	end     bool
}

// page reads the next entries. Those it returns beside an error are good.
func (j *Journal) page(ctx context.Context, at *cursor) (entries []journal.Entry, err error) {
	if err := j.enter(); err != nil {
		return nil, err
	}
	defer j.active.Done()
	what := "read session " + at.session.String()
	rows, err := j.reads.QueryContext(ctx, `
		SELECT seq, at, hash, kind, body FROM facts
		WHERE sid = (SELECT id FROM sessions WHERE tenant = ? AND session = ?) AND seq >= ?
		ORDER BY seq LIMIT ?`, at.session.Tenant, string(at.session.ID), int64(at.after), pageRows)
	if err != nil {
		return nil, reading(what, err)
	}
	defer rows.Close()
	var prev journal.Link
	count, size := 0, 0
	for ; size < pageBytes && rows.Next(); count++ {
		var r row
		if err := rows.Scan(&r.seq, &r.at, &r.hash, &r.kind, &r.body); err != nil {
			return entries, reading(what, err)
		}
		link, err := linkOf(r.seq, r.hash)
		if err != nil {
			return entries, reading(what, err)
		}
		switch ok, err := at.place(count == 0, prev, link, r.kind.Valid); {
		case err != nil:
			return entries, err
		case ok:
			e := journal.Entry{Seq: link.Seq, At: r.at, Prev: prev.Hash, Hash: link.Hash, Kind: r.kind.String, Body: r.body}
			if e.Seq == 1 {
				e.Prev = journal.Genesis(at.session)
			}
			entries = append(entries, e)
			size += len(e.Body)
		}
		prev = link
	}
	if err := rows.Err(); err != nil {
		return entries, reading(what, err)
	}
	if count == 0 && at.begun {
		return entries, at.gap(at.after)
	}
	at.end = count < pageRows && size < pageBytes
	at.after, at.begun = prev.Seq, at.begun || len(entries) > 0
	return entries, nil
}

type row struct {
	seq, at    int64
	hash, body []byte
	kind       sql.NullString
}

// place reports whether a row is the next entry, or only the place after which
// the next one comes. A row that fits nowhere is an error: a session is never
// silently shorter.
func (at *cursor) place(first bool, prev, link journal.Link, entry bool) (bool, error) {
	switch {
	case first && at.after > 0 && link.Seq == at.after:
		return false, nil
	case first && !entry && !at.begun:
		return false, nil // reading began in what was erased
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
	if err := j.enter(); err != nil {
		return nil, err
	}
	defer j.active.Done()
	found := map[floodmark.Digest][]byte{}
	for _, d := range contents {
		var postings []byte
		err := j.reads.QueryRowContext(ctx, "SELECT postings FROM contents WHERE tenant = ? AND digest = ?", tenant, d[:]).Scan(&postings)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, reading("read the index of contents", err)
		}
		found[d] = postings
	}
	return found, nil
}
