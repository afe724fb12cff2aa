package machines

import (
	"context"
	"errors"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// GoneKind is the kind of the entry that replaces a copy which the fleet erased. Its body is a
// tombstone that a node signed. No fact has this kind.
const GoneKind = "gone"

// ErrMayNotErase says that the book's database role may not erase.
var ErrMayNotErase = errors.New("this database role may not erase (grant it the role whose name ends in _eraser)")

// An OldCopy is a copy to which nothing was added for a long time.
type OldCopy struct {
	Tenant  string
	Machine ID
	Session floodmark.SessionID
	Head    journal.Link
}

// Erasing erases copies. It is a part of [Book].
type Erasing interface {
	// Old returns at most limit copies of any tenant that have not grown since the given time and
	// are not erased, in no order.
	Old(ctx context.Context, since time.Time, limit int) ([]OldCopy, error)
	// Bury replaces a whole copy by a tombstone, which still says where the copy ended. It returns
	// false, and does nothing, if the copy does not end at the tombstone's entry.
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
