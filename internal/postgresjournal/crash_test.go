package postgresjournal

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark/journal"
)

// A crowd appends to sessions of its own until it is stopped, and remembers what
// was acknowledged.
type crowd struct {
	t       *testing.T
	j       *Journal
	stop    chan struct{}
	workers sync.WaitGroup
	acked   []journal.Link // the last one, by worker
	count   atomic.Int64
	doubts  atomic.Int64
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
		// After an error the same is tried again: it must work, whatever became
		// of it the first time.
		err := c.j.Append(context.Background(), batch(*pending))
		switch {
		case err == nil:
			c.acked[i], pending = pending.Last(), nil
			c.count.Add(1)
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

// check stops the crowd and holds what is kept against what was acknowledged.
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
	c.t.Logf("%d appends acknowledged, %d errors, none lost", c.count.Load(), c.doubts.Load())
}

func TestNothingIsLostWhenBackendsAreKilled(t *testing.T) {
	dsn := testDSN(t)
	schema := testSchema(t, dsn)
	j := open(t, dsn+" application_name="+schema, Options{Schema: schema})
	crowd := newCrowd(t, j, 16)
	killer := connect(t, dsn)
	killed := 0
	for began := time.Now(); killed < 30 && time.Since(began) < time.Minute || time.Since(began) < 2*time.Second; {
		time.Sleep(25 * time.Millisecond)
		killed += query[int](t, killer, "SELECT count(pg_terminate_backend(pid))::int FROM pg_stat_activity WHERE application_name = $1", schema)
	}
	eventually(t, func() bool { return crowd.count.Load() > 0 }) // on a busy machine not before
	crowd.check(j)
	if killed < 30 || crowd.count.Load() == 0 {
		t.Errorf("%d backends killed, %d appends: too few to show anything", killed, crowd.count.Load())
	}
}

func TestNothingIsLostWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{Schema: "kept"})
	crowd := newCrowd(t, j, 16)
	before := int64(-1)
	for range 3 {
		eventually(t, func() bool { return crowd.count.Load() > before+50 })
		s.script(t.Context(), "restart")
		before = crowd.count.Load()
	}
	eventually(t, func() bool { return crowd.count.Load() > before+50 })
	crowd.check(j)
}

// A wait for a replica that is cancelled looks like success: the row is there,
// but only here. One that is terminated looks like a failure, and is there too.
func TestCancelledWaitForAReplicaIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{Schema: "kept", Timeout: 2 * time.Second, Writers: 4})
	for _, how := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
		first := record(t, session("%s 0", how), journal.Link{}, 1, "first")
		appendOK(t, j, first)
		records := []journal.Record{first} // the one that is there already, and new ones
		for i := 1; i <= 6; i++ {
			records = append(records, record(t, session("%s %d", how, i), journal.Link{}, i, "new"))
		}
		s.set("synchronous_standby_names", "nobody")
		stop := disturb(t, s, how)
		var appends sync.WaitGroup
		for _, r := range records {
			appends.Go(func() {
				if err := j.Append(context.Background(), batch(r)); !errors.Is(err, journal.ErrInDoubt) {
					t.Errorf("%s: %v, want in doubt", r.Session, err)
				}
			})
		}
		appends.Wait()
		if stop() == 0 {
			t.Errorf("%s: no wait was disturbed", how)
		}
		s.set("synchronous_standby_names", "")
		for _, r := range records {
			appendOK(t, j, r)
			if n := len(readAll(t, j, r.Session, journal.Link{})); n != len(r.Entries) {
				t.Errorf("%s: %d entries, want %d", r.Session, n, len(r.Entries))
			}
		}
	}
}

// disturb ends every wait for a replica, until it is stopped. It tells how many.
func disturb(t *testing.T, s *server, how string) (stop func() int) {
	admin := connect(t, s.dsn)
	done, count := make(chan struct{}), 0
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				count += query[int](t, admin, "SELECT count("+how+"(pid))::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			}
		}
	})
	return func() int {
		close(done)
		worker.Wait()
		return count
	}
}

