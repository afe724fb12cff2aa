package sqlitejournal

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"sync/atomic"

	"github.com/floodmark/floodmark"
)

const (
	// keyFilterBits is one megabyte: of 100,000 keys that are not there, one is taken
	// for one that may be, of a million a fortieth.
	keyFilterBits = 1 << 23
	keyFilterMost = 1 << 20
	keyFilterPage = 1 << 12 // keys read at once; between two pages nothing is held
	keysSQL       = "SELECT tenant, key FROM artifacts WHERE (tenant, key) > (?, ?) ORDER BY tenant, key LIMIT ?"
)

// A keyFilter knows most of the keys under which no session left anything, without
// asking the store: nearly every call names a file that is new to it. It is filled
// beside everything else when the store was opened, and says nothing until then.
// What is written meanwhile or later is added before it is committed, by the one
// writer there is, so that no key is missing that anybody was told of.
type keyFilter struct {
	bits  [keyFilterBits / 64]atomic.Uint64
	ready atomic.Bool
}

// add takes in a key. Keys are keyed hashes: their own bits are as good as any.
func (f *keyFilter) add(key floodmark.Digest) {
	for i := range 4 {
		at := binary.BigEndian.Uint32(key[4*i:]) % keyFilterBits
		f.bits[at/64].Or(1 << (at % 64))
	}
}

// lacks reports whether nothing lies under a key for certain.
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

// fill takes in what is in the store. If that cannot be read, or is too much, the
// filter stays as it is and says nothing.
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
			return // the store is asked for each key, as before
		}
		n += page
		whole = page == keyFilterPage
		if !whole {
			f.ready.Store(true)
		}
	}
}
