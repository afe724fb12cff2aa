//go:build !linux

package sqlitejournal

// fileSystem always returns local, because the medium is not known on this system. [durable] still
// checks the settings that SQLite reports.
func fileSystem(string) (medium, error) { return local, nil }
