package postgresjournal

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// leaveSQL stores a session's artifact if it is newer.
const leaveSQL = `
INSERT INTO artifacts AS old (tenant, key, session, seq, body)
SELECT x.owner, x.key, x.writer, x.version, x.body
FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[])
    AS x (owner, key, writer, version, body, tenant, session, seq)` + newSQL + `
ON CONFLICT (tenant, key, session) DO UPDATE
SET seq = excluded.seq, body = excluded.body
WHERE old.seq < excluded.seq`

// takeBackSQL removes artifacts up to a version.
const takeBackSQL = `
DELETE FROM artifacts a USING (
    SELECT x.owner, x.key, x.writer, x.version
    FROM unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bigint[])
        AS x (owner, key, writer, version, body, tenant, session, seq)` + newSQL + `) g
WHERE a.tenant = g.owner AND a.key = g.key AND a.session = g.writer AND a.seq <= g.version`

// meetSQL locks the artifacts a batch writes and removes, in the locking order of all writers. Two
// sessions that take over each other's artifact would otherwise deadlock, until the server ends one
// after a second.
const meetSQL = `
SELECT FROM artifacts a JOIN unnest($1::bytea[], $2::bytea[], $3::bytea[]) AS x (owner, key, writer)
    ON a.tenant = x.owner AND a.key = x.key AND a.session = x.writer
ORDER BY a.key, a.tenant, a.session
FOR UPDATE OF a`

// An artifact is an artifact of a batch, with the number of the record that brought it.
type artifact struct {
	journal.Artifact
	record int
}

// sortArtifacts sorts artifacts into the locking order of all writers.
func sortArtifacts(list []artifact) {
	slices.SortStableFunc(list, func(x, y artifact) int {
		return cmp.Or(bytes.Compare(x.Key[:], y.Key[:]), strings.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Session, y.Session))
	})
}

// queueArtifacts adds the statements that write and remove artifacts.
func (a *args) queueArtifacts(b *pgx.Batch, t *texts) {
	var left, gone []artifact
	for _, x := range a.artifacts { // in order, because a removed artifact may be written again
		if !x.Gone() {
			left = append(left, x)
			continue
		}
		same := func(o artifact) bool { return o.Key == x.Key && o.Tenant == x.Tenant && o.Session == x.Session }
		gone, left = append(gone, x), slices.DeleteFunc(left, func(o artifact) bool { return same(o) && o.Seq <= x.Seq })
	}
	if len(gone) > 0 {
		b.Queue(meetSQL, a.artifactColumns(a.artifacts)[:3]...)
		b.Queue(t.takeBack, a.artifactColumns(gone)...)
	}
	if len(left) > 0 {
		b.Queue(t.leave, a.artifactColumns(left)...)
	}
}

func (a *args) artifactColumns(list []artifact) []any {
	n := len(list)
	tenants, keys, sessions, bodies := make([][]byte, n), make([][]byte, n), make([][]byte, n), make([][]byte, n)
	byTenants, bySessions := make([][]byte, n), make([][]byte, n)
	seqs, bySeqs := make([]int64, n), make([]int64, n)
	for i := range list {
		x := &list[i]
		tenants[i], keys[i], sessions[i], bodies[i] = []byte(x.Tenant), x.Key[:], []byte(x.Session), postgres.NotNull(x.Body)
		seqs[i], bySeqs[i] = int64(x.Seq), a.lastSeqs[x.record]
		byTenants[i], bySessions[i] = a.tenants[x.record], a.sessions[x.record]
	}
	return []any{tenants, keys, sessions, seqs, bodies, byTenants, bySessions, bySeqs}
}

// Artifacts implements [journal.Journal].
func (j *Journal) Artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) ([]journal.Artifact, error) {
	if j.closed.Load() {
		return nil, journal.ErrClosed
	}
	all := make([][]journal.Artifact, len(j.shards))
	err := j.each(func(i int, s *shard) (err error) {
		all[i], err = s.artifacts(ctx, tenant, keys)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what sessions left behind: %w", err)
	}
	return slices.Concat(all...), nil
}

func (s *shard) artifacts(ctx context.Context, tenant string, keys []floodmark.Digest) (found []journal.Artifact, err error) {
	for some := range slices.Chunk(keys, maxAsked) {
		more, err := s.lookups.find(ctx, tenant, some)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}
