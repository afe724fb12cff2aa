package postgresjournal

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// A writing is a group being written: its writes to each month of its sessions.
type writing struct {
	shard   *shard
	parts   []*args
	entries int64
	// whole says that the parts are written atomically: a batch of several records.
	whole bool

	// One per record, in the order of the requests.
	named    []journal.Session
	known    []month // its known month, before the write
	put      []month // the month it is written to
	tenants  [][]byte
	sessions [][]byte
	lastSeqs []int64
	lasts    [][]byte
}

// writing sorts requests by the known months of their sessions. places are the least numbers in the
// order for the first entry of each record of a single request; nil if the database assigns the
// numbers.
func (s *shard) writing(requests []*request, places []int64) *writing {
	w := &writing{shard: s}
	here := s.homes.here()
	for _, r := range requests {
		for i := range r.batch.Records {
			rec := &r.batch.Records[i]
			known := s.homes.of(rec.Session)
			m := known
			if known == unborn {
				m = here
			}
			p := w.part(m, known == unborn)
			if i == 0 {
				for _, c := range r.batch.Contents {
					p.contents = append(p.contents, content{c, len(p.numbers)})
				}
				for _, left := range r.batch.Artifacts {
					p.artifacts = append(p.artifacts, artifact{left, len(p.numbers)})
				}
			}
			p.bears = p.bears || known == unborn
			p.add(rec)
			if places != nil {
				for k := range rec.Entries {
					p.entryIDs = append(p.entryIDs, places[i]+int64(k))
				}
			}
			w.note(rec, known, m)
		}
		if len(r.batch.Records) > 1 { // then it is the only request
			for _, p := range w.parts {
				p.need = len(p.numbers)
			}
			w.whole = len(w.parts) > 1
		}
	}
	for _, p := range w.parts {
		sortContents(p.contents)
		sortArtifacts(p.artifacts)
	}
	return w
}

// part returns the writes to a month. In the table from before months, new sessions are kept apart
// from those without a birth.
func (w *writing) part(m month, begins bool) *args {
	for _, p := range w.parts {
		if p.month == m && (m != 0 || p.bears == begins) {
			return p
		}
	}
	p := &args{month: m, bears: begins}
	w.parts = append(w.parts, p)
	return p
}

func (w *writing) note(r *journal.Record, known, m month) {
	last := r.Last()
	w.entries += int64(len(r.Entries))
	w.named = append(w.named, r.Session)
	w.known = append(w.known, known)
	w.put = append(w.put, m)
	w.tenants = append(w.tenants, []byte(r.Session.Tenant))
	w.sessions = append(w.sessions, []byte(r.Session.ID))
	w.lastSeqs = append(w.lastSeqs, int64(last.Seq))
	w.lasts = append(w.lasts, last.Hash[:])
}

// commit writes everything in one transaction and returns the number of entries. It returns only
// after the server has committed.
func (w *writing) commit(ctx context.Context, c *pgx.Conn) (int64, error) {
	if !w.whole {
		return w.insert(ctx, c)
	}
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	n, err := w.insert(ctx, c)
	if err == nil && n == w.entries {
		_, err = c.Exec(ctx, "COMMIT")
		return n, err
	}
	postgres.ForgetTenants(c) // the setting was rolled back
	if back := rollback(ctx, c); back != nil {
		return 0, errors.Join(err, back)
	}
	return 0, err
}

// insert writes everything in the caller's transaction and returns the number of entries. Without
// one, the statements are sent together, which makes them a transaction.
func (w *writing) insert(ctx context.Context, c *pgx.Conn) (n int64, err error) {
	setting := postgres.SettingOf(c, func() string { return tenantsOf(w.parts...) })
	act := setting.Needed()
	if !act && len(w.parts) == 1 && w.parts[0].bare() {
		tag, err := w.parts[0].exec(ctx, c, w.shard.homes.text(w.parts[0].month))
		return tag.RowsAffected(), err
	}
	// Statements sent together without a BEGIN are one transaction.
	var batch pgx.Batch
	var counts []int // which of them add entries
	if act {
		setting.Queue(&batch)
	}
	for _, p := range w.parts {
		counts = append(counts, batch.Len())
		p.queue(&batch, w.shard.homes.text(p.month))
	}
	results := c.SendBatch(ctx, &batch)
	for i := 0; i < batch.Len() && err == nil; i++ {
		var tag pgconn.CommandTag
		if tag, err = results.Exec(); slices.Contains(counts, i) {
			n += tag.RowsAffected()
		}
	}
	// The commit comes last, so its result is known only here.
	if closed := results.Close(); err == nil {
		err = closed
	}
	if err == nil {
		setting.Done()
	}
	return n, err
}

// remember records the months of the written sessions.
func (w *writing) remember() {
	for i, s := range w.named {
		if w.known[i] != w.put[i] {
			w.shard.homes.set(s, w.put[i])
		}
	}
}

// moved looks up the sessions' months, and reports whether any differs from the known month, so that
// the write has to be retried there.
func (w *writing) moved(ctx context.Context, c *pgx.Conn) (moved bool, err error) {
	if err := postgres.ActsAs(ctx, c, tenantsOf(w.parts...)); err != nil {
		return false, err
	}
	rows, err := c.Query(ctx, homesSQL, w.tenants, w.sessions)
	if err != nil {
		return false, err
	}
	now, err := pgx.CollectRows(rows, pgx.RowTo[month])
	if err != nil {
		return false, err
	}
	for i, m := range now {
		w.shard.homes.set(w.named[i], m)
		if m != w.known[i] && (m != w.put[i] || m == 0) {
			moved = true
		}
	}
	return moved, nil
}

// present returns for each record whether it exists.
func (w *writing) present(ctx context.Context, c *pgx.Conn) ([]bool, error) {
	if err := postgres.ActsAs(ctx, c, tenantsOf(w.parts...)); err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, presentSQL, w.tenants, w.sessions, w.lastSeqs, w.lasts)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[bool])
}
