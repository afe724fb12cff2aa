package postgresjournal

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

const (
	// Shards is the number of virtual shards. It never changes, because it determines each
	// session's shard.
	Shards = 4096
	// MaxDatabases is the greatest number of databases.
	MaxDatabases = 64
)

// A Range names the database that holds the shards First to Last.
type Range struct {
	DSN         string
	First, Last int
}

// ShardOf returns the shard of a session, 0 to [Shards]-1, by its tenant and name.
//
// Rules for changing it: none of this changes, ever.
func ShardOf(s journal.Session) int {
	h := journal.Genesis(s)
	return int(binary.BigEndian.Uint16(h[:2]) >> 4)
}

// holds reports whether a session is in this database. If it returns false, rows of the session here
// were left when the session was moved to another database.
func (s *shard) holds(session journal.Session) bool {
	if s.first == 0 && s.last == Shards-1 {
		return true
	}
	n := ShardOf(session)
	return n >= s.first && n <= s.last
}

// inOrder sorts ranges and refuses those that omit a shard or have one twice.
func inOrder(ranges []Range) ([]Range, error) {
	if len(ranges) == 0 || len(ranges) > MaxDatabases {
		return nil, fmt.Errorf("%d databases, want 1 to %d", len(ranges), MaxDatabases)
	}
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int { return a.First - b.First })
	next := 0
	for _, r := range sorted {
		if r.First != next || r.Last < r.First {
			return nil, fmt.Errorf("shards %d to %d: want ranges that hold each of 0 to %d once, and the next begins at %d", r.First, r.Last, Shards-1, next)
		}
		next = r.Last + 1
	}
	if next != Shards {
		return nil, fmt.Errorf("the shards from %d on are in no database, want 0 to %d", next, Shards-1)
	}
	return sorted, nil
}

const (
	placementSQL = `SELECT fleet, first, last FROM placement`
	placeSQL     = `INSERT INTO placement (fleet, first, last) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
)

// A place is a database's recorded shards.
type place struct {
	fleet       string
	first, last int
}

// placed compares the recorded shards of databases with the given ranges, and records the shards of
// new databases. A database belongs to one fleet for ever.
func placed(ctx context.Context, shards []*shard) error {
	fleet := ""
	for _, s := range shards {
		p, err := s.place(ctx, fleet)
		if err != nil {
			return err
		}
		switch {
		case p.first != s.first || p.last != s.last:
			return fmt.Errorf("the database for shards %d to %d holds shards %d to %d: give every node the mapping that is recorded there, or move shards first (docs/reference/fleet-database.md)",
				s.first, s.last, p.first, p.last)
		case fleet != "" && p.fleet != fleet:
			return fmt.Errorf("the database for shards %d to %d belongs to another fleet than the first one: name the databases of one fleet", s.first, s.last)
		}
		fleet = p.fleet
	}
	return nil
}

// place returns a database's recorded shards. For a new database it records the shards first to
// last. A database with facts from before there were shards has all shards.
func (s *shard) place(ctx context.Context, fleet string) (p place, err error) {
	if fleet == "" {
		fleet = rand.Text()
	}
	err = s.Write(ctx, func(c *pgx.Conn) error {
		err := c.QueryRow(ctx, placementSQL).Scan(&p.fleet, &p.first, &p.last)
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := postgres.ActsAs(ctx, c, postgres.AllTenants); err != nil {
			return err
		}
		var used bool
		if err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM facts)").Scan(&used); err != nil {
			return err
		}
		first, last := s.first, s.last
		if used {
			first, last = 0, Shards-1
		}
		if _, err := c.Exec(ctx, placeSQL, fleet, first, last); err != nil {
			return fmt.Errorf("record which shards it holds: %w", err)
		}
		return c.QueryRow(ctx, placementSQL).Scan(&p.fleet, &p.first, &p.last)
	})
	return p, err
}
