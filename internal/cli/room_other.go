//go:build !linux && !darwin

package cli

import (
	"errors"
	"io/fs"
)

// room is unknown on this system.
func room(string) (uint64, error) { return 0, errors.ErrUnsupported }

// ownerOf is unknown on this system.
func ownerOf(fs.FileInfo) (user int, known bool) { return 0, false }
