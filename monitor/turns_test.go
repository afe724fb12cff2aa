package monitor_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A gate holds every append until it is opened.
type gate struct {
	inside chan journal.Session
	open   chan struct{}
}

func newGate() *gate {
	return &gate{inside: make(chan journal.Session, 64), open: make(chan struct{})}
}

func (g *gate) append(ctx context.Context, b journal.Batch, next func() error) error {
	g.inside <- b.Records[0].Session
	select {
	case <-g.open:
		return next()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// blocked returns a desk with one event being written to session s, in a bubble.
func blocked(t *testing.T, limits func(*monitor.Config)) (*desk, *gate, *sync.WaitGroup) {
	t.Helper()
	return blockedBy(t, says("s", "first"), limits)
}

func blockedBy(t *testing.T, first hook.Event, limits func(*monitor.Config)) (*desk, *gate, *sync.WaitGroup) {
	t.Helper()
	j := &faulty{Journal: journal.NewMemory()}
	d := newDesk(t, j, limits)
	d.tell(t, at("s", hook.SessionStart))
	g := newGate()
	j.append = g.append
	var wg sync.WaitGroup
	wg.Go(func() { d.Handle(context.Background(), "", first) })
	<-g.inside
	return d, g, &wg
}

// waits starts an event that has to wait, and returns once it does.
func waits(t *testing.T, d *desk, wg *sync.WaitGroup, text string) {
	t.Helper()
	before := d.Waiting("s")
	wg.Go(func() { d.Handle(context.Background(), "", says("s", text)) })
	synctest.Wait()
	if n := d.Waiting("s"); n != before+1 {
		t.Fatalf("%d wait, and not %d", n, before+1)
	}
}

// Waiting events get their turn in order; one beyond the limit is refused.
func TestTurnsComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, g, wg := blocked(t, func(c *monitor.Config) { c.Limits.Waiting = 5 })
		var want []string
		for i := range 5 {
			want = append(want, fmt.Sprint("word ", i))
			waits(t, d, wg, want[i])
			if n := d.Gathered("s"); n != i+1 {
				t.Fatalf("%d of %d are judged", n, i+1)
			}
		}
		refused(t, d, says("s", "one too many"), monitor.ErrBusy)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if reply, err := d.Handle(ctx, "", says("s", "gone")); err == nil || reply.Decision.Verdict != floodmark.Restrict {
			t.Error("somebody who has gone was answered")
		}
		close(g.open)
		wg.Wait()
		view, err := d.View(t.Context(), session("s"))
		if err != nil || !slices.Equal(view.State.Owner, append([]string{"first"}, want...)) {
			t.Errorf("the order was %q, %v", view.State.Owner, err)
		}
	})
}

// Events without facts wait for the write before them, and have the same limit.
func TestThoseWhoWriteNothingAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, g, wg := blocked(t, func(c *monitor.Config) { c.Limits.Waiting = 3 })
		defer wg.Wait()
		defer close(g.open)
		for range 3 {
			waits(t, d, wg, ".status")
		}
		if n := d.Gathered("s"); n != 3 {
			t.Fatalf("%d are judged", n)
		}
		refused(t, d, says("s", ".status"), monitor.ErrBusy)
	})
}

// A job that must be written alone keeps the session during another write, and counts as a waiter.
func TestAJobWrittenAloneIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, g, wg := blocked(t, func(c *monitor.Config) { c.Limits.Waiting = 2 })
		defer wg.Wait()
		defer close(g.open)
		wg.Go(func() { d.Handle(context.Background(), "", spawns("s", "child")) })
		synctest.Wait()
		if d.Waiting("s") != 1 {
			t.Fatal("it is not counted")
		}
		waits(t, d, wg, "second")
		refused(t, d, says("s", "one too many"), monitor.ErrBusy)
	})
}

// A waiter that gives up leaves the queue, and the rest go on. A session that begins another one
// keeps its turn until that is written.
func TestGivingUpLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, g, wg := blockedBy(t, spawns("s", "child"), func(c *monitor.Config) { c.Limits.Waiting = 2 })
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := d.Handle(ctx, "", says("s", "gives up"))
			gone <- err
		}()
		synctest.Wait()
		if n := d.Waiting("s"); n != 1 {
			t.Fatalf("%d wait", n)
		}
		waits(t, d, wg, "stays")
		cancel()
		if err := <-gone; err == nil {
			t.Error("it was answered")
		}
		waits(t, d, wg, "comes later")
		close(g.open)
		wg.Wait()
		view, err := d.View(t.Context(), session("s"))
		if err != nil || !slices.Equal(view.State.Owner, []string{"stays", "comes later"}) {
			t.Errorf("%q, %v", view.State.Owner, err)
		}
	})
}

// A stuck session does not block others; all together are bounded.
func TestInFlightIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, g, wg := blocked(t, func(c *monitor.Config) { c.Limits.InFlight = 2 })
		wg.Go(func() { d.Handle(context.Background(), "", at("other", hook.SessionStart)) })
		if s := <-g.inside; s != session("other") {
			t.Errorf("%s got through", s)
		}
		refused(t, d, at("third", hook.SessionStart), monitor.ErrBusy)
		close(g.open)
		wg.Wait()
		d.tell(t, at("third", hook.SessionStart))
	})
}

// The cache is bounded: evicted sessions are read again, with no other effect.
func TestSmallCache(t *testing.T) {
	mem := journal.NewMemory()
	d := newDesk(t, mem, func(c *monitor.Config) { c.Limits.CacheBytes, c.Limits.ContentBytes = 40_000, 1<<10 })
	for i := range 6 {
		poisoned(t, d, fmt.Sprint("s", i))
	}
	if n, bytes := d.Cached(); n != 2 || bytes > 40_000 {
		t.Errorf("%d sessions of %d bytes are remembered", n, bytes)
	}
	cold := func(id string) bool {
		if got := d.tell(t, mail(id, "c1")).Decision.Verdict; got != floodmark.Confirm {
			t.Errorf("%s: %v", id, got)
		}
		seen := d.observed()
		return seen[len(seen)-1].Cold
	}
	if cold("s5") || !cold("s0") || cold("s0") || cold("s5") || !cold("s1") || !cold("s0") {
		t.Error("not those used last are remembered")
	}
}

// A session larger than the cache still works.
func TestTinyCache(t *testing.T) {
	d := newDesk(t, journal.NewMemory(), func(c *monitor.Config) { c.Limits.CacheBytes, c.Limits.ContentBytes = 1, 1 })
	poisoned(t, d, "s")
	if got := d.tell(t, mail("s", "c1")).Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("got %v", got)
	}
	if n, bytes := d.Cached(); n != 0 || bytes != 0 {
		t.Errorf("%d sessions of %d bytes are remembered", n, bytes)
	}
}

func TestClosedMonitorRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, g, wg := blocked(t, func(*monitor.Config) {})
		closed := make(chan struct{})
		go func() { d.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("it did not wait for what it had begun")
		default:
		}
		refused(t, d, says("s", "late"), monitor.ErrClosed)
		close(g.open)
		wg.Wait()
		<-closed
	})
}
