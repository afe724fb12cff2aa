//go:build !unix

package wholefile

import "os"

// keepOwner has nothing to keep: files have no such owners here.
func keepOwner(*os.File, string) error { return nil }
