// Package swap changes files of a folder as one: all of them, or none, also if the process is
// killed on the way or the disk is full. It keeps what it replaces, so that it can be restored in
// the same way.
//
// The new files are on the same disk before the first file is changed, so every change is a rename.
// The plan is written first: the next process finishes it. Each step can be repeated. After a power
// cut only git's files are sure to be complete: writes of the others are not synced.
package swap

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/gitindex"
	"github.com/floodmark/floodmark/internal/wholefile"
)

// A Swap is one change of a folder.
type Swap struct {
	// Root is the folder that is changed.
	Root string
	// Folder holds the new files, and gets the replaced ones.
	Folder string
	// Name tells swaps in the same Folder apart.
	Name string
	// Limit is how many bytes of what is replaced are kept. With zero nothing is, not even the plan
	// that was carried out.
	Limit int64
	// At, unless nil, is called at each step of a swap.
	At func(point string)
}

// A Plan is what a swap does, and then what it did.
type Plan struct {
	Root  string `json:"root"`
	Steps []Step `json:"steps"`
	// Shop is a folder in the root that holds what is put and replaced, where Folder
	// lies on another disk; empty: Folder does.
	Shop string `json:"shop,omitempty"`
	// Made says that all steps are made.
	Made bool `json:"made,omitempty"`
	// Back says that a step failed and why, so that the steps up to it are undone.
	Back   string `json:"back,omitempty"`
	Failed int    `json:"failed,omitempty"`
	// Bytes is how much of what was replaced is kept, at most Limit. Unkept says why
	// it is not.
	Limit  int64  `json:"limit"`
	Bytes  int64  `json:"bytes"`
	Unkept string `json:"unkept,omitempty"`
	// Sum is the hash of what is kept, where others can write to it.
	Sum string `json:"sum,omitempty"`
}

// A Do is what a step does.
type Do string

// What steps do.
const (
	Put  Do = "put"  // a file, a link or a whole folder, in the place of what is there
	Take Do = "take" // away, with all that is in it
	Make Do = "make" // a folder
)

// A Step changes one path.
type Step struct {
	Path string `json:"path"` // within the root
	Do   Do     `json:"do"`
	From string `json:"from,omitempty"` // of what is put, within the swap's folder
	// Fresh says of a folder that what was in it is taken away.
	Fresh bool `json:"fresh,omitempty"`
	// Above says that it is a folder which was made for what lies in it.
	Above bool `json:"above,omitempty"`
	// Was lay there before, and Left does afterwards.
	Was  Thing `json:"was"`
	Left Thing `json:"left"`
}

// A Thing is what lies at a path. The zero value is nothing.
type Thing struct {
	Kind   Kind        `json:"kind,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"` // permissions
	Size   int64       `json:"size,omitempty"`
	Time   time.Time   `json:"time,omitzero"`
	SHA256 string      `json:"sha256,omitempty"` // of a file, where it is known
	Listed string      `json:"listed,omitempty"` // of git's list of files: the hash of what it names
	Link   string      `json:"link,omitempty"`   // where a link leads
}

// Listed returns the hash of the files that the git index at a path lists; empty if it cannot be
// read.
func Listed(path string) string {
	f, err := wholefile.OpenSelf(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	sum, err := gitindex.Sum(f)
	if err != nil {
		return ""
	}
	return sum
}

// A Kind is what sort of thing lies at a path.
type Kind string

// The kinds of things.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Other  Kind = "other"
)

// Of is what a file's status says of it.
func Of(info fs.FileInfo) Thing {
	t := Thing{Kind: Other, Mode: info.Mode().Perm()}
	switch {
	case info.IsDir():
		t.Kind = Folder
	case info.Mode()&fs.ModeSymlink != 0:
		t.Kind = Link
	case info.Mode().IsRegular():
		t.Kind, t.Size, t.Time = File, info.Size(), info.ModTime()
	}
	return t
}

func (s *Swap) plan() string { return filepath.Join(s.Folder, s.Name+".plan") }
func (s *Swap) done() string { return filepath.Join(s.Folder, s.Name+".done") }

// kept is where what a step replaced lies.
func (s *Swap) kept() string { return s.Name + ".old" }

func (s *Swap) at(point string) {
	if s.At != nil {
		s.At(point)
	}
}

// Reverse returns the steps that restore what a plan replaced, the last change first, for the
// wanted paths.
func (p *Plan) Reverse(name string, want func(path string) bool) []Step {
	var list []Step
	for i, step := range slices.Backward(p.Steps) {
		if step.Do == "" || !want(step.Path) {
			continue // it was given back before, or is not to be
		}
		back := Step{Path: step.Path, Do: Take, Was: step.Left, Left: step.Was}
		// A folder that was there, and stays, needs nothing.
		if step.Do == Make && step.Was.Kind == Folder && !step.Fresh {
			continue
		}
		if step.Was.Kind != "" {
			back.Do, back.From = Put, path.Join(name+".old", numbered(i))
		}
		if back.Do == Take && step.Left.Kind == "" {
			continue // nothing was there, and nothing is
		}
		list = append(list, back)
	}
	return list
}

// local reports whether a path lies within a folder.
func local(p string) bool {
	return filepath.IsLocal(p) && p != "." && p == path.Clean(p) && !strings.Contains(p, "\x00")
}

func numbered(i int) string { return strconv.Itoa(i) }
