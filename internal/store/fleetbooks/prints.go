package fleetbooks

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
)

// A Print is the fingerprint of a key that all nodes of a fleet must share.
type Print struct {
	// Name is the purpose of the key, ID its display name, which may be empty.
	Name, ID string
	Print    [32]byte
}

const (
	printSQL  = `INSERT INTO prints (name, id, print) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	printsSQL = `SELECT id, print FROM prints WHERE name = $1`
	// maxPrints exceeds the number of all tenants' keys. If there are more, something else wrote them.
	maxPrints   = 1 << 16
	recordedSQL = `SELECT name, id, print FROM prints WHERE starts_with(name, $1) ORDER BY at, name LIMIT $2`
)

// Recorded returns the fingerprints whose names begin with prefix, of one database after the other.
// Those of one database are in the order of recording.
func (b *Books) Recorded(ctx context.Context, prefix string) (all []Print, err error) {
	for _, s := range b.databases {
		if err := recorded(ctx, s, prefix, &all); err != nil {
			return nil, fmt.Errorf("read the fingerprints of keys: %w", err)
		}
	}
	return all, nil
}

func recorded(ctx context.Context, s *postgres.Database, prefix string, all *[]Print) error {
	return s.Write(ctx, func(c *pgx.Conn) error { // of the primary: a standby may lag
		rows, err := c.Query(ctx, recordedSQL, prefix, maxPrints+1)
		if err != nil {
			return err
		}
		var p Print
		var sum []byte
		n := 0
		_, err = pgx.ForEachRow(rows, []any{&p.Name, &p.ID, &sum}, func() error {
			if n++; n > maxPrints || len(sum) != len(p.Print) {
				return fmt.Errorf("the fingerprint of %.200q is not one, or there are more than %d", p.Name, maxPrints)
			}
			copy(p.Print[:], sum)
			*all = append(*all, p)
			return nil
		})
		return err
	})
}

// Agree compares fingerprints with those recorded in every database, and records missing ones. It
// returns the recorded ones that differ.
func (b *Books) Agree(ctx context.Context, mine []Print) (others []Print, err error) {
	for _, s := range b.databases {
		for _, p := range mine {
			there, err := agree(ctx, s, p)
			if err != nil {
				return nil, fmt.Errorf("compare keys with those of other nodes: %w", err)
			}
			if there.Print != p.Print {
				others = append(others, there)
			}
		}
	}
	return others, nil
}

func agree(ctx context.Context, s *postgres.Database, p Print) (Print, error) {
	there := Print{Name: p.Name}
	err := s.Write(ctx, func(c *pgx.Conn) error {
		if _, err := c.Exec(ctx, printSQL, p.Name, p.ID, p.Print[:]); err != nil {
			return err
		}
		var sum []byte
		if err := c.QueryRow(ctx, printsSQL, p.Name).Scan(&there.ID, &sum); err != nil {
			return err
		}
		if copy(there.Print[:], sum); !bytes.Equal(there.Print[:], sum) {
			return fmt.Errorf("the fingerprint of %s has %d bytes", p.Name, len(sum))
		}
		return nil
	})
	return there, err
}
