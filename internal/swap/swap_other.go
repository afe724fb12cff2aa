//go:build !linux

package swap

import "errors"

// errSystem says that nothing is swapped here: only Linux can open a path that follows
// no link.
var errSystem = errors.New("files are swapped on Linux only")

// Do changes nothing.
func (s *Swap) Do([]Step) error { return errSystem }

// Pending reports that there is nothing to be finished.
func (s *Swap) Pending() bool { return false }

// Resume has nothing to finish.
func (s *Swap) Resume() error { return nil }

// Done has nothing to tell.
func (s *Swap) Done() (*Plan, error) { return nil, errSystem }

// Adopt takes over nothing.
func (s *Swap) Adopt(string, string) error { return errSystem }

// Seal has nothing to note.
func (s *Swap) Seal() (string, error) { return "", errSystem }

// Forget forgets nothing.
func (s *Swap) Forget(*Plan) error { return errSystem }

// Plan has nothing to tell.
func (s *Swap) Plan() (*Plan, error) { return nil, errSystem }
