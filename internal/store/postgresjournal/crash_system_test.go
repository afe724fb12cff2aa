package postgresjournal

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func TestNothingIsLostWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	j := open(t, s.dsn, Options{Schema: "kept"})
	crowd := newCrowd(t, j, 16)
	before := int64(-1)
	for range 3 {
		crowd.count.await(before + 51)
		s.script(t.Context(), "restart")
		before = crowd.count.load()
	}
	crowd.count.await(before + 51)
	crowd.check(j)
}

// A cancelled wait for a replica looks like success: the row exists, but only here. A terminated
// one looks like a failure, and the row exists, too.
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

// disturb ends every wait for a replica, until stopped. It returns their number.
func disturb(t *testing.T, s *server, how string) (stop func() int) {
	admin := postgrestest.Connect(t, s.dsn)
	done, count := make(chan struct{}), 0
	var worker sync.WaitGroup
	worker.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				count += postgrestest.Query[int](t, admin, "SELECT count("+how+"(pid))::int FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
			}
		}
	})
	return func() int {
		close(done)
		worker.Wait()
		return count
	}
}

// After a failover the old primary still accepts connections, and hangs. The journal switches to
// the new one, and does not return although the DSN names the old one first.
func TestPrimaryThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	old, promoted := newServer(t), newServer(t)
	promoted.restartAsStandby()
	c := postgrestest.Connect(t, promoted.dsn)
	if !postgrestest.Query[bool](t, c, "SELECT pg_promote()") {
		t.Fatal("not promoted")
	}
	open(t, promoted.dsn, Options{Schema: "kept"})
	both := strings.Replace(old.dsn, "host="+old.dir, "host="+old.dir+","+promoted.dir, 1)
	j := open(t, both, Options{Schema: "kept", Timeout: 2 * time.Second})
	r := record(t, session("s"), journal.Link{}, 1, "x")
	on := func(s *server) int {
		t.Helper()
		return postgrestest.Query[int](t, postgrestest.Connect(t, s.dsn), "SELECT count(*)::int FROM kept.facts")
	}
	old.set("synchronous_standby_names", "nobody")
	wantErr(t, j.Append(t.Context(), batch(r)), journal.ErrInDoubt)
	appendOK(t, j, r)
	if n := on(promoted); n != 1 {
		t.Fatalf("%d facts on the new primary", n)
	}
	// The old one recovers, but it is too late.
	old.set("synchronous_standby_names", "")
	j.shards[0].GiveUp()
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
	c := postgrestest.Connect(t, old.dsn)
	eventually(t, func() bool {
		return postgrestest.Query[int](t, c, "SELECT count(*)::int FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	both := strings.Replace(old.dsn, "host="+old.dir, "host="+old.dir+","+next.dir, 1)
	j := open(t, both, Options{Schema: "kept", Timeout: 3 * time.Second})
	crowd := newCrowd(t, j, 16)
	crowd.count.await(201)
	old.script(t.Context(), "kill")
	if !postgrestest.Query[bool](t, postgrestest.Connect(t, next.dsn), "SELECT pg_promote()") {
		t.Fatal("not promoted")
	}
	before := crowd.count.load()
	crowd.count.await(before + 201)
	crowd.check(j)
}
