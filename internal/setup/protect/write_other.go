//go:build !unix

package protect

import (
	"errors"
	"os"
)

// Agents on other systems are not protected: the program ends before these functions are called.
var errSystem = errors.New("this system is not supported")

func writable(string) bool { return false }

func lockFile(*os.File) error { return errSystem }