// A backend that goes on after its client gave up must not write what another
// has decided since.
func TestLateBackendCannotOverwrite(t *testing.T) {
	t.Parallel() // most of it is waiting
	dsn := testDSN(t)
	j := open(t, dsn, Options{Timeout: 3 * time.Second})
	s := session("s")
	late, err := j.shards[0].writers.Acquire(t.Context())
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
	// While it is not known whether the late one commits, nobody gets an answer.
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
	j := open(t, testDSN(t), Options{Writers: 1, Queue: 1})
	block := make(chan struct{})
	var writing atomic.Bool
	var blocked *queue
	blocked = newQueue(1, 1, func(rs []*request) {
		writing.Store(true)
		<-block
		for _, r := range rs {
			blocked.answer(r, nil)
		}
	})
	j.shards[0].queue.close()
	j.shards[0].queue = blocked
	var appends sync.WaitGroup
	for i := range 2 { // one is being written, one fills the queue
		appends.Go(func() {
			if err := j.Append(context.Background(), batch(record(t, session("s%d", i), journal.Link{}, 1, "x"))); err != nil {
				t.Error(err)
			}
		})
		eventually(t, func() bool { return writing.Load() && len(blocked.requests) == i })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := j.Append(ctx, batch(record(t, session("late"), journal.Link{}, 1, "x")))
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

// After a failover the old primary still answers, and hangs. It is left for the
// new one, and not returned to although the DSN names it first.
func TestPrimaryThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	old, promoted := newServer(t), newServer(t)
	promoted.restartAsStandby()
	c := connect(t, promoted.dsn)
	if !query[bool](t, c, "SELECT pg_promote()") {
		t.Fatal("not promoted")
	}
	open(t, promoted.dsn, Options{Schema: "kept"})
	both := strings.Replace(old.dsn, "host="+old.dir, "host="+old.dir+","+promoted.dir, 1)
	j := open(t, both, Options{Schema: "kept", Timeout: 2 * time.Second})
	r := record(t, session("s"), journal.Link{}, 1, "x")
	on := func(s *server) int {
		t.Helper()
		return query[int](t, connect(t, s.dsn), "SELECT count(*)::int FROM kept.facts")
	}
	old.set("synchronous_standby_names", "nobody")
	wantErr(t, j.Append(t.Context(), batch(r)), journal.ErrInDoubt)
	appendOK(t, j, r)
	if n := on(promoted); n != 1 {
		t.Fatalf("%d facts on the new primary", n)
	}
	// The old one recovers, but it is too late.
	old.set("synchronous_standby_names", "")
	j.shards[0].primary.distrust()
	j.shards[0].writers.Reset()
	j.shards[0].readers.Reset()
	appendOK(t, j, record(t, session("s"), r.Last(), 1, "y"))
	if n := on(promoted); n != 2 {
		t.Errorf("%d facts on the new primary", n)
	}
	if n := len(readAll(t, j, session("s"), journal.Link{})); n != 2 {
		t.Errorf("%d entries are read", n)
	}
}

func TestNothingIsLostWhenAStandbyTakesOver(t *testing.T) {
	t.Parallel()
	old := newServer(t)
	next := newStandby(t, old)
	old.set("synchronous_standby_names", "*")
	c := connect(t, old.dsn)
	eventually(t, func() bool {
		return query[int](t, c, "SELECT count(*)::int FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	both := strings.Replace(old.dsn, "host="+old.dir, "host="+old.dir+","+next.dir, 1)
	j := open(t, both, Options{Schema: "kept", Timeout: 3 * time.Second})
	crowd := newCrowd(t, j, 16)
	eventually(t, func() bool { return crowd.count.Load() > 200 })
	old.script(t.Context(), "kill")
	if !query[bool](t, connect(t, next.dsn), "SELECT pg_promote()") {
		t.Fatal("not promoted")
	}
	before := crowd.count.Load()
	eventually(t, func() bool { return crowd.count.Load() > before+200 })
	crowd.check(j)
}
