package postings

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

// A sheet is a file in memory.
type sheet struct {
	bytes.Buffer
	broken, full bool
}

var errTorn = errors.New("torn")

func (s *sheet) Write(p []byte) (int, error) {
	if s.full {
		return 0, io.ErrShortWrite
	}
	return s.Buffer.Write(p)
}

func (s *sheet) ReadAt(p []byte, at int64) (int, error) {
	if s.broken {
		return 0, errTorn
	}
	return bytes.NewReader(s.Bytes()).ReadAt(p, at)
}

// A search finds the same whether runs are in files or in memory.
func TestLawFilesFindWhatMemoryFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for round := range 30 {
		files := 0
		draw := func() Hash { return Hash(rng.Uint64()) }
		if round%2 == 0 {
			few := []Hash{0, 1, draw(), draw(), draw(), ^Hash(0)}
			draw = func() Hash { return few[rng.IntN(len(few))] }
		}
		most := 1 + rng.IntN(700)
		all, some := NewMemory(), NewSpilling(most, func() (File, error) {
			files++
			return &sheet{}, nil
		})
		asked := []Hash{0, 7, ^Hash(0)}
		for n := range floodmark.NodeID(60) {
			var p Postings
			for range rng.IntN(80) {
				p = append(p, Posting{Hash: draw(), Offset: uint32(rng.IntN(5000))})
			}
			slices.SortFunc(p, Compare)
			p = slices.Compact(p)
			all.Add(n, p)
			some.Add(n, p)
			if len(p) > 0 {
				asked = append(asked, p[rng.IntN(len(p))].Hash, draw())
			}
			for range 10 {
				h, from, most := asked[rng.IntN(len(asked))], floodmark.NodeID(rng.IntN(62)), rng.IntN(90)
				if got, want := some.Find(h, from, most), all.Find(h, from, most); !slices.Equal(got, want) {
					t.Fatalf("round %d: %x, %d from %d on: %v, want %v", round, h, most, from, got, want)
				}
			}
		}
		if files == 0 || some.Err() != nil {
			t.Errorf("round %d: %d files, %v", round, files, some.Err())
		}
		if held := len(some.old); most >= 80 && files >= 2*joinedFiles && held > files/2 {
			t.Errorf("round %d: %d of %d files are still asked", round, held, files)
		}
	}
}

func filled(most, n int, open func() (File, error)) *Memory {
	ix := NewSpilling(most, open)
	for i := range n {
		ix.Add(floodmark.NodeID(i), Postings{{Hash: Hash(i) << 50}})
	}
	return ix
}

// A file that cannot be read is an error and not an empty result.
func TestAFileThatCannotBeRead(t *testing.T) {
	s := &sheet{}
	ix := filled(3, 5, func() (File, error) { return s, nil })
	if got := ix.Find(1<<50, 0, 9); len(got) != 1 || ix.Err() != nil {
		t.Fatalf("%v, %v", got, ix.Err())
	}
	s.broken = true
	if ix.Find(1<<50, 0, 9); !errors.Is(ix.Err(), errTorn) {
		t.Errorf("got %v", ix.Err())
	}
}

// If files cannot be written, everything stays in memory.
func TestFilesThatCannotBeWritten(t *testing.T) {
	for _, open := range []func() (File, error){
		func() (File, error) { return nil, errTorn },
		func() (File, error) { return &sheet{full: true}, nil },
	} {
		ix := filled(3, 100, open)
		if got := ix.Find(1<<50, 0, 9); len(got) != 1 || ix.Err() != nil || len(ix.old) != 0 {
			t.Errorf("%v, %v", got, ix.Err())
		}
	}
}

// If files cannot be joined, because a file cannot be read or written, they stay as they are.
func TestFilesThatCannotBeJoined(t *testing.T) {
	for name, spoil := range map[string]func(made []*sheet, next *sheet){
		"read":  func(made []*sheet, _ *sheet) { made[0].broken = true },
		"write": func(_ []*sheet, next *sheet) { next.full = true },
	} {
		var made []*sheet
		ix := NewSpilling(1, func() (File, error) {
			next := &sheet{}
			if len(made) == joinedFiles {
				spoil(made, next)
			}
			made = append(made, next)
			return next, nil
		})
		for i := range 2 * joinedFiles {
			ix.Add(floodmark.NodeID(i), Postings{{Hash: Hash(i) << 50}})
		}
		if len(made) != joinedFiles+1 || len(ix.old) != joinedFiles {
			t.Fatalf("%s: %d files of %d", name, len(ix.old), len(made))
		}
		made[0].broken = false
		for i := range 2 * joinedFiles {
			if got := ix.Find(Hash(i)<<50, 0, 9); len(got) != 1 || ix.Err() != nil {
				t.Errorf("%s: %d: %v, %v", name, i, got, ix.Err())
			}
		}
	}
}

// At most a tenth of a run in a file stays in memory.
func TestFilesSpareMemory(t *testing.T) {
	rng, all := rand.New(rand.NewPCG(1, 6)), NewMemory()
	some := NewSpilling(1000, func() (File, error) { return &sheet{}, nil })
	for n := range floodmark.NodeID(500) {
		var p Postings
		for range 200 {
			p = append(p, Posting{Hash: Hash(rng.Uint64())})
		}
		slices.SortFunc(p, Compare)
		all.Add(n, p)
		some.Add(n, p)
	}
	if got, whole := some.Bytes(), all.Bytes(); got > whole/8 {
		t.Errorf("%d of %d bytes", got, whole)
	}
	misses := 0
	for range 10_000 {
		for _, f := range some.old {
			if found, _ := f.find(nil, place{hash: Hash(rng.Uint64())}, 1); len(found) > 0 {
				t.Fatal("something was found that is not there")
			}
		}
		h := Hash(rng.Uint64())
		for i := range uint64(filterTries) {
			if word, bit := some.old[0].bit(h, i); some.old[0].filter[word]&bit == 0 {
				misses++
				break
			}
		}
	}
	if misses < 9500 {
		t.Errorf("the filter knows %d of 10,000 hashes that are not there", misses)
	}
}
