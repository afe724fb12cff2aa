package boxgit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// Limits of what is read of a repository.
const (
	maxRef  = 1 << 12
	maxList = 64 << 20
)

// read returns the content of a small file. A file that does not exist is empty.
func read(p string, limit int64) ([]byte, error) {
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is too long", filepath.Base(p))
	}
	return data, err
}

// refs are the refs of a repository. A loose ref has a file of its own and hides a packed ref of
// the same name.
type refs struct {
	loose, packed map[string]string
	head          string // the text of the file HEAD
}

// readRefs reads the refs of a repository.
func readRefs(git string) (*refs, error) {
	r := &refs{loose: map[string]string{}}
	head, err := read(filepath.Join(git, "HEAD"), maxRef)
	if err != nil {
		return nil, err
	}
	r.head = strings.TrimSpace(string(head))
	data, err := read(filepath.Join(git, "packed-refs"), maxList)
	if err != nil {
		return nil, err
	}
	if r.packed, err = readPacked(data); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(git, "refs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := read(p, maxRef)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(git, p)
		if id := strings.TrimSpace(string(data)); err == nil && !strings.HasSuffix(rel, ".lock") {
			r.loose[filepath.ToSlash(rel)] = id // for a symbolic ref, its text
		}
		return err
	})
	return r, err
}

// readPacked reads the list of packed refs. The line after a tag may name the object that the tag
// points to; it is kept with the tag.
func readPacked(data []byte) (map[string]string, error) {
	list, last := map[string]string{}, ""
	for line := range bytes.Lines(data) {
		text := strings.TrimSuffix(string(line), "\n")
		id, name, _ := strings.Cut(text, " ")
		switch {
		case strings.HasPrefix(text, "#"):
		case strings.HasPrefix(text, "^") && last != "":
			list[last] += text
		case isID(id) && strings.HasPrefix(name, "refs/"):
			last, list[name] = name, id
		default:
			return nil, errors.New("the list of packed refs cannot be read")
		}
	}
	return list, nil
}

// at returns the object that a ref names, or an empty string.
func (r *refs) at(name string) string {
	if id, ok := r.loose[name]; ok {
		return id
	}
	id, _, _ := strings.Cut(r.packed[name], "^")
	return id
}

// commit returns the commit that HEAD names, or an empty string if there is none yet.
func (r *refs) commit() string {
	if name, ok := strings.CutPrefix(r.head, "ref: "); ok {
		return r.at(name)
	}
	return r.head
}

// names returns the names of all refs.
func (r *refs) names() map[string]bool {
	all := map[string]bool{}
	for _, m := range []map[string]string{r.loose, r.packed} {
		for name := range m {
			all[name] = true
		}
	}
	return all
}

// drop removes a loose ref and all loose refs below it.
func (r *refs) drop(p string) {
	for name := range r.loose {
		if name == p || strings.HasPrefix(name, p+"/") {
			delete(r.loose, name)
		}
	}
}

// after returns the refs as they will be once the changes are made. It returns an error if the
// changes must not be made.
func (r *refs) after(changes []Change) (*refs, error) {
	next := &refs{loose: map[string]string{}, packed: r.packed, head: r.head}
	maps.Copy(next.loose, r.loose)
	for _, c := range changes { // a folder comes before its files
		kind := c.part()
		switch {
		case strings.HasPrefix(c.Path+"/", "refs/") && (c.Is == Gone || c.Is == AFreshFolder):
			next.drop(c.Path)
		case c.Is == Gone && kind == list:
			next.packed = map[string]string{}
		case c.Is == Gone && (kind == symbol || kind == index):
			return nil, fmt.Errorf("%s is gone", oneLine(c.Path))
		case c.Is != AFile || kind != ref && kind != symbol && kind != list:
		default:
			if err := next.take(c, kind); err != nil {
				return nil, err
			}
		}
	}
	return next, r.compare(next)
}

// take sets a ref to what a command wrote.
func (r *refs) take(c Change, kind part) (err error) {
	if kind == list {
		data, err := read(c.From, maxList)
		if err == nil {
			r.packed, err = readPacked(data)
		}
		return err
	}
	data, err := read(c.From, maxRef)
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(string(data), "\n")
	switch {
	case kind == ref && isID(text):
		r.loose[c.Path] = text
	case kind == symbol && (isID(text) || isBranch(text)):
		r.head = text
	default:
		return fmt.Errorf("%s names no commit", oneLine(c.Path))
	}
	return nil
}

func isBranch(text string) bool {
	name, ok := strings.CutPrefix(text, "ref: refs/heads/")
	return ok && name != "" && !strings.ContainsAny(name, " \t\n\\") && !strings.Contains("/"+name, "/.") && !strings.Contains(name, "..")
}

// compare refuses changes of refs other than branches and the stash, except that new loose tags are
// allowed. It also refuses anything new in the list of packed refs, which says what tags point to.
func (r *refs) compare(next *refs) error {
	for name, line := range next.packed {
		if r.packed[name] != line {
			return errors.New("refs were packed: do that outside of the box")
		}
	}
	for name := range r.names() {
		if !strings.HasPrefix(name, "refs/heads/") && name != "refs/stash" && next.at(name) != r.at(name) {
			return fmt.Errorf("%s was changed, which only you may", oneLine(name))
		}
	}
	return nil
}
