package postings

import (
	"encoding/binary"
	"io"
	"iter"
	"slices"
)

// A File stores one run of places outside of memory. Like an unlinked file, it disappears when
// nothing refers to it any more.
type File interface {
	io.Writer
	io.ReaderAt
}

// A frozen is a run in a file. Memory contains only the first place of each block, and a Bloom
// filter that excludes most of the hashes that are not in the run. So most look-ups read nothing
// from the file, and a look-up of a hash in the run reads about one block.
type frozen struct {
	file   File
	n      int
	begins []place
	filter []uint64
}

// The sizes of a frozen run. With eight bits for each distinct hash, the filter lets through one in
// forty of the hashes that are not in the run.
const (
	placeBytes  = 16
	blockPlaces = 256
	writePlaces = 16 * blockPlaces // places that are written or read in order at once
	filterBits  = 8
	filterTries = 4
)

// freeze writes n places, which must be in order, into a file.
func freeze(places iter.Seq2[place, error], n int, file File) (*frozen, error) {
	f := &frozen{file: file, n: n, begins: make([]place, 0, n/blockPlaces+1)}
	buf, at, hashes, last := make([]byte, 0, writePlaces*placeBytes), 0, 0, Hash(0)
	for p, err := range places {
		if err != nil {
			return nil, err
		}
		if at++; at%blockPlaces == 1 {
			f.begins = append(f.begins, p)
		}
		if at == 1 || p.hash != last {
			hashes, last = hashes+1, p.hash
		}
		buf = binary.BigEndian.AppendUint64(buf, uint64(p.hash))
		buf = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(buf, p.node), p.offset)
		if len(buf) == cap(buf) || at == n {
			if _, err := file.Write(buf); err != nil {
				return nil, err
			}
			buf = buf[:0]
		}
	}
	return f, f.sift(hashes)
}

// sift builds the filter for a number of distinct hashes. It reads the file again, because the
// number is known only after everything was written.
func (f *frozen) sift(hashes int) error {
	f.filter = make([]uint64, hashes*filterBits/64+1)
	for r := (reading{f: f}); r.at < f.n; {
		if err := r.read(); err != nil {
			return err
		}
		for i := range uint64(filterTries) {
			word, bit := f.bit(r.hash, i)
			f.filter[word] |= bit
		}
	}
	return nil
}

// inMemory returns the places of a run.
func inMemory(run []place) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		for _, p := range run {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// joined merges the places of files in order. It ends with an error if a file cannot be read.
func joined(files []*frozen) iter.Seq2[place, error] {
	return func(yield func(place, error) bool) {
		var open []*reading
		for _, f := range files {
			open = append(open, &reading{f: f})
		}
		for {
			var first *reading
			for _, r := range open {
				if !r.here && r.at < r.f.n {
					if err := r.read(); err != nil {
						yield(place{}, err)
						return
					}
				}
				if r.here && (first == nil || comparePlaces(r.place, first.place) < 0) {
					first = r
				}
			}
			if first == nil || !yield(first.place, nil) {
				return
			}
			first.here = false
		}
	}
}

// A reading reads the places of a file once, in order.
type reading struct {
	f     *frozen
	at    int // the index of the next place
	block []byte
	place
	here bool // place was read and not yet used
}

func (r *reading) read() error {
	from := r.at % writePlaces
	if from == 0 {
		r.block = slices.Grow(r.block[:0], writePlaces*placeBytes)[:placeBytes*min(writePlaces, r.f.n-r.at)]
		if _, err := r.f.file.ReadAt(r.block, int64(r.at)*placeBytes); err != nil {
			return err
		}
	}
	r.place, r.here = readPlace(r.block[from*placeBytes:]), true
	r.at++
	return nil
}

func readPlace(b []byte) place {
	return place{Hash(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])}
}

// bit returns the i-th filter bit of a hash. Hashes are uniform and keyed, so they need no more hashing.
func (f *frozen) bit(h Hash, i uint64) (word int, bit uint64) {
	at := (uint64(uint32(h)) + i*(uint64(h)>>32|1)) & (1<<32 - 1) * uint64(len(f.filter)*64) >> 32
	return int(at / 64), 1 << (at % 64)
}

// find appends at most so many places with the hash of from, beginning at the place from.
func (f *frozen) find(list []place, from place, most int) ([]place, error) {
	for i := range uint64(filterTries) {
		if word, bit := f.bit(from.hash, i); f.filter[word]&bit == 0 {
			return list, nil
		}
	}
	at, here := slices.BinarySearchFunc(f.begins, from, comparePlaces)
	if !here {
		at = max(at-1, 0)
	}
	var room [blockPlaces * placeBytes]byte
	for ; at < len(f.begins); at++ {
		block := room[:placeBytes*min(blockPlaces, f.n-at*blockPlaces)]
		if _, err := f.file.ReadAt(block, int64(at)*blockPlaces*placeBytes); err != nil {
			return nil, err
		}
		for b := range slices.Chunk(block, placeBytes) {
			p := readPlace(b)
			switch {
			case p.hash > from.hash || most == 0:
				return list, nil
			case comparePlaces(p, from) >= 0:
				list, most = append(list, p), most-1
			}
		}
	}
	return list, nil
}
