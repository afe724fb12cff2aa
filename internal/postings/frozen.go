package postings

import (
	"encoding/binary"
	"io"
	"slices"
)

// A File keeps one run of places outside of memory. It goes when nothing refers to it, as a
// file does that has no name.
type File interface {
	io.Writer
	io.ReaderAt
}

// A frozen is a run in a file. In memory stay the first place of each block, and a filter that
// knows most of the hashes that are not in it: looking something up that is there reads a block,
// and most look-ups read nothing.
type frozen struct {
	file   File
	n      int
	begins []place
	filter []uint64
}

// The sizes of what is frozen. A filter of eight bits for a place passes one in forty of the
// hashes that are not there.
const (
	placeBytes  = 16
	blockPlaces = 256
	filterBits  = 8
	filterTries = 4
)

// freeze writes a run into a file.
func freeze(run []place, file File) (*frozen, error) {
	f := &frozen{file: file, n: len(run), filter: make([]uint64, len(run)*filterBits/64+1)}
	buf := make([]byte, 0, blockPlaces*placeBytes)
	for block := range slices.Chunk(run, blockPlaces) {
		f.begins, buf = append(f.begins, block[0]), buf[:0]
		for _, p := range block {
			buf = binary.BigEndian.AppendUint64(buf, uint64(p.hash))
			buf = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(buf, p.node), p.offset)
			for i := range uint64(filterTries) {
				word, bit := f.bit(p.hash, i)
				f.filter[word] |= bit
			}
		}
		if _, err := file.Write(buf); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// bit is one of the bits that stand for a hash. Hashes are spread and keyed: their own bits do.
func (f *frozen) bit(h Hash, i uint64) (word int, bit uint64) {
	at := (uint64(uint32(h)) + i*(uint64(h)>>32|1)) & (1<<32 - 1) * uint64(len(f.filter)*64) >> 32
	return int(at / 64), 1 << (at % 64)
}

// find appends the places of a hash from one on, and no more than most.
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
			p := place{Hash(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])}
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
