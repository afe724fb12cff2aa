package postgresjournal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// In a statement for a month {from} is its table to read and {into} its table to write: see
// [textsOf].

// followsSQL is true for a row r (tenant, session, after, hash) that names its session's last entry,
// if that entry is in this month and after every tombstone. The table's key refuses a second entry
// with the same number, and followsSQL refuses a gap. The followed entry must be committed already,
// so no entry follows one that may vanish. All entries of a session are in the same month.
const followsSQL = `
LEFT JOIN LATERAL (SELECT t.seq FROM tombstones t
    WHERE t.tenant = r.tenant AND t.session = r.session LIMIT 1) t ON true
CROSS JOIN LATERAL (SELECT f.seq, f.hash FROM {from} f
    WHERE f.tenant = r.tenant AND f.session = r.session AND f.seq >= r.after
    ORDER BY f.seq DESC LIMIT 1) f
WHERE coalesce(t.seq, 0) < r.after AND f.seq = r.after AND f.hash = r.hash
    AND NOT EXISTS (SELECT FROM barrier)`

// beginsSQL is also true for a row r of a session that is in no month, because the session is new or
// continues after the tombstone that r names. Sessions from before there were months have no birth.
const beginsSQL = `
LEFT JOIN LATERAL (SELECT t.seq, t.hash FROM tombstones t
    WHERE t.tenant = r.tenant AND t.session = r.session LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT b.month FROM births b
    WHERE b.tenant = r.tenant AND b.session = r.session LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT f.seq, f.hash FROM {from} f
    WHERE b.month = {month} AND f.tenant = r.tenant AND f.session = r.session AND f.seq >= r.after
    ORDER BY f.seq DESC LIMIT 1) f ON true
WHERE CASE WHEN b.month IS NULL
        THEN coalesce(t.seq, 0) = r.after AND coalesce(t.hash, decode(repeat('00', 32), 'hex')) = r.hash
            AND NOT EXISTS (SELECT FROM ONLY facts o WHERE o.tenant = r.tenant AND o.session = r.session AND o.seq > r.after)
        ELSE b.month = {month} AND coalesce(t.seq, 0) < r.after AND f.seq = r.after AND f.hash = r.hash END
    AND NOT EXISTS (SELECT FROM barrier)`

// insertOneSQL appends one entry.
const insertOneSQL = `
INSERT INTO {into} (tenant, session, seq, at, hash, kind, body)
SELECT r.tenant, r.session, $5::bigint, $6::bigint, $7::bytea, $8::text, $9::bytea
FROM (VALUES ($1::bytea, $2::bytea, $3::bigint, $4::bytea)) AS r (tenant, session, after, hash)` + followsSQL

// recordsSQL yields records as rows. entriesSQL inserts the entries of the records in ok, if ok has
// at least $12 records.
const (
	recordsSQL = `FROM unnest($1::int[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[])
        AS r (no, tenant, session, after, hash)`
	entriesSQL = `
INSERT INTO {into} (tenant, session, seq, at, hash, kind, body)
SELECT ok.tenant, ok.session, e.seq, e.at, e.hash, e.kind, e.body
FROM unnest($6::int[], $7::bigint[], $8::bigint[], $9::bytea[], $10::text[], $11::bytea[])
    AS e (no, seq, at, hash, kind, body)
JOIN ok USING (no)
WHERE (SELECT count(*) FROM ok) >= $12::int`
	// entriesAtSQL gives the entries the numbers in $13, or higher ones if the order is already past
	// these.
	entriesAtSQL = `
INSERT INTO {into} (tenant, session, seq, at, hash, kind, body, id)
SELECT ok.tenant, ok.session, e.seq, e.at, e.hash, e.kind, e.body, greatest(nextval('written'), e.id)
FROM unnest($6::int[], $7::bigint[], $8::bigint[], $9::bytea[], $10::text[], $11::bytea[], $13::bigint[])
    AS e (no, seq, at, hash, kind, body, id)
JOIN ok USING (no)
WHERE (SELECT count(*) FROM ok) >= $12::int`
	// bornSQL replaces {born} and records births. For the table facts itself the database does that
	// (migration 8).
	bornSQL = `, born AS (
    INSERT INTO births (tenant, session, month) SELECT ok.tenant, ok.session, {month} FROM ok
    WHERE ok.unborn AND (SELECT count(*) FROM ok) >= $12::int)`
)

// insertSQL appends the entries of records that continue their session. bearSQL also appends those
// of records that begin one.
const (
	insertSQL = `WITH ok AS MATERIALIZED (
    SELECT r.no, r.tenant, r.session ` + recordsSQL + followsSQL + `)` + entriesSQL
	insertAtSQL = `WITH ok AS MATERIALIZED (
    SELECT r.no, r.tenant, r.session ` + recordsSQL + followsSQL + `)` + entriesAtSQL
	bearSQL = `WITH ok AS MATERIALIZED (
    SELECT r.no, r.tenant, r.session, b.month IS NULL AS unborn ` + recordsSQL + beginsSQL + `){born}` + entriesSQL
	bearAtSQL = `WITH ok AS MATERIALIZED (
    SELECT r.no, r.tenant, r.session, b.month IS NULL AS unborn ` + recordsSQL + beginsSQL + `){born}` + entriesAtSQL
)

// newSQL is true if this transaction has written the entry x (tenant, session, seq). What came with
// an entry that existed before is not written again.
const newSQL = `
WHERE (SELECT f.xmin FROM {from} f
    WHERE f.tenant = x.tenant AND f.session = x.session AND f.seq = x.seq) = pg_current_xact_id_if_assigned()::xid`

