package sqlitejournal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// A gate stops the writer at a point, once, until it is opened.
type gate struct {
	point   string
	once    sync.Once
	reached chan struct{}
	open    chan struct{}
}

func newGate(point string) *gate {
	return &gate{point: point, reached: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) fault(point string) {
	if point == g.point {
		g.once.Do(func() {
			close(g.reached)
			<-g.open
		})
	}
}

func one(t testing.TB, c *journaltest.Chain, text string) journal.Batch {
	t.Helper()
	return journal.Batch{Records: []journal.Record{c.Next(t, text)}}
}

// later appends on another goroutine, in a bubble, and waits until the append is in the queue.
func later(t *testing.T, ctx context.Context, j *Journal, b journal.Batch) <-chan error {
	t.Helper()
	before := len(j.queue)
	result := make(chan error, 1)
	go func() { result <- j.Append(ctx, b) }()
	synctest.Wait()
	if len(j.queue) != before+1 {
		t.Fatal("the append does not reach the queue")
	}
	return result
}

// TestOneConflictInAGroup commits a group in which one append conflicts.
func TestOneConflictInAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(BeforeAppend)
		j := open(t, newPath(t), Options{Fault: g.fault})
		a, b := journaltest.NewChain("", "a"), journaltest.NewChain("", "b")
		go j.Append(t.Context(), one(t, a, "first"))
		<-g.reached
		ctx := t.Context()
		stale := &journaltest.Chain{Session: a.Session}
		r1 := later(t, ctx, j, one(t, a, "second, before the first is written"))
		r2 := later(t, ctx, j, one(t, stale, "stale"))
		r3 := later(t, ctx, j, one(t, b, "beside"))
		same := one(t, a, "third")
		r4 := later(t, ctx, j, same)
		r5 := later(t, ctx, j, same)
		close(g.open)
		for i, r := range []<-chan error{r1, r3, r4, r5} {
			if err := <-r; err != nil {
				t.Errorf("good append %d: %v", i, err)
			}
		}
		if err := <-r2; !errors.Is(err, journal.ErrConflict) {
			t.Errorf("the stale one: %v", err)
		}
		a.Verify(t, j)
		b.Verify(t, j)
		if s := j.Stats(); s.Flushes != 2 || s.Entries != 4 || s.Batches != 4 {
			t.Errorf("%+v, want 4 entries of 4 batches in 2 flushes", s)
		}
	})
}

// TestGivenUpInTheQueue cancels the contexts of waiting appends.
func TestGivenUpInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(BeforeAppend)
		j := open(t, newPath(t), Options{Fault: g.fault})
		a, b, c := journaltest.NewChain("", "a"), journaltest.NewChain("", "b"), journaltest.NewChain("", "c")
		first := make(chan error, 1)
		go func() { first <- j.Append(t.Context(), one(t, a, "first")) }()
		<-g.reached
		ctx, cancel := context.WithCancel(t.Context())
		gone := later(t, ctx, j, one(t, b, "never"))
		stays := later(t, t.Context(), j, one(t, c, "written"))
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		close(g.open)
		if err := errors.Join(<-first, <-stays); err != nil {
			t.Error(err)
		}
		a.Verify(t, j)
		c.Verify(t, j)
		(&journaltest.Chain{Session: b.Session}).Verify(t, j)
	})
}

// TestTrueResult cancels a context while its append is being committed. The caller still gets the
// outcome.
func TestTrueResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(InCommit)
		j := open(t, newPath(t), Options{Fault: g.fault})
		a := journaltest.NewChain("", "a")
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- j.Append(ctx, one(t, a, "first")) }()
		<-g.reached
		cancel()
		synctest.Wait()
		select {
		case err := <-result:
			t.Errorf("answered before it was known: %v", err)
		default:
		}
		close(g.open)
		if err := <-result; err != nil {
			t.Errorf("committed, but: %v", err)
		}
		a.Verify(t, j)
	})
}

