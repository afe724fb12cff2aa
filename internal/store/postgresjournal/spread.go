package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/floodmark/floodmark/internal/store/postgres"
	"github.com/floodmark/floodmark/journal"
)

// A part is a batch's writes to one database.
type part struct {
	shard *shard
	batch journal.Batch
	// places are, for each record, the number of entries before it in the whole batch: the order of
	// writing spans all parts.
	places []int64
}

// split divides a batch by databases. The first part has its first record and the contents.
// Removals of artifacts in a database without a part are returned apart: there is no entry to write
// them with.
func (j *Journal) split(b journal.Batch) (parts []part, gone []journal.Artifact) {
	home := j.of(b.Records[0].Session)
	if len(j.shards) == 1 {
		return []part{{shard: home, batch: b}}, nil
	}
	parts = []part{{shard: home, batch: journal.Batch{Contents: b.Contents}}}
	at := func(s *shard) int { return slices.IndexFunc(parts, func(p part) bool { return p.shard == s }) }
	before := int64(0)
	for _, r := range b.Records {
		s := j.of(r.Session)
		i := at(s)
		if i < 0 {
			i = len(parts)
			parts = append(parts, part{shard: s})
		}
		parts[i].batch.Records = append(parts[i].batch.Records, r)
		parts[i].places = append(parts[i].places, before)
		before += int64(len(r.Entries))
	}
	for _, a := range b.Artifacts {
		if i := at(j.of(journal.Session{Tenant: a.Tenant, ID: a.Session})); i >= 0 {
			parts[i].batch.Artifacts = append(parts[i].batch.Artifacts, a)
		} else {
			gone = append(gone, a)
		}
	}
	// All writers lock databases in the same order.
	slices.SortFunc(parts[1:], func(a, b part) int { return a.shard.first - b.shard.first })
	return parts, gone
}

// maxSpread is how many batches of one node are written to several databases at once. Each such
// batch holds a connection to one database while it waits for another, so every database has
// maxSpread connections for them.
const maxSpread = 2

// spread writes a batch to several databases atomically. It continues after ctx ends; a read of one
// of the sessions then waits for it.
func (j *Journal) spread(ctx context.Context, b journal.Batch, parts []part) error {
	j.mu.RLock()
	if j.closed.Load() {
		j.mu.RUnlock()
		return journal.ErrClosed
	}
	j.spreads.Add(1)
	j.mu.RUnlock()
	select {
	case j.turns <- struct{}{}:
	case <-ctx.Done():
		j.spreads.Done()
		return ctx.Err()
	}
	r := newRequest(b)
	go func() {
		defer j.spreads.Done()
		defer func() { <-j.turns }()
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), parts[0].shard.Timeout())
		defer cancel()
		r.err = j.spreadBy(within, parts)
		close(r.done)
		for _, p := range parts {
			p.shard.queue.left.remove(r)
		}
	}()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	waits := false
	for _, p := range parts {
		waits = p.shard.queue.left.add(r) || waits
	}
	if waits {
		return fmt.Errorf("%w: %w", journal.ErrInDoubt, ctx.Err())
	}
	return r.err
}

// errPartly says that some records of a part do not follow.
var errPartly = errors.New("some records do not follow")

// spreadBy retries until the outcome of the batch is known.
func (j *Journal) spreadBy(ctx context.Context, parts []part) error {
	moves := maxMoves
	var why error
	for pause := postgres.FirstPause; ; pause = min(2*pause, postgres.LongPause) {
		err := j.spreadOnce(ctx, parts)
		if errors.Is(err, errPartly) || isGone(err) {
			var moved bool
			if moved, err = elsewhere(ctx, parts); moved && moves > 0 {
				moves--
				continue
			}
			if err == nil {
				err = present(ctx, parts)
			}
			if err == nil || errors.Is(err, journal.ErrConflict) {
				return err
			}
		}
		switch {
		case err == nil, errors.Is(err, journal.ErrInDoubt):
			return err
		case postgres.OutcomeOf(err) == postgres.Refused:
			return failed(err, false)
		}
		why = postgres.Because(why, err, ctx.Err() != nil)
		if late := postgres.Sleep(ctx, pause); late != nil {
			return failed(why, false)
		}
	}
}

// spreadOnce prepares all parts but the first, and commits the first as the decision. Any error
// other than in doubt means that nothing was or will be written: an undecided part is rolled back,
// by this node or by the one that finds it.
func (j *Journal) spreadOnce(ctx context.Context, parts []part) error {
	home := parts[0].shard
	name := home.newName()
	now, err := home.now(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", postgres.ErrPool, err)
	}
	tried := 0
	for ; tried < len(parts)-1 && err == nil; tried++ {
		p := parts[1+tried]
		err = p.shard.Write(ctx, func(c *pgx.Conn) error { return p.prepare(ctx, c, name, now) })
	}
	if err == nil {
		err = home.Write(ctx, func(c *pgx.Conn) error { return parts[0].decide(ctx, c, name, now) })
		if err != nil && postgres.OutcomeOf(err) == postgres.Doubtful && !errors.Is(err, errPartly) {
			committed, unknown := home.decision(ctx, name)
			if unknown != nil {
				return fmt.Errorf("%w: %w", journal.ErrInDoubt, err)
			}
			if committed {
				err = nil
			}
		}
	}
	// The last part tried may be prepared even if it failed.
	for _, p := range parts[1 : 1+tried] {
		if end := p.shard.finish(ctx, name, err == nil); end != nil && err == nil {
			return fmt.Errorf("%w: %w", journal.ErrInDoubt, end)
		}
	}
	return err
}

