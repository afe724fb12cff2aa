package workspace

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/floodmark/floodmark/internal/project/checkout"
)

// The limits of reading git's objects.
const (
	maxCommit = 1 << 20   // bytes of an object
	maxIndex  = 256 << 20 // bytes of a pack's index
	maxPacks  = 64
	maxDeltas = 50 // steps from a delta to its base
)

var errObject = errors.New("not an object we can read")

// A commit holds the fields of a commit that are used here.
type commit struct {
	parents           []string
	author, committer string // their mail addresses
}

// objects reads the objects of one repository.
type objects struct {
	dir    string
	packs  []*pack
	opened bool
}

// A pack is a file of many objects, with its index.
type pack struct {
	file  *os.File
	index []byte
}

func newObjects(common string) *objects { return &objects{dir: filepath.Join(common, "objects")} }

func (o *objects) close() {
	for _, p := range o.packs {
		_ = p.file.Close()
	}
}

// commit reads a commit. It returns false if that is impossible.
func (o *objects) commit(id string) (commit, bool) {
	body, ok := o.exactly(id, commitObject)
	if !ok {
		return commit{}, false
	}
	return parseCommit(body)
}

// read reads an object of one kind. It returns false if that is impossible.
func (o *objects) read(id string, kind int) ([]byte, bool) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != 20 {
		return nil, false
	}
	if f, err := os.Open(filepath.Join(o.dir, id[:2], id[2:])); err == nil {
		defer func() { _ = f.Close() }()
		data, err := inflate(f, maxCommit)
		body, ok := loose(data, kind)
		return body, err == nil && ok
	}
	o.open()
	for _, p := range o.packs {
		if at, ok := find(p.index, raw); ok {
			is, body, err := p.object(at, maxDeltas)
			return body, err == nil && is == kind
		}
	}
	return nil, false
}

// beginning returns the objects whose ids have this prefix.
func (o *objects) beginning(short string) (ids []string) {
	names, _ := os.ReadDir(filepath.Join(o.dir, short[:2]))
	for _, e := range names {
		if id := short[:2] + e.Name(); strings.HasPrefix(id, short) && checkout.IsID(id) {
			ids = append(ids, id)
		}
	}
	o.open()
	first, err := hex.DecodeString((short + strings.Repeat("0", 40))[:40])
	if err != nil {
		return ids
	}
	for _, p := range o.packs {
		if len(p.index) < indexCounts {
			continue
		}
		total := int(binary.BigEndian.Uint32(p.index[indexCounts-4:]))
		if total < 0 || len(p.index) < indexCounts+total*28 {
			continue
		}
		at := func(i int) []byte { return p.index[indexCounts+20*i : indexCounts+20*i+20] }
		for i := sort.Search(total, func(i int) bool { return bytes.Compare(at(i), first) >= 0 }); i < total; i++ {
			id := hex.EncodeToString(at(i))
			if !strings.HasPrefix(id, short) {
				break
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// exactly reads an object and verifies its content against its id.
func (o *objects) exactly(id string, kind int) ([]byte, bool) {
	body, ok := o.read(id, kind)
	if !ok {
		return nil, false
	}
	sum := sha1.New()
	_, _ = fmt.Fprintf(sum, "%s %d\x00", kindName(kind), len(body))
	_, _ = sum.Write(body)
	return body, hex.EncodeToString(sum.Sum(nil)) == id
}

func kindName(kind int) string {
	switch kind {
	case commitObject:
		return "commit"
	case treeObject:
		return "tree"
	case tagObject:
		return "tag"
	}
	return "blob"
}

// open opens the packs, once.
func (o *objects) open() {
	if o.opened {
		return
	}
	o.opened = true
	names, _ := filepath.Glob(filepath.Join(o.dir, "pack", "*.idx"))
	for _, name := range names[:min(len(names), maxPacks)] {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
			continue
		}
		index, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		if f, err := os.Open(strings.TrimSuffix(name, ".idx") + ".pack"); err == nil {
			o.packs = append(o.packs, &pack{file: f, index: index})
		}
	}
}

// inflate decompresses at most limit bytes.
func inflate(r io.Reader, limit int) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = errObject
	}
	return data, err
}

// loose removes the header of an object that has a file of its own, and checks its kind.
func loose(data []byte, kind int) ([]byte, bool) {
	head, body, ok := bytes.Cut(data, []byte{0})
	return body, ok && bytes.HasPrefix(head, []byte(kindName(kind)+" "))
}

// parseCommit parses the header of a commit.
func parseCommit(body []byte) (c commit, ok bool) {
	head, _, _ := strings.Cut(string(body), "\n\n")
	for line := range strings.Lines(head) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "parent":
			if !checkout.IsID(rest) {
				return commit{}, false
			}
			c.parents = append(c.parents, rest)
		case "author":
			c.author = mailOf(rest)
		case "committer":
			c.committer = mailOf(rest)
		}
	}
	return c, c.author != "" && c.committer != ""
}