// homesSQL yields for each record its session's month; -1 for none.
const homesSQL = `
SELECT coalesce(b.month, CASE WHEN EXISTS (SELECT FROM ONLY facts o WHERE o.tenant = r.tenant AND o.session = r.session
    AND o.seq > coalesce((SELECT t.seq FROM tombstones t WHERE t.tenant = r.tenant AND t.session = r.session), 0)) THEN 0 ELSE -1 END)
FROM unnest($1::bytea[], $2::bytea[]) WITH ORDINALITY AS r (tenant, session, no)
LEFT JOIN LATERAL (SELECT b.month FROM births b
    WHERE b.tenant = r.tenant AND b.session = r.session LIMIT 1) b ON true
ORDER BY r.no`

// snapshotSQL stores a snapshot if it is newer.
const snapshotSQL = `
INSERT INTO snapshots AS old (tenant, session, seq, hash, body)
SELECT x.tenant, x.session, x.seq, x.hash, x.body
FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[], $5::bytea[])
    AS x (tenant, session, seq, hash, body)` + newSQL + `
ON CONFLICT (tenant, session) DO UPDATE
SET seq = excluded.seq, hash = excluded.hash, body = excluded.body
WHERE old.seq < excluded.seq`

// contentSQL stores a content if it is missing.
const contentSQL = `
INSERT INTO contents (tenant, digest, postings)
SELECT x.owner, x.digest, x.postings
FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[])
    AS x (owner, digest, postings, tenant, session, seq)` + newSQL + `
ON CONFLICT DO NOTHING`

// presentSQL yields for each last entry of a record whether it exists.
const presentSQL = `
SELECT EXISTS (SELECT FROM facts f
        WHERE f.tenant = r.tenant AND f.session = r.session AND f.seq = r.seq AND f.hash = r.hash)
    AND NOT EXISTS (SELECT FROM tombstones t
        WHERE t.tenant = r.tenant AND t.session = r.session AND t.seq >= r.seq)
FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::bytea[]) WITH ORDINALITY
    AS r (tenant, session, seq, hash, no)
ORDER BY r.no`

// settle writes a group and answers each request. An append can be repeated: existing entries are
// found, and the key waits for what another backend may still commit. So doubt is resolved by
// retries, as long as there is time.
func (s *shard) settle(requests []*request) {
	ctx, cancel := context.WithTimeout(context.Background(), s.Timeout())
	defer cancel()
	// All writers lock sessions in the same order.
	slices.SortFunc(requests, func(a, b *request) int {
		x, y := a.batch.Records[0].Session, b.batch.Records[0].Session
		return cmp.Or(strings.Compare(x.Tenant, y.Tenant), cmp.Compare(x.ID, y.ID))
	})
	s.settleBy(ctx, requests, false)
}

func (s *shard) settleBy(ctx context.Context, requests []*request, doubt bool) {
	pause := postgres.FirstPause
	var why error
	for try := 0; ; try++ {
		answers, err := s.attempt(ctx, requests)
		if err == nil {
			for i, r := range requests {
				s.queue.answer(r, answers[i])
			}
			return
		}
		how := postgres.OutcomeOf(err)
		doubt = doubt || how == postgres.Doubtful
		why = postgres.Because(why, err, ctx.Err() != nil)
		// After a conflict the retry finds out which writer won. A request that is refused, or in
		// conflict again, is retried alone: the others must not suffer.
		apart := how == postgres.Refused || (how == postgres.Contended && try > 0)
		switch {
		case apart && len(requests) > 1:
			for _, r := range requests {
				s.settleBy(ctx, []*request{r}, doubt)
			}
			return
		case how == postgres.Refused:
			s.queue.answer(requests[0], failed(err, doubt))
			return
		}
		if how == postgres.Contended && try == 0 {
			continue // the other has committed by now
		}
		select {
		case <-ctx.Done():
			for _, r := range requests {
				s.queue.answer(r, failed(why, doubt))
			}
			return
		case <-time.After(pause):
			pause = min(2*pause, postgres.LongPause)
		}
	}
}

func failed(err error, doubt bool) error {
	if doubt {
		return fmt.Errorf("%w: %w", journal.ErrInDoubt, err)
	}
	return fmt.Errorf("append: %w", err)
}

// maxMoves is how often a group is retried because a session is in another month than known.
const maxMoves = 3

// attempt writes a group in one transaction and returns the result of each request.
func (s *shard) attempt(ctx context.Context, requests []*request) (answers []error, err error) {
	answers = make([]error, len(requests))
	err = s.Write(ctx, func(c *pgx.Conn) error {
		var w *writing
		for range maxMoves {
			w = s.writing(requests, nil)
			n, err := w.commit(ctx, c)
			if err == nil && n == w.entries {
				w.remember()
				return nil
			}
			if err != nil && !isGone(err) {
				return err
			}
			// Some records do not follow. Either their session is in another month, perhaps because
			// the known month was dropped, or they exist already, or other entries are in their
			// place.
			moved, looked := w.moved(ctx, c)
			if looked != nil {
				return fmt.Errorf("%w: %w", postgres.ErrAfterwards, looked)
			}
			if !moved && err != nil {
				return err
			}
			if !moved {
				break
			}
		}
		there, err := w.present(ctx, c)
		if err == nil && slices.Contains(there, true) {
			// It may have been committed without waiting for the replica.
			_, err = c.Exec(ctx, postgres.SettledSQL)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", postgres.ErrAfterwards, err)
		}
		fill(answers, requests, there)
		return nil
	})
	return answers, err
}

// fill answers each request by whether all its records exist.
func fill(answers []error, requests []*request, there []bool) {
	for i, r := range requests {
		n := len(r.batch.Records)
		if slices.Contains(there[:n], false) {
			answers[i] = journal.ErrConflict
		}
		there = there[n:]
	}
}
