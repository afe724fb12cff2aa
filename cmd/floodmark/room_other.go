//go:build !linux && !darwin

package main

import "errors"

// room is not known here.
func room(string) (uint64, error) { return 0, errors.ErrUnsupported }
