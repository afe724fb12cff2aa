package postgresjournal

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// What one statement brings.
const (
	// maxSharedWord bounds one word of a shared statement: most have some hundred
	// bytes, and longer ones do not lie with their rows.
	maxSharedWord = 4 << 10
	// maxSharedWords bounds the words of a shared statement, by those of each key if
	// several tenants share it: one must not leave less for the others. A key may have
	// minSharedWords in any case, and maxKeyWords at most.
	maxSharedWords = 4096
	minSharedWords = 8
	maxKeyWords    = 1024
	// maxApartBytes bounds what a tenant's own statement brings, with wordBytes for
	// each word beside its own: sessions take each other's words into theirs, so there
	// are few under one key.
	maxApartBytes = 64 << 20
	wordBytes     = 512
)

// sharedSQL finds the words under keys, of several tenants: of each key one more than
// may be, and without those that are too long; and in all no more than so many.
const sharedSQL = `
SELECT a.tenant, a.key, a.session, a.seq, CASE WHEN octet_length(a.body) <= $4::int THEN a.body END
FROM unnest($1::bytea[], $2::bytea[]) AS x (tenant, key)
CROSS JOIN LATERAL (SELECT a.tenant, a.key, a.session, a.seq, a.body FROM artifacts a
    WHERE a.tenant = x.tenant AND a.key = x.key LIMIT $3::int) a
LIMIT $5::int`

// apartSQL finds the words under keys, up to so many bytes. What comes behind them
// has no body.
const apartSQL = `
SELECT a.tenant, a.key, a.session, a.seq,
    CASE WHEN sum(octet_length(a.body) + $4::int) OVER (ROWS UNBOUNDED PRECEDING) <= $3::bigint THEN a.body END
FROM unnest($1::bytea[], $2::bytea[]) AS x (tenant, key)
CROSS JOIN LATERAL (SELECT a.tenant, a.key, a.session, a.seq, a.body FROM artifacts a
    WHERE a.tenant = x.tenant AND a.key = x.key OFFSET 0) a
LIMIT $3::bigint / $4::int + 1`

// A word is under which name artifacts lie.
type word struct {
	tenant string
	key    floodmark.Digest
}

// A wanted is what a group asks for: each word once, and who asks for it.
type wanted struct {
	who           map[word][]*asking
	tenants, keys [][]byte
	names         []string // of the tenants
}

func wantedBy(group []*asking) *wanted {
	w := &wanted{who: map[word][]*asking{}}
	for _, a := range group {
		if !slices.Contains(w.names, a.tenant) {
			w.names = append(w.names, a.tenant)
		}
		for _, k := range a.keys {
			one := word{a.tenant, k}
			if len(w.who[one]) == 0 {
				w.tenants, w.keys = append(w.tenants, []byte(a.tenant)), append(w.keys, k[:])
			}
			if !slices.Contains(w.who[one], a) {
				w.who[one] = append(w.who[one], a)
			}
		}
	}
	slices.Sort(w.names)
	return w
}

// bounds are how many words a shared statement may bring, of each key and in all. The
// zero bounds are none.
type bounds struct{ each, all int }

func (w *wanted) bounds() bounds {
	if len(w.names) == 1 {
		return bounds{maxKeyWords, maxSharedWords}
	}
	keys := max(1, len(w.keys))
	each := min(maxKeyWords, max(minSharedWords, maxSharedWords/keys))
	// A key brings one more than it may, which says that there are more. All of them
	// together fit: what one tenant has too much is never missing at another.
	return bounds{each, (each + 1) * keys}
}

// lookUp implements [look]. What is left behind of a session that was moved to
// another database does not count.
func (s *shard) lookUp(within time.Duration, group []*asking, shared bool) (took map[string]portion, err error) {
	w := wantedBy(group)
	sql, args, most := apartSQL, []any{w.tenants, w.keys, s.apartBytes, wordBytes}, bounds{}
	if shared {
		most = w.bounds()
		sql, args = sharedSQL, []any{w.tenants, w.keys, most.each + 1, maxSharedWord, most.all + 1}
	}
	err = s.readWithin(context.Background(), within, tenantList(w.names...), func(ctx context.Context, c *pgxpool.Conn) error {
		for _, a := range group {
			a.found = nil // of a try before
		}
		took = make(map[string]portion, len(w.names))
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return s.takeWords(rows, w, most, took)
	})
	return took, err
}

// takeWords hands each word to the lookups that asked for it. Lookups of the same word share its
// bytes, which must not be changed.
func (s *shard) takeWords(rows pgx.Rows, w *wanted, most bounds, took map[string]portion) error {
	count, all := map[word]int{}, 0
	var tenant, key, session, body []byte
	var seq int64
	_, err := pgx.ForEachRow(rows, []any{&tenant, &key, &session, &seq, &body}, func() error {
		one := word{string(tenant), floodmark.Digest(key)}
		count[one]++
		all++
		of := took[one.tenant]
		of.bytes += len(body) + wordBytes
		of.over = of.over || body == nil || most.each > 0 && count[one] > most.each
		took[one.tenant] = of
		if of.over {
			return nil // it is asked for apart, or refused
		}
		found := journal.Artifact{Tenant: one.tenant, Key: one.key, Session: floodmark.SessionID(session), Seq: uint64(seq)}
		if !s.holds(journal.Session{Tenant: one.tenant, ID: found.Session}) {
			return nil
		}
		found.Body = body // it is made anew for each row
		for _, a := range w.who[one] {
			a.found = append(a.found, found)
		}
		return nil
	})
	if most.all > 0 && all > most.all { // cut off: any tenant's words may be missing
		for _, tenant := range w.names {
			of := took[tenant]
			of.over = true
			took[tenant] = of
		}
	}
	return err
}
