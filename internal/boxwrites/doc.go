// Package boxwrites moves what a command in a box wrote into its project, as far as
// something there may come from a box: no file that something runs or obeys without
// being asked to, no way out of the project, and of its repository only history.
//
// What a box wrote lies in a layer above the project until then. All its processes
// are gone when this package looks.
package boxwrites

import "path/filepath"

// A Writes is what one box wrote.
type Writes struct {
	Project string // the folder that it worked on
	Folder  string // the box's own, with what was written
	Home    string // the owner's, for settings of git
	Disk    int64  // how many bytes may be moved in; zero: any number
	Keep    Keep
}

func (w *Writes) upper() string { return filepath.Join(w.Folder, "written") }
func (w *Writes) parts() string { return filepath.Join(w.Folder, "parts") }
