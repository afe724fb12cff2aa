// Package fleetbooks keeps in PostgreSQL what a fleet has beside its journal: its laptops with copies of
// their sessions, its signed rules, its nodes, and the fingerprints of its keys.
package fleetbooks

import (
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// Books are the books of a fleet, in the databases of its journal. They are safe for concurrent use,
// until the journal is closed.
type Books struct {
	databases []*postgres.Database
	database  func(journal.Session) *postgres.Database
	closed    func() bool
}

// New returns the books in some databases: database returns the one for a session, and closed
// reports whether the journal is closed.
func New(databases []*postgres.Database, database func(journal.Session) *postgres.Database, closed func() bool) *Books {
	return &Books{databases, database, closed}
}

// each calls f for all databases concurrently and returns the first error.
func (b *Books) each(f func(i int, d *postgres.Database) error) error {
	return postgres.Each(len(b.databases), func(i int) error { return f(i, b.databases[i]) })
}
