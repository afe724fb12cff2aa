package workspace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/checkout"
)

// maxListed bounds the bytes of git's list of what it tracks.
const maxListed = 64 << 20

// A History is what a repository keeps of its files. It reads git's files itself: no
// setting, attribute, filter or replaced object of the repository has a say in what is
// returned.
type History struct {
	// Root is the folder of the working tree.
	Root    string
	repo    repository
	objects *objects
	trees   map[string]map[string]entry
	tracked map[string]bool
}

// An entry is what a tree has under a name.
type entry struct{ mode, id string }

// HistoryOf opens the repository around a folder; nil if there is none.
func HistoryOf(folder string) *History {
	root, dir, ok := locate(folder)
	if !ok {
		return nil
	}
	r := open(root, dir)
	return &History{Root: root, repo: r, objects: newObjects(r.common), trees: map[string]map[string]entry{}}
}

// Close lets go of what was opened.
func (h *History) Close() { h.objects.close() }

// Head is the commit that is checked out; empty if there is none yet.
func (h *History) Head() string {
	id, _ := h.repo.head()
	return id
}

// File returns what a commit has in a file, by its path from Root. It is no file if
// there is none, a link, another repository, or something that is too large.
func (h *History) File(commit, path string) ([]byte, bool) {
	e, ok := h.at(commit, path)
	if !ok || !strings.HasPrefix(e.mode, "100") {
		return nil, false
	}
	return h.objects.exactly(e.id, blobObject)
}

// at finds a path in the tree of a commit.
func (h *History) at(commit, path string) (entry, bool) {
	body, ok := h.objects.exactly(commit, commitObject)
	id, _, found := strings.Cut(strings.TrimPrefix(string(body), "tree "), "\n")
	if !ok || !found || !checkout.IsID(id) {
		return entry{}, false
	}
	e := entry{mode: "40000", id: id}
	for name := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if e.mode != "40000" {
			return entry{}, false
		}
		tree, ok := h.tree(e.id)
		if !ok {
			return entry{}, false
		}
		if e, ok = tree[name]; !ok {
			return entry{}, false
		}
	}
	return e, true
}

// tree reads a tree, once.
func (h *History) tree(id string) (map[string]entry, bool) {
	if t, ok := h.trees[id]; ok {
		return t, t != nil
	}
	h.trees[id] = nil
	body, ok := h.objects.exactly(id, treeObject)
	if !ok {
		return nil, false
	}
	t := map[string]entry{}
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(rest) < 20 {
			return nil, false
		}
		t[name], body = entry{mode: mode, id: hex.EncodeToString(rest[:20])}, rest[20:]
	}
	h.trees[id] = t
	return t, true
}

// Tracks reports whether git keeps a file, by its path from Root: it is on git's list, or
// in the commit that is checked out. It is an error if that cannot be told.
func (h *History) Tracks(path string) (bool, error) {
	if h.tracked == nil {
		text, err := readUpTo(filepath.Join(h.repo.dir, "index"), maxListed)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			h.tracked = map[string]bool{}
		case err != nil:
			return false, fmt.Errorf("read git's list of files: %w", err)
		default:
			if h.tracked, err = listed([]byte(text)); err != nil {
				return false, err
			}
		}
	}
	path = filepath.ToSlash(path)
	for at := path; at != ""; at = at[:max(strings.LastIndexByte(at, '/'), 0)] {
		if h.tracked[at] || at != path && h.tracked[at+"/"] {
			return true, nil
		}
	}
	head := h.Head()
	if head == "" {
		return false, nil
	}
	if body, ok := h.objects.exactly(head, commitObject); !ok || len(body) == 0 {
		return false, errors.New("the commit that is checked out cannot be read")
	}
	_, in := h.at(head, path)
	return in, nil
}

var errListed = errors.New("git's list of files is in a form that is not known here")

// The parts of git's list of files: a head, then for each file its state, its object, a
// length with flags, and its name.
const (
	listedHead  = 12
	listedFixed = 62
)

// listed are the names on git's list of files, in the versions 2 to 4. A folder that the
// list has as a whole ends with a slash.
func listed(data []byte) (map[string]bool, error) {
	if len(data) < listedHead || string(data[:4]) != "DIRC" {
		return nil, errListed
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, errListed
	}
	names, at, last := map[string]bool{}, listedHead, ""
	for range count {
		if len(data) < at+listedFixed {
			return nil, errListed
		}
		name := at + listedFixed
		if version > 2 && data[at+listedFixed-2]&0x40 != 0 {
			name += 2
		}
		if version == 4 {
			drop, n, ok := backOffset0(data[min(name, len(data)):])
			if !ok || drop > int64(len(last)) {
				return nil, errListed
			}
			name, last = name+n, last[:len(last)-int(drop)]
		} else {
			last = ""
		}
		end := bytes.IndexByte(data[min(name, len(data)):], 0)
		if end < 0 {
			return nil, errListed
		}
		last += string(data[name : name+end])
		names[last] = true
		if at, end = name+end+1, name+end-at; version < 4 {
			at += 7 - end%8 // each is filled up to a multiple of eight, with one zero at least
		}
	}
	if hasPart(data[min(at, len(data)):], "link") {
		return nil, errListed // more names are in another file
	}
	return names, nil
}

// backOffset0 reads a number as [backOffset] does, also zero.
func backOffset0(b []byte) (n int64, used int, ok bool) {
	if len(b) > 0 && b[0] == 0 {
		return 0, 1, true
	}
	return backOffset(b)
}

// hasPart reports whether one of the parts behind the names has a name.
func hasPart(data []byte, name string) bool {
	for len(data) >= 8+20 {
		if string(data[:4]) == name {
			return true
		}
		size := int(binary.BigEndian.Uint32(data[4:]))
		if size < 0 || size > len(data)-8 {
			return false
		}
		data = data[8+size:]
	}
	return false
}