// prepare writes a part so that any node can commit it or roll it back later, also after a crash.
func (p part) prepare(ctx context.Context, c *pgx.Conn, name string, now journal.Mark) error {
	if err := p.write(ctx, c, now); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "PREPARE TRANSACTION "+p.shard.prepared(name))
	return err
}

// decide writes the first part, with the decision that the batch is committed.
func (p part) decide(ctx context.Context, c *pgx.Conn, name string, now journal.Mark) error {
	if err := p.write(ctx, c, now); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "INSERT INTO decisions (batch, committed) VALUES ($1, true)", name); err != nil {
		return errors.Join(err, rollback(ctx, c))
	}
	_, err := c.Exec(ctx, "COMMIT")
	return err
}

// write begins a transaction and writes all of a part. After an error the transaction has ended.
// Two batches may deadlock across two databases, which neither detects, so the timeout is short.
func (p part) write(ctx context.Context, c *pgx.Conn, now journal.Mark) error {
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "SET LOCAL lock_timeout = '"+barrierTimeout+"'")
	if err == nil {
		places := make([]int64, len(p.places))
		for i, before := range p.places {
			places[i] = int64(now) + before + 1
		}
		w := p.shard.writing([]*request{newRequest(p.batch)}, places)
		var n int64
		if n, err = w.insert(ctx, c); err == nil && n != w.entries {
			err = errPartly
		}
	}
	if err == nil {
		return nil
	}
	if back := rollback(ctx, c); back != nil {
		return errors.Join(err, back)
	}
	return err
}

func rollback(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, "ROLLBACK")
	return err
}

// elsewhere reports whether any session is in another month than known.
func elsewhere(ctx context.Context, parts []part) (some bool, err error) {
	for _, p := range parts {
		w := p.shard.writing([]*request{newRequest(p.batch)}, nil)
		err := p.shard.Write(ctx, func(c *pgx.Conn) error {
			moved, err := w.moved(ctx, c)
			some = some || moved
			return err
		})
		if err != nil {
			return some, err
		}
	}
	return some, nil
}

// present returns nil if all of a batch exists already, and otherwise a conflict.
func present(ctx context.Context, parts []part) error {
	for _, p := range parts {
		w := p.shard.writing([]*request{newRequest(p.batch)}, nil)
		err := p.shard.Write(ctx, func(c *pgx.Conn) error {
			there, err := w.present(ctx, c)
			if err == nil && slices.Contains(there, false) {
				return journal.ErrConflict
			}
			if err == nil {
				_, err = c.Exec(ctx, postgres.SettledSQL)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// takeBackTime is how long an append may wait for removals in other databases.
const takeBackTime = time.Second

// takeBackBareSQL is [takeBackSQL] for an entry in another database.
const takeBackBareSQL = `
DELETE FROM artifacts a USING unnest($1::bytea[], $2::bytea[], $3::bytea[], $4::bigint[]) AS g (owner, key, writer, version)
WHERE a.tenant = g.owner AND a.key = g.key AND a.session = g.writer AND a.seq <= g.version`

// takeBack removes artifacts whose content is durable in another session by now. It ignores
// failures, because an artifact that stays only takes room, and the next session that finds it takes
// it over.
func (j *Journal) takeBack(ctx context.Context, words []journal.Artifact) {
	if len(words) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTime)
	defer cancel()
	by := map[*shard][]journal.Artifact{}
	for _, w := range words {
		s := j.of(journal.Session{Tenant: w.Tenant, ID: w.Session})
		by[s] = append(by[s], w)
	}
	_ = j.each(func(_ int, s *shard) error {
		if len(by[s]) == 0 {
			return nil
		}
		var words args
		var tenants, keys, sessions [][]byte
		var seqs []int64
		for _, w := range by[s] {
			tenants, keys = append(tenants, []byte(w.Tenant)), append(keys, w.Key[:])
			sessions, seqs = append(sessions, []byte(w.Session)), append(seqs, int64(w.Seq))
			words.artifacts = append(words.artifacts, artifact{Artifact: w})
		}
		return s.Write(ctx, func(c *pgx.Conn) error {
			if err := postgres.ActsAs(ctx, c, tenantsOf(&words)); err != nil {
				return err
			}
			_, err := c.Exec(ctx, takeBackBareSQL, tenants, keys, sessions, seqs)
			return err
		})
	})
}