func mailOf(person string) string {
	_, rest, ok := strings.Cut(person, "<")
	mail, _, closed := strings.Cut(rest, ">")
	if !ok || !closed {
		return ""
	}
	return mail
}

// The form of an index of version 2: a header of 8 bytes, 256 counts, the sorted ids, their
// checksums, their offsets, and at the end the offsets that need 8 bytes.
const (
	indexHead   = 8
	indexCounts = indexHead + 256*4
)

// find returns the offset of an object in the pack of an index.
func find(index, id []byte) (int64, bool) {
	if len(index) < indexCounts || !bytes.Equal(index[:indexHead], []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}) || len(id) != 20 {
		return 0, false
	}
	count := func(b int) int { return int(binary.BigEndian.Uint32(index[indexHead+4*b:])) }
	total, from := count(255), 0
	if id[0] > 0 {
		from = count(int(id[0]) - 1)
	}
	to := count(int(id[0]))
	if total < 0 || from > to || to > total || len(index) < indexCounts+total*28 {
		return 0, false
	}
	at := func(i int) []byte { return index[indexCounts+20*i : indexCounts+20*i+20] }
	i := from + sort.Search(to-from, func(i int) bool { return bytes.Compare(at(from+i), id) >= 0 })
	if i >= to || !bytes.Equal(at(i), id) {
		return 0, false
	}
	place := binary.BigEndian.Uint32(index[indexCounts+24*total+4*i:])
	if place&(1<<31) == 0 {
		return int64(place), true
	}
	large := indexCounts + 28*total + 8*int(place&^(1<<31))
	if large+8 > len(index) {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(index[large:]) &^ (1 << 63)), true
}

// The kinds of objects in a pack.
const (
	commitObject   = 1
	treeObject     = 2
	blobObject     = 3
	tagObject      = 4
	offsetDelta    = 6
	referenceDelta = 7
)

// object reads the object at an offset, resolving deltas.
func (p *pack) object(at int64, steps int) (kind int, body []byte, err error) {
	if steps == 0 || at < 0 {
		return 0, nil, errObject
	}
	head := make([]byte, 64)
	n, err := p.file.ReadAt(head, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, nil, err
	}
	kind, used, ok := objectHead(head[:n])
	if !ok {
		return 0, nil, errObject
	}
	base := int64(-1)
	switch kind {
	case commitObject, treeObject, blobObject, tagObject:
	case offsetDelta:
		back, more, ok := backOffset(head[used:n])
		if !ok || back > at {
			return 0, nil, errObject
		}
		used, base = used+more, at-back
	case referenceDelta:
		if n < used+20 {
			return 0, nil, errObject
		}
		if base, ok = find(p.index, head[used:used+20]); !ok {
			return 0, nil, errObject
		}
		used += 20
	default:
		return 0, nil, errObject
	}
	body, err = inflate(io.NewSectionReader(p.file, at+int64(used), 1<<40), maxCommit)
	if err != nil || base < 0 {
		return kind, body, err
	}
	kind, from, err := p.object(base, steps-1)
	if err != nil {
		return 0, nil, err
	}
	body, err = applyDelta(from, body)
	return kind, body, err
}

// objectHead reads an object's kind, and the length of its header.
func objectHead(b []byte) (kind, used int, ok bool) {
	for i, c := range b {
		if i == 0 {
			kind = int(c>>4) & 7
		}
		if c&0x80 == 0 {
			return kind, i + 1, i < 10
		}
	}
	return 0, 0, false
}

// backOffset reads the distance back to a delta's base.
func backOffset(b []byte) (back int64, used int, ok bool) {
	for i, c := range b {
		if i > 8 {
			break
		}
		if i > 0 {
			back++
		}
		back = back<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return back, i + 1, back > 0
		}
	}
	return 0, 0, false
}

// applyDelta makes an object from its base and a delta.
func applyDelta(base, delta []byte) ([]byte, error) {
	size, n := binary.Uvarint(delta)
	if n <= 0 || size != uint64(len(base)) {
		return nil, errObject
	}
	delta = delta[n:]
	size, n = binary.Uvarint(delta)
	if n <= 0 || size > maxCommit {
		return nil, errObject
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, errObject
			}
			out, delta = append(out, delta[:op]...), delta[op:]
		} else {
			var from, length uint32
			for bit := range 7 {
				if op&(1<<bit) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errObject
				}
				if bit < 4 {
					from |= uint32(delta[0]) << (8 * bit)
				} else {
					length |= uint32(delta[0]) << (8 * (bit - 4))
				}
				delta = delta[1:]
			}
			if length == 0 {
				length = 0x10000
			}
			if uint64(from)+uint64(length) > uint64(len(base)) {
				return nil, errObject
			}
			out = append(out, base[from:from+length]...)
		}
		if uint64(len(out)) > size {
			return nil, errObject
		}
	}
	if uint64(len(out)) != size {
		return nil, errObject
	}
	return out, nil
}
