// Package gitindex reads git's index, the list of files in `.git/index`.
package gitindex

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// ErrForm says that an index has a form that is not known here.
var ErrForm = errors.New("git's list of files is in a form that is not known here")

// An Entry is a file in the index. The name of a folder that is listed as a whole ends with a
// slash. The last entry may have no name; it is then the cache of the trees that git would commit.
type Entry struct {
	Name   string
	Mode   uint32
	Object []byte // the id of the file's object, or the whole cache of trees
	Flags  []byte // the merge stage of the entry, and whether git skips it
}

// The sizes in an index. It consists of a head and, for each file, its state on the disk, its mode,
// its object, flags with a length, and its name.
const (
	head   = 12
	fixed  = 62 // of an entry before its name
	ending = 20 // a hash of the whole index

	longest = 4096  // the longest name
	lengths = 0xfff // the bits of the flags for the length of the name
)

// Entries yields the files of an index in the versions 2 to 4. The last element may be an error.
func Entries(data []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if len(data) < head || string(data[:4]) != "DIRC" {
			yield(Entry{}, ErrForm)
			return
		}
		r := &reader{data: data, at: head, version: binary.BigEndian.Uint32(data[4:]), room: 4 * len(data)}
		for range binary.BigEndian.Uint32(data[8:]) {
			e, ok := r.next()
			if !ok {
				yield(e, ErrForm)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		for rest := data[min(r.at, len(data)):]; len(rest) > ending; {
			e, after, ok := part(rest)
			if !ok || e.Name == "link" { // a split index, with more names in another file
				yield(e, ErrForm)
				return
			}
			if rest = after; e.Name == "TREE" && !yield(Entry{Object: e.Object}, nil) {
				return
			}
		}
	}
}

// Sum returns a hash of the files in an index and of the trees that git would commit. It ignores
// what git recorded about the files on the disk, so a `git status` that refreshes the index does
// not change it.
func Sum(from io.Reader) (string, error) {
	const most = 256 << 20
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return "", err
	}
	if len(data) > most {
		return "", ErrForm
	}
	h := sha256.New()
	for e, err := range Entries(data) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %o %x %x\n", e.Name, e.Mode, e.Object, e.Flags)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

type reader struct {
	data    []byte
	at      int
	version uint32
	name    string // the name of the previous entry, because version 4 shares its beginning
	room    int    // how many more bytes of names are allowed
}

func (r *reader) next() (e Entry, ok bool) {
	if r.version < 2 || r.version > 4 || len(r.data) < r.at+fixed {
		return e, false
	}
	raw := r.data[r.at:]
	e.Mode, e.Object = binary.BigEndian.Uint32(raw[24:]), raw[40:60]
	e.Flags = []byte{raw[60] & 0xf0} // the rest is the length of the name
	name := r.at + fixed
	if r.version > 2 && raw[60]&0x40 != 0 {
		if len(raw) < fixed+2 {
			return e, false
		}
		e.Flags = slices.Concat(e.Flags, raw[fixed:fixed+2])
		name += 2
	}
	begin := ""
	if r.version == 4 {
		drop, n, ok := number(r.data[min(name, len(r.data)):])
		if !ok || drop > len(r.name) {
			return e, false
		}
		name, begin = name+n, r.name[:len(r.name)-drop]
	}
	end := bytes.IndexByte(r.data[min(name, len(r.data)):], 0)
	if end < 0 {
		return e, false
	}
	e.Name = begin + string(r.data[name:name+end])
	if r.room -= len(e.Name); r.room < 0 || len(e.Name) > longest || int(binary.BigEndian.Uint16(raw[60:]))&lengths != min(len(e.Name), lengths) {
		return e, false // too large, or an index with objects of another size
	}
	size := name + end - r.at
	if r.at, r.name = name+end+1, e.Name; r.version < 4 {
		r.at += 7 - size%8 // entries are padded to a multiple of eight, with at least one zero
	}
	return e, true
}

// number reads how many bytes at the end of the previous name the next name does not share.
func number(b []byte) (n, used int, ok bool) {
	for i, c := range b {
		n = n<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return n, i + 1, true
		}
		if n++; n > longest {
			break
		}
	}
	return 0, 0, false
}

// part reads an extension after the files of an index: four letters, a length, and so many bytes.
func part(data []byte) (e Entry, rest []byte, ok bool) {
	if len(data) < 8+ending {
		return e, nil, false
	}
	size := int64(binary.BigEndian.Uint32(data[4:]))
	if size > int64(len(data)-8-ending) {
		return e, nil, false
	}
	return Entry{Name: string(data[:4]), Object: data[8 : 8+size]}, data[8+size:], true
}
