//go:build !linux

package box

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// errSystem says that nothing is contained here, so nothing runs.
var errSystem = errors.New("boxes are made of what only Linux has")

// Inside reports that this is no process of a box.
func Inside() bool { return false }

// Enter does nothing.
func Enter() {}

// Walls are none.
type Walls struct{}

// Begin raises none.
func Begin() *Walls { return new(Walls) }

// Run runs nothing.
func (*Walls) Run(*Spec, []string, []string, string) (End, error) { return End{}, errSystem }

// End has nothing to end.
func (*Walls) End() {}

// Hides reports that nothing is hidden.
func (s *Spec) Hides(string) bool { return false }

// Clear has nothing to remove.
func (s *Spec) Clear() error { return nil }

// Remove removes what lies in a folder under a name. No command of a box left it.
func Remove(folder *os.File, name string, _ int) error {
	return os.RemoveAll(filepath.Join(folder.Name(), name))
}

// ErrFull is never returned.
var ErrFull = errors.New("it was ended, because the disk is nearly full")

// EndAs ends this process.
func EndAs(syscall.WaitStatus) { os.Exit(Refused) }
