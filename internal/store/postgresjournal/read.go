package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// A page is one read. A connection is held for a page, never while the caller processes it.
const (
	pageEntries = 512
	pageBytes   = 8 << 20
)

// maxPostings is how many contents are looked up at once.
const maxPostings = 1024

const beginSQL = `
SELECT s.seq, s.hash, s.body, t.seq, t.hash, t.trust, t.secrecy, t.at, t.why, t.note, b.month
FROM (VALUES ($1::bytea, $2::bytea)) AS r (tenant, session)
LEFT JOIN LATERAL (SELECT b.month FROM births b
    WHERE b.tenant = r.tenant AND b.session = r.session LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT * FROM tombstones t
    WHERE t.tenant = r.tenant AND t.session = r.session LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT * FROM snapshots s
    WHERE s.tenant = r.tenant AND s.session = r.session AND s.seq > coalesce(t.seq, 0) LIMIT 1) s ON true`

func (s *shard) begin(ctx context.Context, session journal.Session) (start journal.Start, err error) {
	if err := s.queue.left.wait(ctx, session); err != nil {
		return journal.Start{}, err
	}
	var seq, stoneSeq, at *int64
	var hash, body, stoneHash, note []byte
	var trust, secrecy, why *string
	var lies *int
	err = s.Read(ctx, postgres.TenantList(session.Tenant), func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, beginSQL, []byte(session.Tenant), []byte(session.ID)).
			Scan(&seq, &hash, &body, &stoneSeq, &stoneHash, &trust, &secrecy, &at, &why, &note, &lies)
	})
	if err != nil {
		return journal.Start{}, err
	}
	if lies != nil {
		s.homes.set(session, month(*lies))
	}
	if stoneSeq != nil {
		t := &journal.Tombstone{Session: session, Link: postgres.LinkOf(*stoneSeq, stoneHash), At: *at, Why: *why, Note: note}
		// An unknown word is an error, and the mark stays the safest.
		var errTrust, errSecrecy error
		t.Mark.Trust, errTrust = floodmark.ParseTrust(*trust)
		t.Mark.Secrecy, errSecrecy = floodmark.ParseSecrecy(*secrecy)
		if err := errors.Join(errTrust, errSecrecy); err != nil {
			return journal.Start{}, fmt.Errorf("tombstone: %w", err)
		}
		start.Tombstone, start.Link = t, t.Link
	}
	if seq != nil {
		start.Link, start.Snapshot = postgres.LinkOf(*seq, hash), body
	}
	return start, nil
}

// readSQL also yields the entry with number $3, without its body, because the next entry follows its
// hash. It yields at least one row, which has the tombstone and the session's month.
const readSQL = `
SELECT coalesce(b.month, 0), coalesce(t.seq, 0), t.hash, f.seq, f.at, f.hash, f.kind,
    CASE WHEN f.seq > greatest($3, t.seq) THEN f.body END
FROM (VALUES ($1::bytea, $2::bytea)) AS r (tenant, session)
LEFT JOIN LATERAL (SELECT b.month FROM births b
    WHERE b.tenant = r.tenant AND b.session = r.session LIMIT 1) b ON true
LEFT JOIN LATERAL (SELECT t.seq, t.hash FROM tombstones t
    WHERE t.tenant = r.tenant AND t.session = r.session LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT f.seq, f.at, f.hash, f.kind, f.body FROM {from} f
    WHERE f.tenant = r.tenant AND f.session = r.session AND f.seq >= greatest($3::bigint, t.seq)
    ORDER BY f.seq LIMIT $4::int) f ON true
ORDER BY f.seq`

// A page is a part of a session.
type page struct {
	lies    month        // the session's month, which may differ from the one read
	stone   journal.Link // zero if nothing was erased
	prev    *journal.Hash
	entries []journal.Entry
	more    bool
}

func (s *shard) entries(ctx context.Context, session journal.Session, after uint64, yield func(journal.Entry, error) bool) error {
	if after > math.MaxInt64 {
		return nil
	}
	if err := s.queue.left.wait(ctx, session); err != nil {
		return err
	}
	var first journal.Link
	for n := 0; ; n++ {
		var p page
		err := s.Read(ctx, postgres.TenantList(session.Tenant), func(ctx context.Context, c *pgxpool.Conn) (err error) {
			p, err = s.readHome(ctx, c, session, after)
			return err
		})
		if err != nil {
			return err
		}
		if n == 0 {
			first = p.stone
		} else if p.stone != first {
			return fmt.Errorf("%w: it was erased meanwhile", journal.ErrConflict)
		}
		after = max(after, p.stone.Seq)
		if err := p.chain(session, after); err != nil {
			return err
		}
		for _, e := range p.entries {
			if !yield(e, nil) {
				return nil
			}
		}
		if !p.more {
			return nil
		}
		after += uint64(len(p.entries))
	}
}