// TestBackPressure fills the queue to its limit. One more append waits until its context ends.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(BeforeAppend)
		j := open(t, newPath(t), Options{Fault: g.fault})
		first := journaltest.NewChain("", "first")
		go j.Append(t.Context(), one(t, first, "x"))
		<-g.reached
		var wg sync.WaitGroup
		results := make([]error, queueLength)
		for i := range results {
			c := journaltest.NewChain("", fmt.Sprint("s", i))
			wg.Go(func() { results[i] = j.Append(t.Context(), one(t, c, "x")) })
		}
		synctest.Wait()
		if n := len(j.queue); n != queueLength {
			t.Errorf("%d wait", n)
		}
		beyond := journaltest.NewChain("", "beyond")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if err := j.Append(ctx, one(t, beyond, "x")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one beyond the queue: %v", err)
		}
		close(g.open)
		wg.Wait()
		if err := errors.Join(results...); err != nil {
			t.Error(err)
		}
		if s := j.Stats(); s.Entries != queueLength+1 || s.Flushes > 5 {
			t.Errorf("%+v", s)
		}
		(&journaltest.Chain{Session: beyond.Session}).Verify(t, j)
	})
}

// If small appends come one by one, the log still stays within its limit, because commits are
// counted by the whole pages that they write.
func TestTheLogOfLoneAppends(t *testing.T) {
	const most = 1 << 20
	j := open(t, newPath(t), Options{LogBytes: most})
	c := journaltest.NewChain("", "s1")
	for range 6 * most / commitBytes {
		if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{c.Next(t, "x")}}); err != nil {
			t.Fatal(err)
		}
	}
	if size, err := j.Size(); err != nil || size > 2*most {
		t.Errorf("%d bytes, %v", size, err)
	}
	c.Verify(t, j)
}

// TestCheckpoints writes more than the limit of the log. The log is checkpointed, and does not grow
// for ever.
func TestCheckpoints(t *testing.T) {
	j := open(t, newPath(t), Options{})
	c := journaltest.NewChain("", "s1")
	body := make([]byte, 3<<20)
	for range 3 * checkpointBytes / len(body) {
		r := c.Next(t, "x")
		r.Snapshot = body
		if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{r}}); err != nil {
			t.Fatal(err)
		}
	}
	size, err := j.Size()
	if err != nil {
		t.Fatal(err)
	}
	if n := j.Stats().Checkpoints; n < 2 || size > 2*checkpointBytes {
		t.Errorf("%d checkpoints, %d bytes", n, size)
	}
	c.Verify(t, j)
}

// TestAnyBytes uses names that are not valid UTF-8.
func TestAnyBytes(t *testing.T) {
	path := newPath(t)
	j := open(t, path, Options{})
	var chains []*journaltest.Chain
	for _, name := range []string{"\x00", "a\x00", "a\x00b", "a", "\xff\xfe", "\xc3\x28", "\ufeff", "a\nb"} {
		c := journaltest.NewChain(name, name)
		chains = append(chains, c)
		if err := j.Append(t.Context(), one(t, c, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = open(t, path, Options{})
	seen := map[journal.Session]bool{}
	for h, err := range j.Heads(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		seen[h.Session] = true
	}
	for _, c := range chains {
		c.Verify(t, j)
		if !seen[c.Session] {
			t.Errorf("session %q has no head", c.Session)
		}
		if err := j.Append(t.Context(), one(t, c, "more")); err != nil {
			t.Error(err)
		}
	}
}

func TestHeadsAreBounded(t *testing.T) {
	h := newHeads()
	name := func(i int) journal.Session { return journal.Session{ID: floodmark.SessionID(fmt.Sprint(i))} }
	for i := range 3 * headsKept {
		h.put(name(i), head{sid: int64(i)})
		if got, ok := h.get(name(0)); ok && got.sid != 0 {
			t.Fatalf("the wrong head: %v", got)
		}
	}
	if n := len(h.young) + len(h.old); n > 2*headsKept {
		t.Errorf("%d heads are kept, at most %d", n, 2*headsKept)
	}
	if _, ok := h.get(name(0)); !ok {
		t.Error("a session that is always in use was forgotten")
	}
	if _, ok := h.get(name(1)); ok {
		t.Error("a session that was never used again is still there")
	}
}
