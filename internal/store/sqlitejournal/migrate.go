package sqlitejournal

import (
	"embed"
	"errors"
	"fmt"
	"strconv"

	"github.com/floodmark/floodmark/journal"
)

// applicationID is in the header of every store of ours: «FlMk».
const applicationID = 0x466c4d6b

// formVersion is the schema version this program writes. Migrations lead to it from every older
// one, one file each; none is ever changed after its release.
const formVersion = 2

//go:embed migrations/*.sql
var migrations embed.FS

// owned refuses a file that is not our journal, or has a later schema.
func owned(c *conn) error {
	id, version, tables, err := form(c)
	switch {
	case err != nil:
		return reading("read the store's header", err)
	case id == 0 && version == 0 && tables == 0:
		return nil // new
	case id != applicationID:
		return errors.New("the file is an SQLite database, but not a journal; give another path")
	case version > formVersion:
		return fmt.Errorf("the store is of form %d, this program knows up to %d; use the newer program that wrote it", version, formVersion)
	}
	return nil
}

func form(c *conn) (id, version, tables int64, err error) {
	for _, q := range []struct {
		query string
		to    *int64
	}{
		{"PRAGMA application_id", &id},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		row, err := c.ask(q.query)
		if err != nil {
			return 0, 0, 0, err
		}
		n, ok := row[0].(int64)
		if !ok {
			return 0, 0, 0, fmt.Errorf("%s: not a number", q.query)
		}
		*q.to = n
	}
	return id, version, tables, nil
}

// keptSQL makes the index by which a start finds recorded artifacts. It does not change the schema
// version: an older program maintains it as well.
const keptSQL = "CREATE INDEX IF NOT EXISTS facts_kept ON facts (mark) WHERE kind = '" + journal.KeptKind + "'"

// migrate brings the store to formVersion atomically.
func migrate(c *conn, fault func(string)) error {
	_, version, _, err := form(c)
	if err != nil {
		return err
	}
	if version == formVersion {
		return c.exec(keptSQL)
	}
	if err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return reading("begin a migration", err)
	}
	if err := migrateFrom(c, version, fault); err != nil {
		return errors.Join(err, c.exec("ROLLBACK"))
	}
	if err := c.exec("COMMIT"); err != nil {
		return reading("commit a migration", err)
	}
	return nil
}

func migrateFrom(c *conn, version int64, fault func(string)) error {
	for v := version + 1; v <= formVersion; v++ {
		script, err := migrations.ReadFile("migrations/" + strconv.FormatInt(v, 10) + ".sql")
		if err != nil {
			return fmt.Errorf("migration to form %d: %w", v, err)
		}
		if err := c.exec(string(script)); err != nil {
			return reading(fmt.Sprintf("migrate the store to form %d", v), err)
		}
	}
	// Settings are part of the transaction, and accept no parameters.
	for _, s := range []string{
		keptSQL,
		"PRAGMA application_id=" + strconv.Itoa(applicationID),
		"PRAGMA user_version=" + strconv.Itoa(formVersion),
	} {
		if err := c.exec(s); err != nil {
			return reading(s, err)
		}
	}
	fault(InMigration)
	return nil
}
