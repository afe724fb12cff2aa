//go:build !linux

package boxwrites

import "errors"

// errSystem says that there are no boxes on this system.
var errSystem = errors.New("boxes are made of what only Linux has")

// Changes returns an error.
func (w *Writes) Changes() ([]Change, error) { return nil, errSystem }

// Digest does nothing.
func (w *Writes) Digest([]Change) {}

// Resume does nothing.
func (w *Writes) Resume() error { return nil }

// MoveIn returns an error.
func (w *Writes) MoveIn([]Change) error { return errSystem }

// Pending reports false.
func (w *Writes) Pending() bool { return false }

// Begin returns an error.
func (w *Writes) Begin() error { return errSystem }

// Forget does nothing.
func (w *Writes) Forget() {}

// ResumeBeside does nothing.
func ResumeBeside(_, _ string) error { return nil }
