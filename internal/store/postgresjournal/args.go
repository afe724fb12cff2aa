package postgresjournal

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// args are the writes to one month, as columns.
type args struct {
	month month
	bears bool // some sessions may begin
	need  int  // records that must follow, or nothing is written

	// One per record.
	numbers  []int32
	tenants  [][]byte
	sessions [][]byte
	afters   []int64
	follows  [][]byte
	lastSeqs []int64
	lasts    [][]byte

	// One per entry.
	entryNumbers []int32
	entrySeqs    []int64
	entryAts     []int64
	entryHashes  [][]byte
	entryKinds   []string
	entryBodies  [][]byte
	entryIDs     []int64 // their numbers in the order; nil if the database assigns them

	snapshots snapshotArgs
	contents  []content
	artifacts []artifact
}

type snapshotArgs struct {
	tenants, sessions [][]byte
	seqs              []int64
	hashes, bodies    [][]byte
}

// A content is a content of a batch, with the number of the record that brought it.
type content struct {
	journal.Content
	record int
}

// sortContents sorts contents into the locking order of all writers.
func sortContents(list []content) {
	slices.SortStableFunc(list, func(x, y content) int {
		if n := bytes.Compare(x.Digest[:], y.Digest[:]); n != 0 {
			return n
		}
		return bytes.Compare([]byte(x.Tenant), []byte(y.Tenant))
	})
}

func (a *args) add(r *journal.Record) {
	no := int32(len(a.numbers))
	tenant, session := []byte(r.Session.Tenant), []byte(r.Session.ID)
	last := r.Last()
	a.numbers = append(a.numbers, no)
	a.tenants = append(a.tenants, tenant)
	a.sessions = append(a.sessions, session)
	a.afters = append(a.afters, int64(r.After.Seq))
	a.follows = append(a.follows, r.After.Hash[:])
	a.lastSeqs = append(a.lastSeqs, int64(last.Seq))
	a.lasts = append(a.lasts, last.Hash[:])
	for i := range r.Entries {
		e := &r.Entries[i]
		a.entryNumbers = append(a.entryNumbers, no)
		a.entrySeqs = append(a.entrySeqs, int64(e.Seq))
		a.entryAts = append(a.entryAts, e.At)
		a.entryHashes = append(a.entryHashes, e.Hash[:])
		a.entryKinds = append(a.entryKinds, e.Kind)
		a.entryBodies = append(a.entryBodies, postgres.NotNull(e.Body))
	}
	if len(r.Snapshot) > 0 {
		s := &a.snapshots
		s.tenants = append(s.tenants, tenant)
		s.sessions = append(s.sessions, session)
		s.seqs = append(s.seqs, int64(last.Seq))
		s.hashes = append(s.hashes, last.Hash[:])
		s.bodies = append(s.bodies, r.Snapshot)
	}
}

// bare reports whether there are only entries that the database numbers.
func (a *args) bare() bool {
	return len(a.snapshots.seqs) == 0 && len(a.contents) == 0 && len(a.artifacts) == 0 && a.entryIDs == nil
}

// exec writes bare args.
func (a *args) exec(ctx context.Context, c *pgx.Conn, t *texts) (pgconn.CommandTag, error) {
	switch {
	case a.bears:
		return c.Exec(ctx, t.bear, a.many()...)
	case len(a.entrySeqs) == 1:
		return c.Exec(ctx, t.insertOne, a.one()...)
	}
	return c.Exec(ctx, t.insert, a.many()...)
}

// queue adds the statements for all of it; the first one adds the entries.
func (a *args) queue(batch *pgx.Batch, t *texts) {
	switch {
	case a.entryIDs == nil && a.bears:
		batch.Queue(t.bear, a.many()...)
	case a.entryIDs == nil:
		batch.Queue(t.insert, a.many()...)
	case a.bears:
		batch.Queue(t.bearAt, append(a.many(), a.entryIDs)...)
	default:
		batch.Queue(t.insertAt, append(a.many(), a.entryIDs)...)
	}
	if s := a.snapshots; len(s.seqs) > 0 {
		batch.Queue(t.snapshot, s.tenants, s.sessions, s.seqs, s.hashes, s.bodies)
	}
	if len(a.contents) > 0 {
		batch.Queue(t.content, a.contentColumns()...)
	}
	a.queueArtifacts(batch, t)
}

func (a *args) one() []any {
	return []any{
		a.tenants[0], a.sessions[0], a.afters[0], a.follows[0],
		a.entrySeqs[0], a.entryAts[0], a.entryHashes[0], a.entryKinds[0], a.entryBodies[0],
	}
}

func (a *args) many() []any {
	return []any{
		a.numbers, a.tenants, a.sessions, a.afters, a.follows,
		a.entryNumbers, a.entrySeqs, a.entryAts, a.entryHashes, a.entryKinds, a.entryBodies, a.need,
	}
}

func (a *args) contentColumns() []any {
	n := len(a.contents)
	tenants, digests, postings := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	byTenants, bySessions := make([][]byte, n), make([][]byte, n)
	bySeqs := make([]int64, n)
	for i := range a.contents {
		c := &a.contents[i]
		tenants[i], digests[i], postings[i] = []byte(c.Tenant), c.Digest[:], postgres.NotNull(c.Postings)
		byTenants[i], bySessions[i] = a.tenants[c.record], a.sessions[c.record]
		bySeqs[i] = a.lastSeqs[c.record]
	}
	return []any{tenants, digests, postings, byTenants, bySessions, bySeqs}
}

// tenantsOf returns the tenants of some writes, as [postgres.ActsAs] takes them.
func tenantsOf(parts ...*args) string {
	var list []string
	last := ""
	add := func(t string) {
		if len(list) > 0 && t == last {
			return
		}
		last = t
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	for _, a := range parts {
		for _, t := range a.tenants {
			add(string(t))
		}
		for i := range a.contents {
			add(a.contents[i].Tenant)
		}
		for i := range a.artifacts {
			add(a.artifacts[i].Tenant)
		}
	}
	slices.Sort(list)
	return postgres.TenantList(list...)
}
