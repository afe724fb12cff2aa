package postgresjournal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

// A crowd appends to sessions of its own until stopped, and remembers what was acknowledged.
type crowd struct {
	t       *testing.T
	j       *Journal
	stop    chan struct{}
	workers sync.WaitGroup
	acked   []journal.Link // the last one, by worker
	count   counter        // what was acknowledged
	doubts  atomic.Int64
}

// A counter counts, and lets others wait for it. It is ready when it is made.
type counter struct {
	mu   sync.Mutex // guards n and more
	n    int64
	more chan struct{} // closed with the next one; nil without a waiter
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	if c.more != nil {
		close(c.more)
		c.more = nil
	}
}

func (c *counter) load() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// await returns when it has come to n.
func (c *counter) await(n int64) {
	for {
		c.mu.Lock()
		if c.n >= n {
			c.mu.Unlock()
			return
		}
		if c.more == nil {
			c.more = make(chan struct{})
		}
		more := c.more
		c.mu.Unlock()
		<-more
	}
}

func newCrowd(t *testing.T, j *Journal, size int) *crowd {
	c := &crowd{t: t, j: j, stop: make(chan struct{}), acked: make([]journal.Link, size)}
	for i := range size {
		c.workers.Go(func() { c.work(i) })
	}
	return c
}

func (c *crowd) work(i int) {
	s := session("worker %d", i)
	var pending *journal.Record
	for {
		select {
		case <-c.stop:
			return
		default:
		}
		if pending == nil {
			r := record(c.t, s, c.acked[i], 1+i%3, "work")
			pending = &r
		}
		// After an error the same append is retried: it must succeed whether or not the first one
		// was committed.
		err := c.j.Append(context.Background(), batch(*pending))
		switch {
		case err == nil:
			c.acked[i], pending = pending.Last(), nil
			c.count.add()
		case errors.Is(err, journal.ErrConflict):
			c.t.Errorf("nobody else writes to %s: %v", s, err)
			return
		case errors.Is(err, journal.ErrInDoubt):
			c.doubts.Add(1)
		default:
			c.doubts.Add(1)
			for e, bad := range c.j.Read(context.Background(), s, c.acked[i].Seq) {
				if bad == nil {
					c.t.Errorf("entry %d of %s is there, but an append said %v", e.Seq, s, err)
				}
				break
			}
		}
	}
}

// check stops the crowd and compares the journal with what was acknowledged.
func (c *crowd) check(j *Journal) {
	c.t.Helper()
	close(c.stop)
	c.workers.Wait()
	for i, last := range c.acked {
		entries := readAll(c.t, j, session("worker %d", i), journal.Link{})
		if uint64(len(entries)) < last.Seq || (last.Seq > 0 && entries[last.Seq-1].Link() != last) {
			c.t.Errorf("worker %d: %d acknowledged, %d are there", i, last.Seq, len(entries))
		}
		if uint64(len(entries)) > last.Seq+3 {
			c.t.Errorf("worker %d: %d acknowledged, but %d are there: something was written twice", i, last.Seq, len(entries))
		}
	}
	c.t.Logf("%d appends acknowledged, %d errors, none lost", c.count.load(), c.doubts.Load())
}

func TestNothingIsLostWhenBackendsAreKilled(t *testing.T) {
	dsn := postgrestest.DSN(t)
	schema := postgrestest.Schema(t, dsn)
	j := open(t, dsn+" application_name="+schema, Options{Schema: schema})
	crowd := newCrowd(t, j, 16)
	killer := postgrestest.Connect(t, dsn)
	killed := 0
	for round := 0; round < 40 || killed < 60; round++ { // after something was written, and while connections are made anew
		crowd.count.await(crowd.count.load() + 1)
		for range 4 {
			killed += postgrestest.Query[int](t, killer, "SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity WHERE application_name = $1", schema)
		}
	}
	crowd.count.await(crowd.count.load() + 1)
	crowd.check(j)
	t.Logf("%d backends killed", killed)
}

// A backend that continues after its client gave up must not write what another client has decided
// since.
func TestLateBackendCannotOverwrite(t *testing.T) {
	t.Parallel() // most of it is waiting
	dsn := postgrestest.DSN(t)
	j := open(t, dsn, Options{Timeout: 3 * time.Second})
	s := session("s")
	writers, _ := j.shards[0].Pools()
	late, err := writers.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer late.Release()
	tx, err := late.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mine, other := record(t, s, journal.Link{}, 1, "mine"), record(t, s, journal.Link{}, 1, "other")
	if _, err := j.shards[0].writing([]*request{newRequest(batch(mine))}, nil).insert(t.Context(), tx.Conn()); err != nil {
		t.Fatal(err)
	}
	// While the outcome of the late commit is unknown, no append is answered.
	for _, r := range []journal.Record{mine, other} {
		if err := j.Append(t.Context(), batch(r)); err == nil || errors.Is(err, journal.ErrConflict) {
			t.Errorf("got %v before the late backend had ended", err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	appendOK(t, j, mine)
	wantErr(t, j.Append(t.Context(), batch(other)), journal.ErrConflict)
}

func TestGivenUpBeforeItsTurnIsNotWritten(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{Writers: 1, Queue: 1})
	block, writing := make(chan struct{}), make(chan struct{}, 2)
	var blocked *queue
	blocked = newQueue(1, 1, func(rs []*request) {
		writing <- struct{}{}
		<-block
		for _, r := range rs {
			blocked.answer(r, nil)
		}
	})
	j.shards[0].queue.close()
	j.shards[0].queue = blocked
	var appends sync.WaitGroup
	appends.Go(func() {
		if err := j.Append(context.Background(), batch(record(t, session("s0"), journal.Link{}, 1, "x"))); err != nil {
			t.Error(err)
		}
	})
	<-writing
	blocked.requests <- newRequest(batch(record(t, session("s1"), journal.Link{}, 1, "x"))) // it fills the queue
	err := j.Append(&impatient{Context: t.Context(), over: make(chan struct{})}, batch(record(t, session("late"), journal.Link{}, 1, "x")))
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, journal.ErrInDoubt) {
		t.Errorf("got %v, want only the deadline", err)
	}
	close(block)
	appends.Wait()
	j.Close()
	wantErr(t, j.Append(t.Context(), batch(record(t, session("s"), journal.Link{}, 1, "x"))), journal.ErrClosed)
	for _, err := range j.Read(t.Context(), session("s"), 0) {
		wantErr(t, err, journal.ErrClosed)
	}
}

// An impatient is a context that expires when its end is first waited for.
type impatient struct {
	context.Context
	once sync.Once
	over chan struct{}
}

func (c *impatient) Done() <-chan struct{} {
	c.once.Do(func() { close(c.over) })
	return c.over
}

func (c *impatient) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
