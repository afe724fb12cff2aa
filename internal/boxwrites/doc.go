// Package boxwrites moves what a command in a box wrote into its project, as far as a box may write
// there: no file that a program runs or obeys without being asked to, no way out of the project,
// and of its repository only history.
//
// Until then a box's writes are in a layer above the project. All its processes are gone when this
// package looks.
package boxwrites

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/swap"
)

// A Writes is what one box wrote.
type Writes struct {
	Project string // the folder that it worked on
	Folder  string // the box's own, with what was written
	Home    string // the owner's, for settings of git
	Disk    int64  // how many bytes may be moved in; zero: any number
	Keep    Keep
	// Starts are folders that programs are started from by name, as PATH has them, and
	// Loads such from which interpreters load what lies there.
	Starts, Loads []string
	// Undo is how many bytes of what is replaced are kept in Folder.
	Undo int64
	// At, unless nil, is called at each step of moving in.
	At func(point string)
}

// swapName is that of a swap in the folder of a box.
const swapName = "in"

// Swap is how the changes of a box come into its project.
func (w *Writes) Swap() *swap.Swap {
	return &swap.Swap{Root: w.Project, Folder: w.Folder, Name: swapName, Limit: w.Undo, At: w.At}
}

// started reports a change of a file that is run or loaded by its name alone: by a program search
// without a path, which asked for no particular file.
func (w *Writes) started(c *Change) bool {
	p := filepath.Join(w.Project, c.Path)
	leads := func(to string) bool { return c.Kind != Folder && strings.HasPrefix(to+"/", p+"/") }
	return slices.ContainsFunc(w.Starts, func(f string) bool { return filepath.Dir(p) == f && c.Kind != Folder || leads(f) }) ||
		slices.ContainsFunc(w.Loads, func(f string) bool { return strings.HasPrefix(p, f+"/") || leads(f) })
}

func (w *Writes) upper() string { return filepath.Join(w.Folder, "written") }
func (w *Writes) parts() string { return filepath.Join(w.Folder, "parts") }
