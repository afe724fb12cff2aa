package fleetbooks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

const mirrorHeadsSQL = `
SELECT coalesce(h.seq, 0), h.hash FROM unnest($3::bytea[]) WITH ORDINALITY AS s (session, no)
LEFT JOIN mirror_heads h ON h.tenant = $1 AND h.machine = $2 AND h.session = s.session ORDER BY s.no`

// Heads implements [machines.Book].
func (b machineBook) Heads(ctx context.Context, tenant string, id machines.ID, sessions []floodmark.SessionID) (links []journal.Link, err error) {
	if b.closed() {
		return nil, journal.ErrClosed
	}
	names := make([][]byte, len(sessions))
	for i, s := range sessions {
		names[i] = []byte(s)
	}
	err = b.of(id).Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		rows, err := c.Query(ctx, mirrorHeadsSQL, []byte(tenant), string(id), names)
		if err != nil {
			return err
		}
		links, err = pgx.CollectRows(rows, mirrorLink)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read heads of machine %s: %w", id, err)
	}
	return links, nil
}

func mirrorLink(row pgx.CollectableRow) (journal.Link, error) {
	var seq int64
	var hash []byte
	err := row.Scan(&seq, &hash)
	return postgres.LinkOf(seq, hash), err
}

// Add implements [machines.Book]. Concurrent adds to a copy wait for each other. If two adds begin a
// copy, the table's key rolls back the second, which is retried.
func (b machineBook) Add(ctx context.Context, tenant string, id machines.ID, u machines.Upload, at time.Time) (outcome machines.Outcome, head journal.Link, err error) {
	m := mirrored{tenant: []byte(tenant), id: string(id), session: []byte(u.Session)}
	err = b.write(ctx, tenant, b.of(id), func(ctx context.Context, tx pgx.Tx) error {
		if err := isJoined(ctx, tx, tenant, id); err != nil {
			return err
		}
		var known map[uint64]journal.Hash
		if head, known, err = m.known(ctx, tx, u); err != nil {
			return err
		}
		var add []journal.Entry
		add, outcome = u.Fit(head, known)
		switch {
		case outcome == machines.Fork:
			return m.fork(ctx, tx, u, at)
		case len(add) > 0:
			head = add[len(add)-1].Link()
			return m.add(ctx, tx, add)
		}
		// The upload exists already, but its commit may not have waited for the replica.
		_, err := tx.Exec(ctx, postgres.SettledSQL)
		return err
	})
	if err != nil {
		return "", journal.Link{}, fmt.Errorf("add to the copy of machine %s: %w", id, err)
	}
	return outcome, head, nil
}

// mirrored names the copy of one session.
type mirrored struct {
	tenant  []byte
	id      string
	session []byte
}

// known returns where the copy ends, and its hashes for the upload's entries.
func (m mirrored) known(ctx context.Context, tx pgx.Tx, u machines.Upload) (head journal.Link, known map[uint64]journal.Hash, err error) {
	var seq int64
	var hash []byte
	err = tx.QueryRow(ctx, "SELECT seq, hash FROM mirror_heads WHERE tenant = $1 AND machine = $2 AND session = $3 FOR UPDATE", m.tenant, m.id, m.session).Scan(&seq, &hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return journal.Link{}, nil, nil
	}
	if err != nil {
		return journal.Link{}, nil, err
	}
	rows, err := tx.Query(ctx, "SELECT seq, hash FROM mirror WHERE tenant = $1 AND machine = $2 AND session = $3 AND seq BETWEEN $4 AND $5",
		m.tenant, m.id, m.session, int64(u.After.Seq), int64(u.Last().Seq))
	if err != nil {
		return journal.Link{}, nil, err
	}
	links, err := pgx.CollectRows(rows, mirrorLink)
	known = make(map[uint64]journal.Hash, len(links)+1)
	known[uint64(seq)] = postgres.LinkOf(seq, hash).Hash // also if the entry itself was erased
	for _, l := range links {
		known[l.Seq] = l.Hash
	}
	return postgres.LinkOf(seq, hash), known, err
}

const (
	mirrorSQL = `INSERT INTO mirror (tenant, machine, session, seq, at, hash, kind, body)
SELECT $1, $2, $3, e.* FROM unnest($4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::bytea[]) AS e`
	mirrorHeadSQL = `INSERT INTO mirror_heads AS old (tenant, machine, session, seq, hash, entries) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant, machine, session) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, entries = old.entries + excluded.entries`
	forkSQL = `INSERT INTO machine_forks (tenant, id, session, seq, at, hash)
SELECT $1, $2, $3, $4, $5, $6 WHERE (SELECT count(*) FROM machine_forks WHERE tenant = $1 AND id = $2) < $7 ON CONFLICT DO NOTHING`
)

