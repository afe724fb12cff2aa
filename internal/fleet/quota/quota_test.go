package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/floodmark/floodmark"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Each limit admits its number and no more, says which limit it was, and does not affect other
// tenants.
func TestLimits(t *testing.T) {
	now := time.Unix(1000, 0)
	g := NewGate(map[string]Limits{"a": {Events: 50, Bytes: 40 << 20, Sessions: 3}, "b": {}}, NewTurns(4, 4, 4), func() time.Time { return now })
	enter := func(tenant string, s floodmark.SessionID, bytes int64) error {
		leave, err := g.Enter(t.Context(), tenant, s, bytes)
		if err == nil {
			leave()
		}
		return err
	}
	over := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrOver) || !strings.Contains(err.Error(), what) {
			t.Errorf("want %s: %v", what, err)
		}
	}
	for i := range 100 {
		if err := enter("a", floodmark.SessionID(fmt.Sprint(i%3)), 0); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	over("50 events a second", enter("a", "0", 0))
	over("3 sessions within an hour", enter("a", "9", 0))
	now = now.Add(time.Second)
	if err := enter("a", "0", 80<<20); err != nil {
		t.Error(err)
	}
	over("bytes a second", enter("a", "0", 1<<20))
	if err := enter("b", "0", 1<<20); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	for range 10 * DefaultEvents {
		if err := enter("", "0", 1<<30); err != nil {
			t.Fatalf("whoever runs the monitor: %v", err)
		}
	}
	now = now.Add(SessionTime)
	if err := enter("a", "9", 0); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	if g.Questions("a") != DefaultQuestions || g.Questions("") != 0 {
		t.Error("questions")
	}
}

// Concurrent events are counted, too.
func TestLimitsOfManyAtOnce(t *testing.T) {
	const most = 20
	g := NewGate(map[string]Limits{"a": {Sessions: most}}, NewTurns(4, 4, 100), func() time.Time { return time.Unix(1000, 0) })
	var in atomic.Int64
	var wait sync.WaitGroup
	for i := range 3 * most {
		wait.Go(func() {
			leave, err := g.Enter(t.Context(), "a", floodmark.SessionID(fmt.Sprint(i)), 0)
			if err != nil {
				return
			}
			in.Add(1)
			leave()
		})
	}
	wait.Wait()
	if in.Load() != most {
		t.Errorf("%d sessions, want %d", in.Load(), most)
	}
}

// However many events of one tenant wait, another tenant's event gets the second place that becomes
// free.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(2, 2, 1000)
		var held []func()
		for range 2 {
			leave, err := turns.Enter(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, leave)
		}
		in := make(chan string, 1000)
		var wait sync.WaitGroup
		queue := func(tenant string) {
			before := turns.waits()
			wait.Go(func() {
				leave, err := turns.Enter(t.Context(), tenant)
				if err != nil {
					t.Error(err)
					return
				}
				in <- tenant
				leave()
			})
			synctest.Wait()
			if turns.waits() != before+1 {
				t.Fatal("it does not wait")
			}
		}
		for range 500 {
			queue("a")
		}
		queue("b")
		queue("c")
		held[0]()
		wait.Wait()
		held[1]()
		close(in)
		var order []string
		for tenant := range in {
			order = append(order, tenant)
		}
		if b, c := slices.Index(order, "b"), slices.Index(order, "c"); b > 4 || c > 5 {
			t.Errorf("b came in as number %d, c as %d of %d", b+1, c+1, len(order))
		}
		if len(turns.lines) != 0 || len(turns.order) != 0 || turns.used != 0 {
			t.Errorf("left behind: %+v", turns)
		}
	})
}

func (t *Turns) waits() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, l := range t.lines {
		n += len(l.waiting)
	}
	return n
}

// One tenant never has all places, so that a slow gate of one tenant does not keep another out.
func TestAShareIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(4, 3, 1)
		var held []func()
		for range 3 {
			leave, err := turns.Enter(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, leave)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waits := make(chan error, 1)
		go func() { _, err := turns.Enter(ctx, "a"); waits <- err }()
		synctest.Wait()
		if turns.waits() != 1 {
			t.Error("it does not wait")
		}
		if _, err := turns.Enter(t.Context(), "a"); !errors.Is(err, ErrOver) {
			t.Errorf("more than may wait: %v", err)
		}
		leave, err := turns.Enter(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		leave()
		cancel()
		if err := <-waits; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for _, leave := range held {
			leave()
		}
		if len(turns.lines) != 0 || turns.used != 0 {
			t.Errorf("left behind: %+v", turns)
		}
	})
}

// For any order of events, no more places are taken than there are, no tenant has more than its
// share, and all places come back.
func TestTurnsLaw(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		places := rapid.IntRange(1, 4).Draw(t, "places")
		share := rapid.IntRange(1, places).Draw(t, "share")
		turns := NewTurns(places, share, 100)
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 40).Draw(t, "names")
		impatient := rapid.SliceOfN(rapid.Bool(), len(names), len(names)).Draw(t, "impatient")
		synctest.Test(outer, func(*testing.T) {
			var all atomic.Int64
			of := map[string]*atomic.Int64{"a": {}, "b": {}, "c": {}}
			var wait sync.WaitGroup
			for i, name := range names {
				wait.Go(func() {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					if impatient[i] {
						cancel()
					}
					leave, err := turns.Enter(ctx, name)
					if err != nil {
						return
					}
					if n, mine := all.Add(1), of[name].Add(1); n > int64(places) || mine > int64(share) {
						t.Errorf("%d at once, %d of %s", n, mine, name)
					}
					time.Sleep(time.Nanosecond) // until all others were admitted or wait
					all.Add(-1)
					of[name].Add(-1)
					leave()
				})
			}
			wait.Wait()
		})
		if turns.used != 0 || len(turns.order) != 0 || len(turns.lines) != 0 {
			t.Errorf("left behind: %+v", turns)
		}
	})
}

// A tenant over its quota of sessions delays no other. Its sessions are scanned only when one of
// them can have expired, and then that one is dropped.
func TestSessionsAreGoneThroughSeldom(t *testing.T) {
	start := time.Unix(1000, 0)
	of := &tenant{sessions: map[floodmark.SessionID]time.Time{}}
	for i := range 10 {
		of.sessions[floodmark.SessionID(fmt.Sprint(i))] = start.Add(time.Duration(i) * time.Minute)
	}
	at := start.Add(10 * time.Minute)
	of.forget(at)
	if want := start.Add(SessionTime); len(of.sessions) != 10 || !of.next.Equal(want) {
		t.Fatalf("%d sessions, next at %v, want %v", len(of.sessions), of.next, want)
	}
	of.sessions["0"] = time.Time{} // it would be dropped if the sessions were scanned
	of.forget(start.Add(SessionTime - 1))
	if len(of.sessions) != 10 {
		t.Error("gone through though none can be over")
	}
	of.forget(start.Add(SessionTime + time.Minute))
	if want := start.Add(SessionTime + 2*time.Minute); len(of.sessions) != 8 || !of.next.Equal(want) {
		t.Errorf("%d sessions, next at %v, want %v", len(of.sessions), of.next, want)
	}
	of.forget(start.Add(-time.Hour)) // the clock was set back
	if len(of.sessions) != 8 || of.next.After(start) {
		t.Errorf("after the clock was set back: %d sessions, next at %v", len(of.sessions), of.next)
	}
}
