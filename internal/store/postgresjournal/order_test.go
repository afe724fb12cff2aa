package postgresjournal

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/store/postgres/postgrestest"
	"github.com/floodmark/floodmark/journal"
)

func collect(t testing.TB, heads iter.Seq2[journal.Head, error]) []journal.Head {
	t.Helper()
	var all []journal.Head
	for h, err := range heads {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

func names(heads []journal.Head) []string {
	all := []string{}
	for _, h := range heads {
		all = append(all, fmt.Sprintf("%s %d", h.Session, h.Link.Seq))
	}
	return all
}

func wantNames(t testing.TB, got []journal.Head, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), names(got)); diff != "" {
		t.Error(diff)
	}
}

func TestOrderOfWriting(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	at := func(tenant, id string) journal.Session {
		return journal.Session{Tenant: tenant, ID: floodmark.SessionID(id)}
	}
	lasts := map[journal.Session]journal.Link{}
	write := func(s journal.Session, n int) {
		r := record(t, s, lasts[s], n, "x")
		appendOK(t, j, r)
		lasts[s] = r.Last()
	}
	wantNames(t, collect(t, j.Heads(t.Context(), 0)))
	wantNames(t, collect(t, j.Recent(t.Context(), "a")))
	write(at("a", "1"), 1)
	write(at("b", "2"), 2)
	write(at("a", "3"), 3)
	write(at("", "4"), 1)
	write(at("a", "1"), 1)
	heads := collect(t, j.Heads(t.Context(), 0))
	wantNames(t, heads, "b/2 2", "a/3 3", "4 1", "a/1 2")
	for i, h := range heads {
		if h.Link != lasts[h.Session] || h.At == 0 || (i > 0 && h.Mark <= heads[i-1].Mark) {
			t.Errorf("%+v", h)
		}
		if rest := collect(t, j.Heads(t.Context(), h.Mark)); len(rest) != len(heads)-i-1 {
			t.Errorf("%d heads after the one with number %d", len(rest), i)
		}
	}
	wantNames(t, collect(t, j.Recent(t.Context(), "a")), "a/1 2", "a/3 3")
	wantNames(t, collect(t, j.Recent(t.Context(), "")), "4 1")
	wantNames(t, collect(t, j.Recent(t.Context(), "c")))
	for range j.Recent(t.Context(), "a") {
		break // gives its connection back
	}
}

func TestOrderOverManyPages(t *testing.T) {
	j := open(t, postgrestest.DSN(t), Options{})
	const n = 2*pageHeads + 100
	first := record(t, session("first"), journal.Link{}, n, "x")
	appendOK(t, j, first)
	appendOK(t, j, record(t, session("second"), journal.Link{}, n, "x"))
	appendOK(t, j, record(t, session("first"), first.Last(), 1, "x"))
	wantNames(t, collect(t, j.Heads(t.Context(), 0)), fmt.Sprintf("firm.example/second %d", n), fmt.Sprintf("firm.example/first %d", n+1))
	wantNames(t, collect(t, j.Recent(t.Context(), "firm.example")), fmt.Sprintf("firm.example/first %d", n+1), fmt.Sprintf("firm.example/second %d", n))
}

// Numbers are assigned before the commit: a late commit is not skipped.
func TestHeadsWaitForWhoCommitsLate(t *testing.T) {
	dsn := postgrestest.DSN(t)
	j := open(t, dsn, Options{})
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
	r := record(t, session("late"), journal.Link{}, 1, "x")
	if _, err := j.shards[0].writing([]*request{newRequest(batch(r))}, nil).insert(t.Context(), tx.Conn()); err != nil {
		t.Fatal(err)
	}
	appendOK(t, j, record(t, session("early"), journal.Link{}, 1, "x"))
	var reader sync.WaitGroup
	var heads []journal.Head
	var read atomic.Bool
	reader.Go(func() {
		heads = collect(t, j.Heads(context.Background(), 0))
		read.Store(true)
	})
	look := postgrestest.Connect(t, dsn)
	for !postgrestest.Query[bool](t, look, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))", tx.Conn().PgConn().PID()) {
		if read.Load() {
			t.Error("it did not wait")
			break
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader.Wait()
	wantNames(t, heads, "firm.example/late 1", "firm.example/early 1")
}

// Following the heads by their marks during concurrent writes finds every session's last entry.
func TestHeadsMissNothing(t *testing.T) {
	all := nodes(t, 2, Options{Writers: 3})
	const workers, rounds = 12, 15
	var writing, following sync.WaitGroup
	lasts := make([]journal.Link, workers)
	for i := range workers {
		writing.Go(func() {
			for range rounds {
				r := record(t, session("%d", i), lasts[i], 1+i%2, "x")
				if err := all[i%2].Append(context.Background(), batch(r)); err != nil {
					t.Error(err)
					return
				}
				lasts[i] = r.Last()
			}
		})
	}
	done := make(chan struct{})
	seen := map[journal.Session]journal.Link{}
	following.Go(func() {
		var mark journal.Mark
		for stop := false; !stop; {
			select {
			case <-done:
				stop = true // once more, then everything must have been seen
			default:
			}
			for _, h := range collect(t, all[0].Heads(context.Background(), mark)) {
				if h.Mark <= mark || h.Link.Seq <= seen[h.Session].Seq {
					t.Errorf("%+v came after mark %d", h, mark)
				}
				seen[h.Session], mark = h.Link, h.Mark
			}
		}
	})
	writing.Wait()
	close(done)
	following.Wait()
	for i, last := range lasts {
		if got := seen[session("%d", i)]; got != last {
			t.Errorf("session %d: saw %d, wrote %d", i, got.Seq, last.Seq)
		}
	}
}
