package sqlitejournal

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"sync/atomic"

	"github.com/floodmark/floodmark"
)

const (
	// keyFilterBits is one megabyte. With 100,000 keys, the filter fails to rule out one in 100,000
	// absent keys; with a million keys, one in forty.
	keyFilterBits = 1 << 23
	keyFilterMost = 1 << 20
	keyFilterPage = 1 << 12 // keys read at once; no reader is occupied between two pages
	keysSQL       = "SELECT tenant, key FROM artifacts WHERE (tenant, key) > (?, ?) ORDER BY tenant, key LIMIT ?"
)

// A keyFilter is a Bloom filter of the keys that have artifacts. Nearly every call names a new
// file, and without the filter each would be looked up in the store. A goroutine fills it after the
// store was opened; until it has finished, lacks returns false for every key. The one writer adds
// each key before its commit, even while the filter is being filled, so that no acknowledged key is
// missing.
type keyFilter struct {
	bits  [keyFilterBits / 64]atomic.Uint64
	ready atomic.Bool
}

// add adds a key. Keys are HMACs, so their own bits serve as hashes.
func (f *keyFilter) add(key floodmark.Digest) {
	for i := range 4 {
		at := binary.BigEndian.Uint32(key[4*i:]) % keyFilterBits
		f.bits[at/64].Or(1 << (at % 64))
	}
}

// lacks reports whether a key is certainly absent.
func (f *keyFilter) lacks(key floodmark.Digest) bool {
	if !f.ready.Load() {
		return false
	}
	for i := range 4 {
		at := binary.BigEndian.Uint32(key[4*i:]) % keyFilterBits
		if f.bits[at/64].Load()&(1<<(at%64)) == 0 {
			return true
		}
	}
	return false
}

// fill adds the keys of the store. If the store cannot be read or has too many keys, the filter is
// never ready.
func (f *keyFilter) fill(ctx context.Context, from *readerPool) {
	tenant, last, n := "", floodmark.Digest{}, 0
	for whole := true; whole && n < keyFilterMost; {
		page := 0
		err := from.do(ctx, func(r *reader) error {
			s, err := r.c.prepare(keysSQL)
			if err != nil {
				return err
			}
			defer s.Close()
			return s.each(func(row []driver.Value) (bool, error) {
				tenant = text(row[0])
				copy(last[:], blob(row[1]))
				f.add(last)
				page++
				return true, nil
			}, values(tenant, last[:], int64(keyFilterPage))...)
		})
		if err != nil {
			return // each key is looked up in the store
		}
		n += page
		whole = page == keyFilterPage
		if !whole {
			f.ready.Store(true)
		}
	}
}
