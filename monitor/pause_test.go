package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// enforced reports whether a mail after a page is asked about.
func (d *desk) enforced(tb testing.TB, id, call string) bool {
	tb.Helper()
	got := d.tell(tb, mail(id, call)).Decision
	if got.Verdict != floodmark.Confirm && got.Verdict != floodmark.Allow {
		tb.Fatalf("%+v", got)
	}
	return got.Verdict == floodmark.Confirm
}

func (d *desk) pause(tb testing.TB, id string, length time.Duration) floodmark.Pause {
	tb.Helper()
	p, err := d.Pause(tb.Context(), session(id), length, "olga", "owner.sock")
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func (d *desk) move(by time.Duration) { d.clock.Add(int64(by)) }

// A pause holds at once, for its sessions, survives a restart, ends by itself, and does not restart
// when a clock goes back.
func TestPause(t *testing.T) {
	mem := journal.NewMemory()
	d := newDesk(t, mem)
	poisoned(t, d, "s")
	poisoned(t, d, "other")
	if !d.enforced(t, "s", "c1") {
		t.Error("nobody paused")
	}
	d.pause(t, "s", 10*time.Minute)
	if d.enforced(t, "s", "c2") || !d.enforced(t, "other", "c2") {
		t.Error("a pause is for its session")
	}
	d.pause(t, "", time.Minute)
	if d.enforced(t, "other", "c3") {
		t.Error("a pause of all is for all")
	}
	d.move(time.Minute)
	if d.enforced(t, "s", "c4") || !d.enforced(t, "other", "c4") {
		t.Error("the longer one holds, the shorter one ended")
	}
	d.move(-30 * time.Second)
	if !d.enforced(t, "other", "c5") {
		t.Error("what is over is over")
	}

	next := newDesk(t, mem) // killed and started again
	next.clock.Store(d.clock.Load())
	if next.enforced(t, "s", "c6") {
		t.Error("a restart ends no pause")
	}
	next.move(-time.Hour)
	if !next.enforced(t, "s", "c7") {
		t.Error("a clock before the beginning ends the pause")
	}
	next.move(time.Hour)
	if !next.enforced(t, "s", "c8") {
		t.Error("and it stays over")
	}
}

// Resuming holds at once here, and soon at another monitor of the same journal.
func TestResume(t *testing.T) {
	mem := journal.NewMemory()
	d, beside := newDesk(t, mem), newDesk(t, mem)
	poisoned(t, d, "s")
	poisoned(t, beside, "t")
	d.pause(t, "", time.Hour)
	if beside.move(time.Second); beside.enforced(t, "t", "c1") {
		t.Error("a pause is known everywhere")
	}
	was, err := d.Resume(t.Context(), "", floodmark.PauseEnded{Why: "enough", By: "olga"})
	if !was || err != nil || !d.enforced(t, "s", "c2") {
		t.Errorf("%v %v", was, err)
	}
	if was, err := d.Resume(t.Context(), "", floodmark.PauseEnded{Why: "enough"}); was || err != nil {
		t.Errorf("twice: %v %v", was, err)
	}
	if beside.move(time.Second); !beside.enforced(t, "t", "c3") {
		t.Error("and its end is, too")
	}
	if list, err := d.Paused(t.Context(), ""); len(list) != 0 || err != nil {
		t.Errorf("%v %v", list, err)
	}
}

// The limits of a pause, at each and one beyond, and its owner.
func TestPausesHaveLimits(t *testing.T) {
	d := newDesk(t, journal.NewMemory())
	for length, ok := range map[time.Duration]bool{0: false, -1: false, 1: true, floodmark.MaxPause: true, floodmark.MaxPause + 1: false} {
		if _, err := d.Pause(t.Context(), session(""), length, "", ""); (err == nil) != ok || err != nil && !errors.Is(err, monitor.ErrPause) {
			t.Errorf("%s: %v", length, err)
		}
	}
	for n := 1; n <= 256; n++ { // with that of all, 257
		_, err := d.Pause(t.Context(), session(fmt.Sprint("s", n)), time.Minute, "", "")
		if (err == nil) != (n < 256) {
			t.Fatalf("%d: %v", n, err)
		}
	}
	d.pause(t, "s7", time.Minute) // again is no further one
	if _, err := d.Pause(t.Context(), session(string(monitor.Pauses)), time.Minute, "", ""); err == nil {
		t.Error("the monitor's own session was paused")
	}
	if _, err := d.Handle(t.Context(), "", says(string(monitor.Pauses), "hello")); err == nil {
		t.Error("an agent wrote to the session of pauses")
	}
	if _, err := d.Pause(t.Context(), journal.Session{Tenant: "b"}, time.Minute, "", ""); err != nil {
		t.Fatal(err)
	}
	if got := d.PausedTenants(); len(got) != 0 {
		if list, err := d.Paused(t.Context(), "b"); len(list) != 1 || err != nil {
			t.Errorf("%v %v %v", got, list, err)
		}
	}
}

// A pause that cannot be read does not hold.
func TestAnUnreadablePauseDoesNotHold(t *testing.T) {
	mem := journal.NewMemory()
	d := newDesk(t, mem)
	poisoned(t, d, "s")
	d.pause(t, "", time.Hour)
	broken := newDesk(t, &faulty{Journal: mem, entry: func(e journal.Entry) (journal.Entry, error) {
		if e.Kind == "pause-began" {
			e.Body = append([]byte(nil), `{"from":"2026-01-01T00:00:00Z","until":"2026-01-01T07:00:00Z"}`...)
		}
		return e, nil
	}})
	if !broken.enforced(t, "s", "c1") {
		t.Error("a changed pause holds")
	}
}

// countsPauses counts reads of pauses, and blocks them until released.
type countsPauses struct {
	journal.Journal
	read atomic.Int64
	may  chan struct{}
}

func (c *countsPauses) Begin(ctx context.Context, s journal.Session) (journal.Start, error) {
	if string(s.ID) == string(monitor.Pauses) {
		c.read.Add(1)
		<-c.may
	}
	return c.Journal.Begin(ctx, s)
}

// Events that arrive while pauses are being read wait for that one read and use its result.
func TestPausesAreReadOnceForAllWhoAreJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counts := &countsPauses{Journal: journal.NewMemory(), may: make(chan struct{})}
		close(counts.may)
		d := newDesk(t, counts)
		const sessions = 16
		for i := range sessions {
			poisoned(t, d, fmt.Sprint("s", i))
		}
		d.pause(t, "", time.Hour)
		d.enforced(t, "s0", "c0")
		d.move(time.Minute) // what was read is old now
		counts.read.Store(0)
		counts.may = make(chan struct{})
		var all sync.WaitGroup
		var enforced atomic.Int64
		for i := range sessions {
			all.Go(func() {
				if d.enforced(t, fmt.Sprint("s", i), "c1") {
					enforced.Add(1)
				}
			})
		}
		synctest.Wait() // one reads, the others wait for it
		close(counts.may)
		all.Wait()
		if n := counts.read.Load(); n != 1 {
			t.Errorf("pauses were read %d times, want once", n)
		}
		if n := enforced.Load(); n != 0 {
			t.Errorf("%d of %d sessions did not hear of the pause", n, sessions)
		}
	})
}

