// Package swap changes several files of a folder as one: all of them or none, even if the process
// is killed meanwhile or the disk is full. It keeps what it replaces, so that it can be restored in
// the same way.
//
// All new files are brought to the same disk before the first file is changed, so every change is a
// rename. The plan is written first, and if the process is killed, the next one finishes it; each
// step can be repeated. Only git's files are sure to be complete after a power cut, because writes
// of other files are not synced.
package swap

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/format/gitindex"
	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// A Swap is one change of a folder.
type Swap struct {
	// Root is the folder that is changed.
	Root string
	// Folder holds the new files, and gets the replaced ones.
	Folder string
	// Name distinguishes the swaps in one Folder.
	Name string
	// Limit is how many bytes of replaced files are kept. If it is zero, none are kept, nor is the
	// record of the finished plan.
	Limit int64
	// At is called at each step of a swap. It may be nil.
	At func(point string)
}

// A Plan lists what a swap does and, once that is done, is the record of it.
type Plan struct {
	Root  string `json:"root"`
	Steps []Step `json:"steps"`
	// Shop is a folder in the root for the new and the replaced files. It is used if Folder is on
	// another disk, and empty otherwise.
	Shop string `json:"shop,omitempty"`
	// Made says that all steps were made.
	Made bool `json:"made,omitempty"`
	// Back says why a step failed. If it is set, the steps up to number Failed are undone.
	Back   string `json:"back,omitempty"`
	Failed int    `json:"failed,omitempty"`
	// Bytes is how many bytes of replaced files are kept, at most Limit. Unkept says why none are
	// kept.
	Limit  int64  `json:"limit"`
	Bytes  int64  `json:"bytes"`
	Unkept string `json:"unkept,omitempty"`
	// Sum is the hash of the kept files. It is set if others can write to them: see [Swap.Seal].
	Sum string `json:"sum,omitempty"`
}

// A Do is what a step does.
type Do string

// What steps do.
const (
	Put  Do = "put"  // put a file, a link or a whole folder in the place of what is there
	Take Do = "take" // take away a path with all that is in it
	Make Do = "make" // make a folder
)

// A Step changes one path.
type Step struct {
	Path string `json:"path"` // within the root
	Do   Do     `json:"do"`
	From string `json:"from,omitempty"` // where the new thing is, within the swap's folder
	// Fresh says that the former content of the folder is taken away.
	Fresh bool `json:"fresh,omitempty"`
	// Above says that the folder was made only because something in it was made.
	Above bool `json:"above,omitempty"`
	// Was is what was at the path before the step. Left is what is there afterwards.
	Was  Thing `json:"was"`
	Left Thing `json:"left"`
}

// A Thing describes what is at a path. The zero value means nothing is there.
type Thing struct {
	Kind   Kind        `json:"kind,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"` // permissions
	Size   int64       `json:"size,omitempty"`
	Time   time.Time   `json:"time,omitzero"`
	SHA256 string      `json:"sha256,omitempty"` // of a file, if it is known
	Listed string      `json:"listed,omitempty"` // of git's index: see [Listed]
	Link   string      `json:"link,omitempty"`   // the target of a link
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

// A Kind is the sort of thing at a path.
type Kind string

// The kinds of things.
const (
	File   Kind = "file"
	Folder Kind = "folder"
	Link   Kind = "link"
	Other  Kind = "other"
)

// Of returns the thing that a file's status describes.
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

// kept is the folder for replaced files, within the swap's folder or the shop.
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
			continue // it was restored before, or is not wanted
		}
		back := Step{Path: step.Path, Do: Take, Was: step.Left, Left: step.Was}
		// A folder that was there before and stays needs no step.
		if step.Do == Make && step.Was.Kind == Folder && !step.Fresh {
			continue
		}
		if step.Was.Kind != "" {
			back.Do, back.From = Put, path.Join(name+".old", numbered(i))
		}
		if back.Do == Take && step.Left.Kind == "" {
			continue // the path was empty before and after the step
		}
		list = append(list, back)
	}
	return list
}

// local reports whether a path is a clean path below a folder.
func local(p string) bool {
	return filepath.IsLocal(p) && p != "." && p == path.Clean(p) && !strings.Contains(p, "\x00")
}

func numbered(i int) string { return strconv.Itoa(i) }
