package machines

import (
	"context"
	"errors"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// GoneKind is the kind of the entry that stands where the fleet erased a copy: its
// body is a tombstone that a node signed. No fact has it.
const GoneKind = "gone"

// ErrMayNotErase says that the book's database role may not erase.
var ErrMayNotErase = errors.New("this database role may not erase (grant it the role whose name ends in _eraser)")

// An OldCopy is one that nothing was added to for long.
type OldCopy struct {
	Tenant  string
	Machine ID
	Session floodmark.SessionID
	Head    journal.Link
}

// Erasing erases copies. It is a part of [Book].
type Erasing interface {
	// Old returns copies of any tenant that have grown by nothing since then and are
	// not erased, in no order, at most limit.
	Old(ctx context.Context, since time.Time, limit int) ([]OldCopy, error)
	// Bury puts a tombstone in the place of a whole copy, whose end stays known. It returns false,
	// and does nothing, if the copy does not end where the tombstone stands.
	Bury(ctx context.Context, tenant string, id ID, s floodmark.SessionID, t journal.Tombstone) (bool, error)
}

// Old implements [Erasing].
func (b *Memory) Old(_ context.Context, since time.Time, limit int) (list []OldCopy, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, at := range b.moved {
		entries := b.copy[k]
		if last := entries[len(entries)-1]; at.Before(since) && last.Kind != GoneKind && len(list) < limit {
			list = append(list, OldCopy{Tenant: b.all[k.id].Tenant, Machine: k.id, Session: k.session, Head: last.Link()})
		}
	}
	return list, nil
}

// Bury implements [Erasing].
func (b *Memory) Bury(_ context.Context, tenant string, id ID, s floodmark.SessionID, t journal.Tombstone) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.of(tenant, id); err != nil {
		return false, err
	}
	k := copyKey{id, s}
	if len(b.copy[k]) == 0 || b.head(k) != t.Link {
		return false, nil
	}
	b.copy[k] = []journal.Entry{{Seq: t.Link.Seq, At: t.At, Hash: t.Link.Hash, Kind: GoneKind, Body: t.Note}}
	return true, nil
}
