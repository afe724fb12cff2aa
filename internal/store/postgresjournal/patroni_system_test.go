package postgresjournal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// newCluster starts what .ci/patroni starts: three members, two of which have
// everything that is acknowledged.
func newCluster(t *testing.T) (dsn string, run func(args ...string) string) {
	t.Helper()
	if os.Getenv("FLOODMARK_PATRONI") == "" {
		t.Skip("PATRONI NOT TESTED: set FLOODMARK_PATRONI=1, where Debian's postgresql, patroni and etcd-server are or can be installed")
	}
	//nolint:usetesting // the servers' user must get there
	parent, err := os.MkdirTemp("", "fmha")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "ha")
	// Another run on the same machine has other ports, below those the system gives away.
	port := fmt.Sprintf("PATRONI_PORT=%d", 17400+os.Getpid()%600*24)
	run = func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(context.Background(), "../../../.ci/patroni", append([]string{args[0], dir}, args[1:]...)...)
		c.Env = append(os.Environ(), port)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Errorf(".ci/patroni %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	t.Cleanup(func() {
		run("stop")
		os.RemoveAll(parent)
	})
	return run("start"), run
}

// The same suite, behind Patroni, with a synchronous replica; then the primary is
// killed under load: nothing that was acknowledged is lost, and no session forks.
// The gate runs some of the suite (.ci/fleet).
func TestJournalBehindPatroni(t *testing.T) {
	dsn, run := newCluster(t)
	t.Setenv("FLOODMARK_POSTGRES_DSN", dsn+" target_session_attrs=read-write")
	t.Run("suite", func(t *testing.T) {
		schemas := map[journal.Journal]string{}
		journaltest.RunWith(t, journaltest.Options{
			Open: func(t *testing.T) journal.Journal {
				schema := postgrestest.Schema(t, os.Getenv("FLOODMARK_POSTGRES_DSN"))
				j := open(t, dsn, Options{Schema: schema, Timeout: busyTimeout})
				schemas[j] = schema
				return j
			},
			Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				again := open(t, dsn, Options{Schema: schemas[j], Timeout: busyTimeout})
				schemas[again] = schemas[j]
				return again
			},
		})
	})
	t.Run("the primary is killed", func(t *testing.T) { primaryKilled(t, dsn, run) })
}

func primaryKilled(t *testing.T, dsn string, run func(...string) string) {
	j := open(t, dsn, Options{Schema: "failover"})
	stop := make(chan struct{})
	var mu sync.Mutex // guards acked
	acked := map[journal.Session]journal.Link{}
	var writers sync.WaitGroup
	for i := range 16 {
		writers.Go(func() { writeOn(t, j, session("s%d", i), stop, &mu, acked) })
	}
	count := func() (n uint64) {
		mu.Lock()
		defer mu.Unlock()
		for _, l := range acked {
			n += l.Seq
		}
		return n
	}
	wait := func(more uint64) {
		want := count() + more
		for count() < want {
			time.Sleep(50 * time.Millisecond)
		}
	}
	wait(200)
	killed, began := run("kill", "primary"), time.Now()
	wait(200)
	t.Logf("killed %s; 200 appends more were there after %s", killed, time.Since(began).Round(100*time.Millisecond))
	close(stop)
	writers.Wait()
	if !testing.Short() {
		run("revive", killed) // and what is read is read from a whole cluster
	}
	for s, last := range acked {
		entries := readAll(t, j, s, journal.Link{})
		if uint64(len(entries)) < last.Seq || entries[last.Seq-1].Link() != last {
			t.Errorf("%s: %d was acknowledged, %d entries are there", s, last.Seq, len(entries))
		}
	}
}

// writeOn appends to a session as a monitor does: after doubt or a conflict it reads the session
// again.
func writeOn(t *testing.T, j *Journal, s journal.Session, stop chan struct{}, mu *sync.Mutex, acked map[journal.Session]journal.Link) {
	var last journal.Link
	for {
		select {
		case <-stop:
			return
		default:
		}
		r := record(t, s, last, 1, "x")
		err := j.Append(context.Background(), batch(r))
		if err == nil {
			last = r.Last()
			mu.Lock()
			acked[s] = last
			mu.Unlock()
			continue
		}
		var again journal.Link
		var failed error
		for e, err := range j.Read(context.Background(), s, 0) {
			if failed = err; err != nil {
				break
			}
			again = e.Link()
		}
		if failed == nil {
			if again.Seq < last.Seq && !errors.Is(err, journal.ErrNotDurable) {
				t.Errorf("%s: %d was acknowledged, and %d are left", s, last.Seq, again.Seq)
			}
			last = again
		}
		time.Sleep(20 * time.Millisecond)
	}
}