// readHome reads a page in the session's month. It compares the known month with the one that the
// read finds, because an erased session may continue in another month.
func (s *shard) readHome(ctx context.Context, c *pgxpool.Conn, session journal.Session, after uint64) (page, error) {
	m := max(s.homes.of(session), 0)
	for range maxMoves {
		p, err := readPage(ctx, c, s.homes.text(m).read, session, after)
		gone := isGone(err)
		if err != nil && !gone || err == nil && p.lies == m {
			return p, err
		}
		m = p.lies
		if gone {
			m = 0 // the table was dropped with all its rows
		}
		if m == 0 {
			s.homes.set(session, unborn) // or the session is from before there were months
		} else {
			s.homes.set(session, m)
		}
	}
	return page{}, fmt.Errorf("%w: it moves", journal.ErrConflict)
}

func readPage(ctx context.Context, c *pgxpool.Conn, sql string, session journal.Session, after uint64) (page, error) {
	var p page
	rows, err := c.Query(ctx, sql, []byte(session.Tenant), []byte(session.ID), int64(after), pageEntries)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	n, size := 0, 0
	for rows.Next() {
		var stone int64
		var seq, at *int64
		var stoneHash, hash, body []byte
		var kind *string
		if err := rows.Scan(&p.lies, &stone, &stoneHash, &seq, &at, &hash, &kind, &body); err != nil {
			return p, err
		}
		p.stone = postgres.LinkOf(stone, stoneHash)
		if seq == nil {
			break
		}
		l := postgres.LinkOf(*seq, hash)
		n++
		if l.Seq == max(after, p.stone.Seq) {
			p.prev = &l.Hash
			continue
		}
		p.entries = append(p.entries, journal.Entry{Seq: l.Seq, At: *at, Hash: l.Hash, Kind: *kind, Body: body})
		if size += len(body); size > pageBytes {
			p.more = true
			break
		}
	}
	p.more = p.more || n == pageEntries
	rows.Close()
	return p, rows.Err()
}

// chain fills in each entry's predecessor, and finds gaps.
func (p *page) chain(session journal.Session, after uint64) error {
	if len(p.entries) == 0 {
		return nil
	}
	var prev journal.Hash
	switch {
	case after == 0:
		prev = journal.Genesis(session)
	case after == p.stone.Seq:
		prev = p.stone.Hash
	case p.prev != nil:
		prev = *p.prev
	default:
		return fmt.Errorf("%w: entry %d is missing", journal.ErrBroken, after)
	}
	for i := range p.entries {
		e := &p.entries[i]
		if after++; e.Seq != after {
			return fmt.Errorf("%w: entry %d is missing", journal.ErrBroken, after)
		}
		e.Prev, prev = prev, e.Hash
	}
	return nil
}

const postingsSQL = `
SELECT d.digest, c.postings FROM unnest($2::bytea[]) AS d (digest)
CROSS JOIN LATERAL (SELECT c.postings FROM contents c WHERE c.tenant = $1 AND c.digest = d.digest LIMIT 1) c`

func (s *shard) postings(ctx context.Context, tenant string, contents []floodmark.Digest) (map[floodmark.Digest][]byte, error) {
	found := make(map[floodmark.Digest][]byte, len(contents))
	for len(contents) > 0 {
		part := contents[:min(len(contents), maxPostings)]
		contents = contents[len(part):]
		digests := make([][]byte, len(part))
		for i := range part {
			digests[i] = part[i][:]
		}
		err := s.Read(ctx, postgres.TenantList(tenant), func(ctx context.Context, c *pgxpool.Conn) error {
			rows, err := c.Query(ctx, postingsSQL, []byte(tenant), digests)
			if err != nil {
				return err
			}
			var digest, postings []byte
			_, err = pgx.ForEachRow(rows, []any{&digest, &postings}, func() error {
				found[floodmark.Digest(digest)] = postings
				postings = nil
				return nil
			})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
