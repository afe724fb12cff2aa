package monitor

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/provenance"
)

// The index of a long session spills into unlinked files that no other process can open.
func TestIndexFilesHaveNoName(t *testing.T) {
	dir := t.TempDir()
	m := &Monitor{cfg: Config{SpillDir: dir, Limits: Limits{IndexPlaces: 1}.filled()}}
	ix := m.newIndex(&provenance.Ledger{})
	for n := range floodmark.NodeID(20) {
		ix.add(placed{node: n, postings: provenance.Postings{{Hash: 5, Offset: uint32(n)}, {Hash: 6}}})
		ix.catchUp()
	}
	if got := ix.places.Find(5, 3, 2); len(got) != 2 || got[0] != (floodmark.Span{Node: 3, Offset: 3}) || ix.places.Err() != nil {
		t.Errorf("%v, %v", got, ix.places.Err())
	}
	if whole := int64(40 * 16); ix.size() >= whole {
		t.Errorf("%d bytes in memory, %d are there", ix.size(), whole)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	for _, none := range []string{"", dir + "/none"} {
		m.cfg.SpillDir = none
		if _, err := m.spill(); err == nil {
			t.Errorf("a file in %q", none)
		}
	}
}

// A torn file cannot be read any more once it is broken.
type torn struct {
	bytes.Buffer
	broken bool
}

func (t *torn) ReadAt(into []byte, at int64) (int, error) {
	if t.broken {
		return 0, os.ErrInvalid
	}
	return bytes.NewReader(t.Bytes()).ReadAt(into, at)
}

// An unreadable index is an error, not an empty index.
func TestAnIndexThatCannotBeRead(t *testing.T) {
	file := &torn{}
	ix := &index{places: postings.NewSpilling(0, func() (postings.File, error) { return file, nil })}
	ix.places.Add(0, provenance.Postings{{Hash: 5}})
	file.broken = true
	f := &finder{ix: ix}
	if f.Find(5, 0, 1); !errors.Is(f.err, os.ErrInvalid) {
		t.Errorf("got %v", f.err)
	}
}
