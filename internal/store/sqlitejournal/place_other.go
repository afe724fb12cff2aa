//go:build !unix

package sqlitejournal

import (
	"errors"
	"os"
)

// lockFile fails: without a lock that ends with its holder, two processes could write one store.
func lockFile(string) (*os.File, error) {
	return nil, errors.New("lock the journal: not possible on this system")
}
