package fleetbooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// A machineBook stores laptops that joined the fleet. Each is in one database, determined by its
// id.
type machineBook struct{ *Books }

var _ machines.Book = machineBook{}

// Machines returns the book of laptops in the journal's databases.
func (b *Books) Machines() machines.Book { return machineBook{b} }

// of returns the database of a machine.
func (b machineBook) of(id machines.ID) *postgres.Database {
	return b.database(journal.Session{ID: floodmark.SessionID("machine/" + id)})
}

// write runs a short transaction for a tenant. It retries the transaction if a concurrent one made
// it roll back, or if it did not reach the server.
func (b machineBook) write(ctx context.Context, tenant string, s *postgres.Database, f func(context.Context, pgx.Tx) error) error {
	if b.closed() {
		return journal.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := s.Begun(ctx)
	defer cancel()
	var why error
	for pause := postgres.FirstPause; ; pause = min(2*pause, postgres.LongPause) {
		err := s.Write(ctx, func(c *pgx.Conn) error {
			if err := postgres.ActsAs(ctx, c, postgres.TenantList(tenant)); err != nil {
				return err
			}
			return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error { return f(ctx, tx) })
		})
		if err == nil || errors.Is(err, machines.ErrUnknown) {
			return err
		}
		if why = postgres.Because(why, err, ctx.Err() != nil); ctx.Err() != nil {
			return why
		}
		if o := postgres.OutcomeOf(err); o != postgres.Contended && o != postgres.Unsent {
			return err
		}
		if late := postgres.Sleep(ctx, pause); late != nil {
			return err
		}
	}
}

const enrolSQL = `INSERT INTO machines (tenant, id, name, enrolled_by, at, token, journal_key) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO NOTHING`

// Enrol implements [machines.Book].
func (b machineBook) Enrol(ctx context.Context, m machines.Machine) error {
	there := errors.New("there is one already")
	err := b.write(ctx, m.Tenant, b.of(m.ID), func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, enrolSQL, []byte(m.Tenant), string(m.ID), m.Name, m.By, m.At.UnixNano(), m.Token[:], m.JournalKey)
		if err == nil && tag.RowsAffected() == 0 {
			return there
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("enrol machine %s: %w", m.ID, err)
	}
	return nil
}

const useTokenSQL = `INSERT INTO token_uses AS u (tenant, token, uses) VALUES ($1, $2, 1)
ON CONFLICT (tenant, token) DO UPDATE SET uses = u.uses + 1 WHERE u.uses < $3`

// Use implements [machines.Book]. A token is in one database, so that all nodes count in one place.
// After an error a use may be counted without an enrolment.
func (b machineBook) Use(ctx context.Context, tenant string, token floodmark.Digest, most int64) (ok bool, err error) {
	if most < 1 {
		return false, nil
	}
	s := b.database(journal.Session{Tenant: tenant, ID: floodmark.SessionID("token/" + token.String())})
	err = b.write(ctx, tenant, s, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, useTokenSQL, []byte(tenant), token[:], most)
		ok = tag.RowsAffected() > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("count the use of a token: %w", err)
	}
	return ok, nil
}

const findMachineSQL = `
SELECT m.tenant, m.name, m.enrolled_by, m.at, m.token, m.journal_key, coalesce(e.state, 'joined')
FROM machines m LEFT JOIN machine_ends e ON e.tenant = m.tenant AND e.id = m.id WHERE m.id = $1`

// Find implements [machines.Book].
func (b machineBook) Find(ctx context.Context, id machines.ID) (m machines.Machine, state machines.State, err error) {
	if b.closed() {
		return m, "", journal.ErrClosed
	}
	m.ID = id
	var tenant, token []byte
	var at int64
	err = b.of(id).Read(ctx, postgres.AllTenants, func(ctx context.Context, c *pgxpool.Conn) error {
		err := c.QueryRow(ctx, findMachineSQL, string(id)).Scan(&tenant, &m.Name, &m.By, &at, &token, &m.JournalKey, &state)
		if errors.Is(err, pgx.ErrNoRows) {
			token, err = nil, nil
		}
		return err
	})
	switch {
	case err != nil:
		return machines.Machine{}, "", fmt.Errorf("find machine %s: %w", id, err)
	case token == nil:
		return machines.Machine{}, "", machines.ErrUnknown
	}
	m.Tenant, m.At, m.Token = string(tenant), time.Unix(0, at).UTC(), floodmark.Digest(token)
	return m, state, nil
}

// A querier is a connection, or a transaction on one.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// hasMachine refuses a machine that is not the tenant's.
func hasMachine(ctx context.Context, c querier, tenant string, id machines.ID) error {
	var there bool
	err := c.QueryRow(ctx, "SELECT EXISTS (SELECT FROM machines WHERE tenant = $1 AND id = $2)", []byte(tenant), string(id)).Scan(&there)
	if err == nil && !there {
		return machines.ErrUnknown
	}
	return err
}

// isJoined refuses a machine that is not the tenant's, or has ended.
func isJoined(ctx context.Context, tx pgx.Tx, tenant string, id machines.ID) error {
	if err := hasMachine(ctx, tx, tenant, id); err != nil {
		return err
	}
	var ended bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM machine_ends WHERE tenant = $1 AND id = $2)", []byte(tenant), string(id)).Scan(&ended)
	if err == nil && ended {
		return machines.ErrUnknown
	}
	return err
}

const endMachineSQL = `INSERT INTO machine_ends (tenant, id, state, ended_by, at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant, id) DO NOTHING`

// End implements [machines.Book].
func (b machineBook) End(ctx context.Context, tenant string, id machines.ID, as machines.State, by string, at time.Time) error {
	err := b.write(ctx, tenant, b.of(id), func(ctx context.Context, tx pgx.Tx) error {
		if err := hasMachine(ctx, tx, tenant, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, endMachineSQL, []byte(tenant), string(id), string(as), by, at.UnixNano())
		return err
	})
	if err != nil {
		return fmt.Errorf("end machine %s: %w", id, err)
	}
	return nil
}

const reportMachineSQL = `INSERT INTO machine_reports (tenant, id, seen, report) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant, id) DO UPDATE SET seen = excluded.seen, report = excluded.report`

// Report implements [machines.Book].
func (b machineBook) Report(ctx context.Context, tenant string, id machines.ID, at time.Time, report []byte) error {
	err := b.write(ctx, tenant, b.of(id), func(ctx context.Context, tx pgx.Tx) error {
		if err := hasMachine(ctx, tx, tenant, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, reportMachineSQL, []byte(tenant), string(id), at.UnixNano(), postgres.NotNull(report))
		return err
	})
	if err != nil {
		return fmt.Errorf("keep the report of machine %s: %w", id, err)
	}
	return nil
}
