// Package boxwrites moves the files that a command in a box wrote into its project, if a box may
// write them. It moves in no file that a program runs or obeys without being asked to, nothing
// outside of the project, and only history in the project's repository.
//
// Until they are moved in, a box's writes are in a layer above the project. When this package looks
// at that layer, all processes of the box are gone.
package boxwrites

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/store/swap"
)

// A Writes is what one box wrote.
type Writes struct {
	Project string // the folder that the box worked on
	Folder  string // the box's own folder, with the files that it wrote
	Home    string // the owner's home folder, for settings of git
	Disk    int64  // how many bytes may be moved in; zero is unlimited
	Keep    Keep
	// Starts are folders from which programs are started by name, as in PATH. Loads are folders
	// from which interpreters load modules.
	Starts, Loads []string
	// Undo is how many bytes of replaced files are kept in Folder.
	Undo int64
	// At is called at each step of moving in. It may be nil.
	At func(point string)
}

// swapName is the name of the swap in the folder of a box.
const swapName = "in"

// Swap returns the swap that moves the changes of a box into its project.
func (w *Writes) Swap() *swap.Swap {
	return &swap.Swap{Root: w.Project, Folder: w.Folder, Name: swapName, Limit: w.Undo, At: w.At}
}

// started reports whether a program runs or loads the changed file without being told to, because it
// looks for a file of that name or reads all files of the folder. It is also true for a folder above
// such files.
func (w *Writes) started(c *Change) bool {
	p := filepath.Join(w.Project, c.Path)
	leads := func(to string) bool { return c.Kind != Folder && strings.HasPrefix(to+"/", p+"/") }
	return slices.ContainsFunc(w.Starts, func(f string) bool { return filepath.Dir(p) == f && c.Kind != Folder || leads(f) }) ||
		slices.ContainsFunc(w.Loads, func(f string) bool { return strings.HasPrefix(p, f+"/") || leads(f) })
}

func (w *Writes) upper() string { return filepath.Join(w.Folder, "written") }
func (w *Writes) parts() string { return filepath.Join(w.Folder, "parts") }
