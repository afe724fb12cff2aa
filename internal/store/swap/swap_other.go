//go:build !linux

package swap

import "errors"

// errSystem says that this system is not supported, because only Linux can open a path without
// following links.
var errSystem = errors.New("files are swapped on Linux only")

// Do returns an error.
func (s *Swap) Do([]Step) error { return errSystem }

// Pending reports false.
func (s *Swap) Pending() bool { return false }

// Resume does nothing.
func (s *Swap) Resume() error { return nil }

// Done returns an error.
func (s *Swap) Done() (*Plan, error) { return nil, errSystem }

// Adopt returns an error.
func (s *Swap) Adopt(string, string) error { return errSystem }

// Seal returns an error.
func (s *Swap) Seal() (string, error) { return "", errSystem }

// Forget returns an error.
func (s *Swap) Forget(*Plan) error { return errSystem }

// Plan returns an error.
func (s *Swap) Plan() (*Plan, error) { return nil, errSystem }
