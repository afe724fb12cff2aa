package postgresjournal

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A Print is the fingerprint of a key that all nodes of a fleet must share.
type Print struct {
	// Name is what the key is for, ID what people call it; it may be empty.
	Name, ID string
	Print    [32]byte
}

const (
	printSQL  = `INSERT INTO prints (name, id, print) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	printsSQL = `SELECT id, print FROM prints WHERE name = $1`
)

// Agree holds fingerprints against those that are written down in every database,
// and writes down those that are not. It returns what is written down of those
// that differ.
func (j *Journal) Agree(ctx context.Context, mine []Print) (others []Print, err error) {
	for _, s := range j.shards {
		for _, p := range mine {
			there, err := s.agree(ctx, p)
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

func (s *shard) agree(ctx context.Context, p Print) (Print, error) {
	there := Print{Name: p.Name}
	err := s.write(ctx, func(c *pgx.Conn) error {
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
