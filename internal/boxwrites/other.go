//go:build !linux

package boxwrites

import "errors"

// errSystem says that nothing was written, because there are no boxes here.
var errSystem = errors.New("boxes are made of what only Linux has")

// Changes has nothing to look at.
func (w *Writes) Changes() ([]Change, error) { return nil, errSystem }

// Digest has nothing to read.
func (w *Writes) Digest([]Change) {}

// Resume has nothing to finish.
func (w *Writes) Resume() error { return nil }

// MoveIn moves nothing.
func (w *Writes) MoveIn([]Change) error { return errSystem }

// Pending reports that there is nothing to be finished.
func (w *Writes) Pending() bool { return false }

// Begin notes nothing.
func (w *Writes) Begin() error { return errSystem }

// Forget forgets nothing.
func (w *Writes) Forget() {}

// ResumeBeside has nothing to finish.
func ResumeBeside(_, _ string) error { return nil }
