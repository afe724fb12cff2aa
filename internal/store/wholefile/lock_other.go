//go:build !unix

package wholefile

import (
	"errors"
	"os"
)

// Other systems are not supported. Without locks, nothing is changed there.
var errSystem = errors.New("this system is not supported")

func tryLock(*os.File) (bool, error) { return false, errSystem }

// Unlock closes a file, on which there is no lock.
func Unlock(f *os.File) error { return f.Close() }
