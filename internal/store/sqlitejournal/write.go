package sqlitejournal

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/floodmark/floodmark/journal"
)

// errThere means that exactly this record already exists.
var errThere = errors.New("already there")

// write puts one request into the open transaction. An invalid request sets its result; an error is
// about the store.
func (w *writer) write(r *request) error {
	r.result, r.wrote = nil, false
	if r.erase != nil {
		return w.eraseSession(r)
	}
	there := 0
	for _, rec := range r.batch.Records {
		switch err := w.follows(rec); {
		case errors.Is(err, errThere):
			there++
		case errors.Is(err, journal.ErrConflict):
			r.result = err
			return nil
		case err != nil:
			return err
		}
	}
	switch there {
	case 0:
	case len(r.batch.Records):
		return nil
	default:
		r.result = journal.ErrConflict
		return nil
	}
	r.wrote = true
	for _, rec := range r.batch.Records {
		if err := w.add(rec); err != nil {
			return err
		}
	}
	for _, c := range r.batch.Contents {
		if err := w.addContent.run(values(c.Tenant, c.Digest[:], c.Postings)...); err != nil {
			return err
		}
	}
	return w.artifacts(r.batch.Artifacts)
}

// follows reports whether rec may be added: nil, errThere, ErrConflict, or an error of the store.
func (w *writer) follows(rec journal.Record) error {
	h, err := w.headOf(rec.Session)
	if err != nil || h.link == rec.After {
		return err
	}
	last := rec.Last()
	if h.sid == 0 || last.Seq > h.link.Seq {
		return journal.ErrConflict
	}
	row, err := w.findFact.row(values(h.sid, int64(last.Seq))...)
	if err != nil {
		return err
	}
	if row != nil {
		if hash, err := hashOf(row[0]); err != nil {
			return err
		} else if hash == last.Hash {
			return errThere
		}
	}
	return journal.ErrConflict
}

// headOf returns a session's last entry; its number is 0 if there is none.
func (w *writer) headOf(s journal.Session) (head, error) {
	if h, ok := w.heads.get(s); ok {
		return h, nil
	}
	row, err := w.findSession.row(values(s.Tenant, string(s.ID))...)
	if err != nil || row == nil {
		return head{}, err
	}
	var h head
	h.sid, _ = row[0].(int64)
	row, err = w.findHead.row(values(h.sid)...)
	if err != nil {
		return head{}, err
	}
	if row == nil {
		return head{}, fmt.Errorf("%w: session %s is known, but has no entry", journal.ErrBroken, s)
	}
	seq, _ := row[0].(int64)
	h.link.Seq = uint64(seq)
	if h.link.Hash, err = hashOf(row[1]); err != nil {
		return head{}, err
	}
	w.heads.put(s, h)
	return h, nil
}

func hashOf(v driver.Value) (h journal.Hash, err error) {
	b, ok := v.([]byte)
	if !ok || copy(h[:], b) != len(h) || len(b) != len(h) {
		return h, fmt.Errorf("%w: a hash of %d bytes", journal.ErrBroken, len(b))
	}
	return h, nil
}

// add writes one session's entries, which follow its last one.
func (w *writer) add(rec journal.Record) error {
	h, err := w.headOf(rec.Session)
	if err != nil {
		return err
	}
	if h.sid == 0 {
		w.sid++
		h.sid = w.sid
		if err := w.addSession.run(values(h.sid, rec.Session.Tenant, string(rec.Session.ID))...); err != nil {
			return err
		}
	}
	for i := range rec.Entries {
		e := &rec.Entries[i]
		w.mark++
		if err := w.addFact.run(values(w.mark, h.sid, int64(e.Seq), e.At, e.Hash[:], e.Kind, e.Body)...); err != nil {
			return err
		}
	}
	h.link = rec.Last()
	if len(rec.Snapshot) > 0 {
		w.fault(InSnapshot)
		if err := w.addSnapshot.run(values(h.sid, int64(h.link.Seq), h.link.Hash[:], rec.Snapshot)...); err != nil {
			return err
		}
	}
	w.heads.put(rec.Session, h)
	return nil
}

// eraseSession writes a tombstone, and one row that keeps the session's place in the order of
// writing and the hash that its next entry follows.
func (w *writer) eraseSession(r *request) error {
	t := r.erase
	h, err := w.headOf(t.Session)
	if err != nil {
		return err
	}
	if h.sid == 0 || h.link != t.Link {
		r.result = journal.ErrConflict
		return nil
	}
	r.wrote = true
	w.mark++
	for _, s := range []struct {
		sql  string
		args []driver.Value
	}{
		{"DELETE FROM facts WHERE sid = ?", []driver.Value{h.sid}},
		{"DELETE FROM snapshots WHERE sid = ?", []driver.Value{h.sid}},
		{
			"INSERT INTO facts (mark, sid, seq, at, hash) VALUES (?,?,?,?,?)",
			[]driver.Value{w.mark, h.sid, int64(t.Link.Seq), t.At, t.Link.Hash[:]},
		},
		{
			"INSERT OR REPLACE INTO tombstones (sid, seq, hash, trust, secrecy, at, why, note) VALUES (?,?,?,?,?,?,?,?)",
			[]driver.Value{
				h.sid, int64(t.Link.Seq), t.Link.Hash[:], t.Mark.Trust.String(), t.Mark.Secrecy.String(),
				t.At, t.Why, t.Note,
			},
		},
	} {
		if err := w.c.exec(s.sql, s.args...); err != nil {
			return err
		}
	}
	return nil
}
