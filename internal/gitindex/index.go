// Package gitindex reads git's list of files, `.git/index`.
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

// ErrForm says that a list is in a form which is not known here.
var ErrForm = errors.New("git's list of files is in a form that is not known here")

// An Entry is a file on the list. A folder that the list has as a whole ends with a slash.
// The last entry may be that of the trees which git would commit: it has no name.
type Entry struct {
	Name   string
	Mode   uint32
	Object []byte // its object; of the trees, all that is said of them
	Flags  []byte // how the entry stands in a merge, and what git is to skip
}

// The parts of a list: a head, then for each file its state on the disk, its mode, its object,
// a length with flags, and its name.
const (
	head   = 12
	fixed  = 62
	ending = 20 // a hash of all

	longest = 4096  // a name
	lengths = 0xfff // what the flags can say of the length of a name
)

// Entries are the files on a list, in the versions 2 to 4. The last one may be an error.
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
			if !ok || e.Name == "link" { // more names are in another file
				yield(e, ErrForm)
				return
			}
			if rest = after; e.Name == "TREE" && !yield(Entry{Object: e.Object}, nil) {
				return
			}
		}
	}
}

// Sum is a hash of what a list names and of the trees it would commit, whatever git noted
// about the files on the disk: a `git status` that refreshes the list leaves it as it was.
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
	name    string // of the entry before: version 4 repeats its beginning
	room    int    // how many letters of names there may still be
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
		return e, false // too much, or objects of another size
	}
	size := name + end - r.at
	if r.at, r.name = name+end+1, e.Name; r.version < 4 {
		r.at += 7 - size%8 // each is filled up to a multiple of eight, with one zero at least
	}
	return e, true
}

// number reads how many bytes a name does not share with the one before.
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

// part is what stands behind the files on a list: four letters, a length, and so many bytes.
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
