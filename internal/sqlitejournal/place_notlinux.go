//go:build !linux

package sqlitejournal

// fileSystem cannot tell here; SQLite's own settings are checked all the same.
func fileSystem(string) (medium, error) { return local, nil }
