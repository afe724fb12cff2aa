//go:build !linux

package box

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// errSystem says that there are no boxes on this system, so that nothing runs.
var errSystem = errors.New("boxes are made of what only Linux has")

// Inside reports false.
func Inside() bool { return false }

// Enter does nothing.
func Enter() {}

// Walls are empty here.
type Walls struct{}

// Begin returns empty walls.
func Begin() *Walls { return new(Walls) }

// Run returns an error.
func (*Walls) Run(*Spec, []string, []string, string) (End, error) { return End{}, errSystem }

// End does nothing.
func (*Walls) End() {}

// Hides reports false.
func (s *Spec) Hides(string) bool { return false }

// Clear does nothing.
func (s *Spec) Clear() error { return nil }

// Remove removes a name in a folder. No command of a box left it.
func Remove(folder *os.File, name string, _ int) error {
	return os.RemoveAll(filepath.Join(folder.Name(), name))
}

// ErrFull is never returned.
var ErrFull = errors.New("it was ended, because the disk is nearly full")

// EndAs ends this process.
func EndAs(syscall.WaitStatus) { os.Exit(Refused) }