// stallsPauses blocks one tenant's reads of pauses, while another's fail.
type stallsPauses struct {
	journal.Journal
	stall atomic.Bool
	waits chan struct{}
	may   chan struct{}
}

func (c *stallsPauses) Begin(ctx context.Context, s journal.Session) (journal.Start, error) {
	if s.ID == monitor.Pauses && c.stall.Load() {
		if s.Tenant == "noisy" {
			return journal.Start{}, errors.New("the caller went away")
		}
		close(c.waits)
		<-c.may
	}
	return c.Journal.Begin(ctx, s)
}

// A tenant with failing reads does not keep another's ended pause alive.
func TestAnotherTenantsFailureKeepsNoPauseAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		stalls := &stallsPauses{Journal: mem, waits: make(chan struct{}), may: make(chan struct{})}
		d, elsewhere := newDesk(t, stalls), newDesk(t, mem)
		poisoned(t, d, "s")
		d.pause(t, "s", time.Hour)
		if d.enforced(t, "s", "c1") {
			t.Fatal("the pause does not hold")
		}
		if was, err := elsewhere.Resume(t.Context(), "", floodmark.PauseEnded{Session: "s", By: "olga"}); err != nil || !was {
			t.Fatal(was, err)
		}
		d.move(time.Minute) // what was read is old now
		stalls.stall.Store(true)
		enforced := make(chan bool)
		go func() { enforced <- d.enforced(t, "s", "c2") }()
		<-stalls.waits
		if _, err := d.Paused(t.Context(), "noisy"); err == nil {
			t.Error("the other tenant's reading did not fail")
		}
		close(stalls.may)
		if !<-enforced {
			t.Error("a pause that was ended holds")
		}
	})
}

// Setting a clock back does not extend observation, not even while the monitor is stopped.
func TestNoClockMakesObservingLonger(t *testing.T) {
	mem := journal.NewMemory()
	d := newDesk(t, mem)
	poisoned(t, d, "s")
	if _, err := d.ObserveOnly(t.Context(), session(""), floodmark.MaxObserve+1, "olga", "owner.sock"); !errors.Is(err, monitor.ErrPause) {
		t.Errorf("too long: %v", err)
	}
	if _, err := d.ObserveOnly(t.Context(), session(""), 10*24*time.Hour, "olga", "owner.sock"); err != nil {
		t.Fatal(err)
	}
	d.move(9 * 24 * time.Hour)
	if d.enforced(t, "s", "c1") {
		t.Error("the owner observes")
	}
	next := newDesk(t, mem)
	next.clock.Store(d.clock.Load())
	next.move(-time.Minute)
	if next.enforced(t, "s", "c2") {
		t.Error("a clock that is corrected ends nothing")
	}
	next = newDesk(t, mem)
	next.clock.Store(d.clock.Load())
	next.move(-8 * 24 * time.Hour)
	if !next.enforced(t, "s", "c3") {
		t.Error("a clock that is set back while nothing runs makes it longer")
	}
	next.move(8 * 24 * time.Hour)
	if !next.enforced(t, "s", "c4") {
		t.Error("and it stays over")
	}
}
