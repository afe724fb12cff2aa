package machines_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// FuzzUpload: for any upload nothing panics, and an accepted one checks.
func FuzzUpload(f *testing.F) {
	all := machinestest.Entries(f, "s", journal.Link{}, 2, "x")
	f.Add([]byte("s"), uint64(0), []byte{}, all[0].At, all[0].Kind, all[0].Body, all[0].Hash[:], []byte{})
	f.Add([]byte("s"), uint64(1), all[0].Hash[:], all[1].At, all[1].Kind, all[1].Body, all[1].Hash[:], []byte("floodmark tombstone\n"))
	secret, public, err := journal.NewKey(zeros{}, "laptop")
	if err != nil || secret == "" {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, session []byte, seq uint64, after []byte, at int64, kind string, body, hash, stone []byte) {
		r := &wire.UploadRequest{Session: session, After: &wire.MirrorHead{Seq: seq, Hash: after}, Entries: []*wire.MirrorEntry{{At: at, Kind: kind, Body: body, Hash: hash}}, Tombstone: stone}
		u, err := machines.ReadUpload(machines.Machine{JournalKey: public}, r)
		if err != nil {
			return
		}
		prev := u.After
		for _, e := range u.Entries {
			if err := journal.Check(journal.Session{ID: floodmark.SessionID(session)}, prev, e); err != nil {
				t.Fatal(err)
			}
			prev = e.Link()
		}
	})
}

// zeros is no randomness at all.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