func (m mirrored) add(ctx context.Context, tx pgx.Tx, add []journal.Entry) error {
	n := len(add)
	seqs, ats, hashes, kinds, bodies := make([]int64, n), make([]int64, n), make([][]byte, n), make([]string, n), make([][]byte, n)
	for i := range add {
		e := &add[i]
		seqs[i], ats[i], hashes[i], kinds[i], bodies[i] = int64(e.Seq), e.At, e.Hash[:], e.Kind, postgres.NotNull(e.Body)
	}
	if _, err := tx.Exec(ctx, mirrorSQL, m.tenant, m.id, m.session, seqs, ats, hashes, kinds, bodies); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, mirrorHeadSQL, m.tenant, m.id, m.session, seqs[n-1], hashes[n-1], n)
	return err
}

func (m mirrored) fork(ctx context.Context, tx pgx.Tx, u machines.Upload, at time.Time) error {
	last := u.Last()
	_, err := tx.Exec(ctx, forkSQL, m.tenant, m.id, m.session, int64(last.Seq), at.UnixNano(), last.Hash[:], machines.MaxForks)
	return err
}

// The limits of one read of a copy.
const (
	pageEntries = 512
	pageBytes   = 8 << 20
)

const readMirrorSQL = `SELECT seq, at, hash, kind, body FROM mirror
WHERE tenant = $1 AND machine = $2 AND session = $3 AND seq > $4 ORDER BY seq LIMIT $5`

// Read implements [machines.Book].
func (b machineBook) Read(ctx context.Context, tenant string, id machines.ID, s floodmark.SessionID) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		last := journal.Link{Hash: journal.Genesis(journal.Session{ID: s})}
		stone, gone, err := b.stone(ctx, tenant, id, s)
		if err != nil {
			yield(journal.Entry{}, fmt.Errorf("read the copy of machine %s: %w", id, err))
			return
		}
		if gone {
			if last = stone.Link(); !yield(stone, nil) {
				return
			}
		}
		for {
			page, more, err := b.page(ctx, tenant, id, s, last.Seq)
			if err != nil {
				yield(journal.Entry{}, fmt.Errorf("read the copy of machine %s: %w", id, err))
				return
			}
			for _, e := range page {
				if e.Kind != machines.StoneKind {
					e.Prev = last.Hash
				}
				last = e.Link()
				if !yield(e, nil) {
					return
				}
			}
			if !more {
				return
			}
		}
	}
}

const mirrorStoneSQL = `SELECT seq, at, hash, note FROM mirror_stones WHERE tenant = $1 AND machine = $2 AND session = $3`

// stone returns the entry in place of an erased beginning; gone is false if nothing was erased.
func (b machineBook) stone(ctx context.Context, tenant string, id machines.ID, s floodmark.SessionID) (e journal.Entry, gone bool, err error) {
	if b.closed() {
		return e, false, journal.ErrClosed
	}
	err = b.of(id).Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		var seq int64
		var hash []byte
		err := c.QueryRow(ctx, mirrorStoneSQL, []byte(tenant), string(id), []byte(s)).Scan(&seq, &e.At, &hash, &e.Body)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		l := postgres.LinkOf(seq, hash)
		e.Seq, e.Hash, e.Kind, gone = l.Seq, l.Hash, machines.GoneKind, err == nil
		return err
	})
	return e, gone, err
}

// page reads a part of a copy; more says that there may be others. Laptops send entries of any
// size, so the bytes are bounded as well.
func (b machineBook) page(ctx context.Context, tenant string, id machines.ID, s floodmark.SessionID, after uint64) (page []journal.Entry, more bool, err error) {
	if b.closed() {
		return nil, false, journal.ErrClosed
	}
	err = b.of(id).Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		page, more = nil, false
		rows, err := c.Query(ctx, readMirrorSQL, []byte(tenant), string(id), []byte(s), int64(after), pageEntries)
		if err != nil {
			return err
		}
		defer rows.Close()
		for size := 0; !more && rows.Next(); {
			var e journal.Entry
			var seq int64
			var hash []byte
			if err := rows.Scan(&seq, &e.At, &hash, &e.Kind, &e.Body); err != nil {
				return err
			}
			l := postgres.LinkOf(seq, hash)
			e.Seq, e.Hash = l.Seq, l.Hash
			page = append(page, e)
			size += len(e.Body)
			more = len(page) == pageEntries || size > pageBytes
		}
		rows.Close()
		return rows.Err()
	})
	return page, more, err
}
