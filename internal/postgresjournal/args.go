package postgresjournal

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/floodmark/floodmark/journal"
)

// args are a group of requests as columns.
type args struct {
	need int // records that must follow, or nothing is written

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
	entryIDs     []int64 // their places in the order; nil where the database says

	snapshots snapshotArgs
	contents  []content
	artifacts []artifact
}

type snapshotArgs struct {
	tenants, sessions [][]byte
	seqs              []int64
	hashes, bodies    [][]byte
}

// A content with the number of the record that brought it.
type content struct {
	journal.Content
	record int
}

func argsOf(requests []*request) *args {
	a := &args{}
	for _, r := range requests {
		if len(r.batch.Records) > 1 {
			a.need = len(r.batch.Records) // then it is alone
		}
		for _, c := range r.batch.Contents {
			a.contents = append(a.contents, content{c, len(a.numbers)})
		}
		for _, left := range r.batch.Artifacts {
			a.artifacts = append(a.artifacts, artifact{left, len(a.numbers)})
		}
		for i := range r.batch.Records {
			a.add(&r.batch.Records[i])
		}
	}
	slices.SortStableFunc(a.contents, func(x, y content) int {
		if n := bytes.Compare(x.Digest[:], y.Digest[:]); n != 0 {
			return n
		}
		return bytes.Compare([]byte(x.Tenant), []byte(y.Tenant))
	})
	sortArtifacts(a.artifacts)
	return a
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
		a.entryBodies = append(a.entryBodies, notNull(e.Body))
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

// notNull keeps an absent slice from becoming NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// insert writes everything in one transaction and returns how many entries
// there were. It returns only when the server has committed.
func (a *args) insert(ctx context.Context, c *pgx.Conn) (int64, error) {
	heard := noticesOf(c.PgConn())
	tenants := heard.tenants
	if heard.guarded {
		tenants = a.tenantsOf()
	}
	act := tenants != heard.tenants
	if !act && len(a.snapshots.seqs) == 0 && len(a.contents) == 0 && len(a.artifacts) == 0 && a.entryIDs == nil {
		var tag pgconn.CommandTag
		var err error
		if len(a.entrySeqs) == 1 {
			tag, err = c.Exec(ctx, insertOneSQL, a.one()...)
		} else {
			tag, err = c.Exec(ctx, insertSQL, a.many()...)
		}
		return tag.RowsAffected(), err
	}
	// Statements sent together without a begin are one transaction.
	var batch pgx.Batch
	if act {
		heard.tenants = otherTenants
		batch.Queue(actSQL, tenants)
	}
	if a.entryIDs == nil {
		batch.Queue(insertSQL, a.many()...)
	} else {
		batch.Queue(insertAtSQL, append(a.many(), a.entryIDs)...)
	}
	if s := a.snapshots; len(s.seqs) > 0 {
		batch.Queue(snapshotSQL, s.tenants, s.sessions, s.seqs, s.hashes, s.bodies)
	}
	if len(a.contents) > 0 {
		batch.Queue(contentSQL, a.contentColumns()...)
	}
	a.queueArtifacts(&batch)
	results := c.SendBatch(ctx, &batch)
	var tag pgconn.CommandTag
	var err error
	if act {
		_, err = results.Exec()
	}
	if err == nil {
		tag, err = results.Exec()
	}
	// The commit comes last, so its fate is known only here.
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil {
		heard.tenants = tenants
	}
	return tag.RowsAffected(), err
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
		tenants[i], digests[i], postings[i] = []byte(c.Tenant), c.Digest[:], notNull(c.Postings)
		byTenants[i], bySessions[i] = a.tenants[c.record], a.sessions[c.record]
		bySeqs[i] = a.lastSeqs[c.record]
	}
	return []any{tenants, digests, postings, byTenants, bySessions, bySeqs}
}

// present tells for each record whether it is there.
func (a *args) present(ctx context.Context, c *pgx.Conn) ([]bool, error) {
	if err := actsAs(ctx, c, a.tenantsOf()); err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, presentSQL, a.tenants, a.sessions, a.lastSeqs, a.lasts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[bool])
}
