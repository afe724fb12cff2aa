package postgresjournal

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// The limits of one statement.
const (
	// maxSharedWord bounds one word of a shared statement: most have some hundred bytes, and longer
	// ones are stored apart from their rows.
	maxSharedWord = 4 << 10
	// maxSharedWords bounds the words of a shared statement. If several tenants share it, the bound
	// is divided among the keys, so that one tenant does not leave less for the others. A key may
	// always have minSharedWords, and at most maxKeyWords.
	maxSharedWords = 4096
	minSharedWords = 8
	maxKeyWords    = 1024
	// maxApartBytes bounds the words in a tenant's own statement, with wordBytes added for each.
	// Sessions take over each other's words, so there are few under one key.
	maxApartBytes = 64 << 20
	wordBytes     = 512
)

// sharedSQL finds the words under keys of several tenants: for each key up to one more than its
// limit, without the bodies of long words, and up to a limit in all.
const sharedSQL = `
SELECT a.tenant, a.key, a.session, a.seq, CASE WHEN octet_length(a.body) <= $4::int THEN a.body END
FROM unnest($1::bytea[], $2::bytea[]) AS x (tenant, key)
CROSS JOIN LATERAL (SELECT a.tenant, a.key, a.session, a.seq, a.body FROM artifacts a
    WHERE a.tenant = x.tenant AND a.key = x.key LIMIT $3::int) a
LIMIT $5::int`

// apartSQL finds the words under keys, up to a number of bytes. Further ones have no body.
const apartSQL = `
SELECT a.tenant, a.key, a.session, a.seq,
    CASE WHEN sum(octet_length(a.body) + $4::int) OVER (ROWS UNBOUNDED PRECEDING) <= $3::bigint THEN a.body END
FROM unnest($1::bytea[], $2::bytea[]) AS x (tenant, key)
CROSS JOIN LATERAL (SELECT a.tenant, a.key, a.session, a.seq, a.body FROM artifacts a
    WHERE a.tenant = x.tenant AND a.key = x.key OFFSET 0) a
LIMIT $3::bigint / $4::int + 1`

// A word is the name under which artifacts are stored.
type word struct {
	tenant string
	key    floodmark.Digest
}

// A wanted is what a group looks up: each word once, with its lookups.
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

// bounds are the limits of a shared statement's words, for each key and in all. Zero means none.
type bounds struct{ each, all int }

func (w *wanted) bounds() bounds {
	if len(w.names) == 1 {
		return bounds{maxKeyWords, maxSharedWords}
	}
	keys := max(1, len(w.keys))
	each := min(maxKeyWords, max(minSharedWords, maxSharedWords/keys))
	// A key yields one more than its limit, which shows that there are more. All of them together
	// fit, so one tenant's excess never hides another's words.
	return bounds{each, (each + 1) * keys}
}

// lookUp implements [look]. It ignores rows that were left when a session was moved elsewhere.
func (s *shard) lookUp(within time.Duration, group []*asking, shared bool) (took map[string]portion, err error) {
	w := wantedBy(group)
	sql, args, most := apartSQL, []any{w.tenants, w.keys, s.apartBytes, wordBytes}, bounds{}
	if shared {
		most = w.bounds()
		sql, args = sharedSQL, []any{w.tenants, w.keys, most.each + 1, maxSharedWord, most.all + 1}
	}
	err = s.ReadWithin(context.Background(), within, postgres.TenantList(w.names...), func(ctx context.Context, c *pgxpool.Conn) error {
		for _, a := range group {
			a.found = nil // of an earlier try
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
			return nil // it is looked up apart, or refused
		}
		found := journal.Artifact{Tenant: one.tenant, Key: one.key, Session: floodmark.SessionID(session), Seq: uint64(seq)}
		if !s.holds(journal.Session{Tenant: one.tenant, ID: found.Session}) {
			return nil
		}
		found.Body = body // a new slice for each row
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
