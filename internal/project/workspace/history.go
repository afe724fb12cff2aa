package workspace

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/floodmark/floodmark/internal/format/gitindex"
	"github.com/floodmark/floodmark/internal/project/checkout"
)

// maxListed bounds the bytes of git's index of tracked files.
const maxListed = 64 << 20

// A History reads versions of files from a repository. It reads git's files itself, so that no
// setting, attribute, filter or replaced object of the repository affects the result.
type History struct {
	// Root is the folder of the working tree.
	Root    string
	repo    repository
	objects *objects
	trees   map[string]map[string]entry
	tracked map[string]bool
}

// An entry is a tree's entry for a name.
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

// Close closes all files.
func (h *History) Close() { h.objects.close() }

// Head returns the checked-out commit, or "" if there is none yet.
func (h *History) Head() string {
	id, _ := h.repo.head()
	return id
}

// File returns a commit's version of a file, by its path from Root. It returns false if the commit
// has no such file, or if the path is a link, a submodule, or a file that is too large.
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

// Tracks reports whether git tracks a file, by its path from Root: it is in git's index, or in the
// checked-out commit. If that cannot be read, it returns an error.
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

// listed returns the names in git's index. The name of a folder that the index has as a whole ends
// with a slash.
func listed(data []byte) (map[string]bool, error) {
	names := map[string]bool{}
	for e, err := range gitindex.Entries(data) {
		if err != nil {
			return nil, err
		}
		if e.Name != "" {
			names[e.Name] = true
		}
	}
	return names, nil
}
