package machines

import (
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// ReadUpload reads an upload of a machine and checks it. The link to the entry before is not sent
// with each entry; ReadUpload fills it in.
func ReadUpload(one Machine, r *wire.UploadRequest) (Upload, error) {
	keys, err := KeyOf(one.JournalKey)
	if err != nil {
		return Upload{}, err
	}
	u := Upload{Session: floodmark.SessionID(r.GetSession())}
	if u.After, err = linkFrom(r.GetAfter()); err != nil {
		return Upload{}, err
	}
	if len(r.GetTombstone()) > 0 {
		stone, err := journal.OpenTombstone(keys, r.GetTombstone())
		if err != nil {
			return Upload{}, fmt.Errorf("%w: the tombstone is not signed by this machine", ErrBad)
		}
		u.Stone = &stone
	}
	prev := u.After
	if prev.Seq == 0 {
		prev.Hash = journal.Genesis(journal.Session{ID: u.Session})
	}
	for _, e := range r.GetEntries() {
		next := journal.Entry{Seq: prev.Seq + 1, At: e.GetAt(), Prev: prev.Hash, Kind: e.GetKind(), Body: e.GetBody()}
		if copy(next.Hash[:], e.GetHash()) != len(next.Hash) || len(e.GetHash()) != len(next.Hash) {
			return Upload{}, fmt.Errorf("%w: entry %d has no hash", ErrBad, next.Seq)
		}
		u.Entries, prev = append(u.Entries, next), next.Link()
	}
	return u, u.Check(keys)
}

func linkFrom(h *wire.MirrorHead) (l journal.Link, err error) {
	l.Seq = h.GetSeq()
	switch {
	case l.Seq == 0 && len(h.GetHash()) == 0:
	case l.Seq > 0 && len(h.GetHash()) == len(l.Hash):
		copy(l.Hash[:], h.GetHash())
	default:
		err = fmt.Errorf("%w: it does not say what it follows", ErrBad)
	}
	return l, err
}
