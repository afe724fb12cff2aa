package postgresjournal

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// Nearly every decision asks what sessions left behind, and with several databases
// it asks all of them. So those who ask at once share a statement, as those who
// write at once share a commit. A statement begins after everybody it answers has
// asked: who asks after an append was acknowledged finds it.
const (
	// lookers is how many statements of one node ask a database at once, the second
	// only if the first takes longer than patience: more make smaller groups, and
	// each statement costs the database more than what it asks for.
	lookers  = 2
	patience = 5 * time.Millisecond
	// maxAsked is how many keys one statement asks for.
	maxAsked = 1024
)

// artifactsSQL finds the words under keys, of several tenants.
const artifactsSQL = `
SELECT a.tenant, a.key, a.session, a.seq, a.body
FROM unnest($1::bytea[], $2::bytea[]) AS x (tenant, key)
CROSS JOIN LATERAL (SELECT a.tenant, a.key, a.session, a.seq, a.body FROM artifacts a
    WHERE a.tenant = x.tenant AND a.key = x.key OFFSET 0) a`

// An asking is somebody who waits for words. Keys are at most maxAsked.
type asking struct {
	tenant string
	keys   []floodmark.Digest
	done   chan struct{} // closed when found and err are set
	found  []journal.Artifact
	err    error
}

// lookups gathers those who ask while others are being answered. Who comes alone
// is answered alone, and at once.
type lookups struct {
	asked   chan *asking
	answer  func([]*asking) // each of them
	workers sync.WaitGroup
	closing chan struct{}
}

func newLookups(answer func([]*asking)) *lookups {
	l := &lookups{asked: make(chan *asking), answer: answer, closing: make(chan struct{})}
	l.workers.Go(l.work)
	return l
}

func (l *lookups) close() {
	close(l.closing)
	l.workers.Wait()
}

// find waits for a turn, then for the answer.
func (l *lookups) find(ctx context.Context, tenant string, keys []floodmark.Digest) ([]journal.Artifact, error) {
	a := &asking{tenant: tenant, keys: keys, done: make(chan struct{})}
	select {
	case l.asked <- a:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closing:
		return nil, journal.ErrClosed
	}
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// work lets those who ask gather while others are answered. A second statement
// goes beside one that takes long, so that nobody waits for a connection that
// hangs.
func (l *lookups) work() {
	under := make(chan struct{}, lookers) // a place for each statement under way
	var held *asking                      // did not fit the last group
	var last chan struct{}                // closed when the last statement has ended
	for {
		if held == nil {
			select {
			case held = <-l.asked:
			case <-l.closing:
				return
			}
		}
		await(last, patience)
		under <- struct{}{}
		var group []*asking
		group, held = l.gather(held)
		done := make(chan struct{})
		last = done
		l.workers.Go(func() {
			l.answer(group)
			<-under
			close(done)
		})
	}
}

// gather makes a group of the first one and of those who ask now, and returns the
// one that did not fit.
func (l *lookups) gather(first *asking) (group []*asking, held *asking) {
	group, keys := []*asking{first}, len(first.keys)
	for {
		select {
		case a := <-l.asked:
			if keys += len(a.keys); keys > maxAsked {
				return group, a
			}
			group = append(group, a)
		default:
			return group, nil
		}
	}
}

// await waits until something is closed, but not for long. Nothing is nil.
func await(done <-chan struct{}, long time.Duration) {
	select {
	case <-done:
		return
	default:
	}
	if done == nil {
		return
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// A word is under which name artifacts lie.
type word struct {
	tenant string
	key    floodmark.Digest
}

// lookUp answers a group by one statement. What is left behind of a session that
// was moved to another database does not count.
func (s *shard) lookUp(group []*asking) {
	who := map[word][]*asking{}
	var tenants, keys [][]byte
	var names []string
	for _, a := range group {
		if !slices.Contains(names, a.tenant) {
			names = append(names, a.tenant)
		}
		for _, k := range a.keys {
			w := word{a.tenant, k}
			if len(who[w]) == 0 {
				tenants, keys = append(tenants, []byte(a.tenant)), append(keys, k[:])
			}
			if !slices.Contains(who[w], a) {
				who[w] = append(who[w], a)
			}
		}
	}
	slices.Sort(names)
	err := s.read(context.Background(), tenantList(names...), func(ctx context.Context, c *pgxpool.Conn) error {
		for _, a := range group {
			a.found = nil // of a try before
		}
		rows, err := c.Query(ctx, artifactsSQL, tenants, keys)
		if err != nil {
			return err
		}
		var tenant, key, session, body []byte
		var seq int64
		_, err = pgx.ForEachRow(rows, []any{&tenant, &key, &session, &seq, &body}, func() error {
			w := word{string(tenant), floodmark.Digest(key)}
			found := journal.Artifact{Tenant: w.tenant, Key: w.key, Session: floodmark.SessionID(session), Seq: uint64(seq)}
			if s.holds(journal.Session{Tenant: w.tenant, ID: found.Session}) {
				for _, a := range who[w] {
					found.Body = bytes.Clone(body)
					a.found = append(a.found, found)
				}
			}
			return nil
		})
		return err
	})
	for _, a := range group {
		if err != nil {
			a.found, a.err = nil, err
		}
		close(a.done)
	}
}
