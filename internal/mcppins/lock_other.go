//go:build !unix

package mcppins

import (
	"errors"
	"os"
)

// Other systems are not supported: everything is held there.
var errSystem = errors.New("this system is not supported")

func tryLock(*os.File) (bool, error) { return false, errSystem }
