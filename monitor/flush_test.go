package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A slowly is a journal whose appends wait to be released, one by one, each with its result.
type slowly struct {
	*faulty
	came chan journal.Batch
	say  chan error // nil lets it be written
}

func newSlowly() *slowly {
	return &slowly{faulty: &faulty{Journal: journal.NewMemory()}, came: make(chan journal.Batch, 64), say: make(chan error)}
}

func (s *slowly) begin() {
	s.append = func(_ context.Context, b journal.Batch, next func() error) error {
		s.came <- b
		if err := <-s.say; err != nil {
			return err
		}
		return next()
	}
}

// An outcome is what one caller received.
type outcome struct {
	reply hook.Reply
	err   error
}

// crowd is session s with one event being written and others behind it. It is made
// in a bubble.
func crowd(t *testing.T, j *slowly, behind []hook.Event, change ...func(*monitor.Config)) (d *desk, first chan outcome, others []chan outcome) {
	t.Helper()
	d = newDesk(t, j, change...)
	d.tell(t, at("s", hook.SessionStart))
	j.begin()
	ask := func(ev hook.Event) chan outcome {
		c := make(chan outcome, 1)
		go func() {
			reply, err := d.Handle(context.Background(), "", ev)
			c <- outcome{reply, err}
		}()
		return c
	}
	first = ask(says("s", "first"))
	<-j.came
	for i, ev := range behind {
		others = append(others, ask(ev))
		synctest.Wait()
		if n := d.Gathered("s"); n != i+1 { // one that waits for its turn is not judged yet
			t.Fatalf("%d of %d are judged", n, i+1)
		}
	}
	return d, first, others
}

func words(n int) (list []hook.Event) {
	for i := range n {
		list = append(list, says("s", fmt.Sprint("word ", i)))
	}
	return list
}

// Events that arrive during a write are written together, in order, and none is answered before
// that is durable.
func TestWhatComesAtOnceIsWrittenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newSlowly()
		d, first, others := crowd(t, j, words(20))
		j.say <- nil
		if o := <-first; o.err != nil {
			t.Fatal(o.err)
		}
		batch := <-j.came
		if n := len(batch.Records[0].Entries); n < 20 {
			t.Errorf("%d entries at once, want 20 events", n)
		}
		for i, c := range others {
			select {
			case <-c:
				t.Errorf("event %d was answered before it was durable", i)
			default:
			}
		}
		j.say <- nil
		want := []string{"first"}
		for i, c := range others {
			if o := <-c; o.err != nil || o.reply.Decision.Verdict != floodmark.Allow {
				t.Errorf("event %d: %v, %v", i, o.reply.Decision.Verdict, o.err)
			}
			want = append(want, fmt.Sprint("word ", i))
		}
		j.append = nil
		view, err := d.View(t.Context(), session("s"))
		if err != nil || !slices.Equal(view.State.Owner, want) {
			t.Errorf("the order was %q, %v", view.State.Owner, err)
		}
	})
}

// After a failed write, everything judged on it is refused and dropped from memory.
func TestWhatRestsOnAFailedWriteIsRefused(t *testing.T) {
	fetch := calls("s", "c0", "web_fetch", `{"url":"https://news.example/today"}`)
	nothing := says("s", ".status") // writes nothing, and rests on the others all the same
	for fails := range 2 {
		t.Run(fmt.Sprint("append ", fails), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := newSlowly()
				d, first, others := crowd(t, j, append(words(5), fetch, nothing))
				if fails == 1 {
					j.say <- nil
					if o := <-first; o.err != nil {
						t.Error(o.err)
					}
					<-j.came
				}
				j.say <- errDisk
				if fails == 0 {
					others = append(others, first)
				}
				for i, c := range others {
					if o := <-c; !errors.Is(o.err, errDisk) || o.reply.Decision.Verdict != floodmark.Restrict {
						t.Errorf("event %d: %v, %v", i, o.reply.Decision.Verdict, o.err)
					}
				}
				j.append = nil
				d.tell(t, says("s", "last"))
				want := []string{"first", "last"}[1-fails:]
				view, err := d.View(t.Context(), session("s"))
				if err != nil || !slices.Equal(view.State.Owner, want) {
					t.Errorf("the owner said %q, %v", view.State.Owner, err)
				}
				seen := d.observed()
				if last := seen[len(seen)-1]; !last.Cold {
					t.Error("what was never written is still remembered")
				}
			})
		})
	}
}

// After a conflict, every event that rests on the failed write is judged again and written once.
func TestAConflictIsJudgedAgainByAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newSlowly()
		_, first, others := crowd(t, j, words(5))
		other := newDesk(t, j.Journal)
		other.tell(t, says("s", "from another node"))
		go func() {
			for range j.came {
				j.say <- nil
			}
		}()
		j.say <- nil // finds that another node wrote first
		for _, c := range append(others, first) {
			if o := <-c; o.err != nil {
				t.Error(o.err)
			}
		}
		close(j.came)
		view, err := other.View(t.Context(), session("s"))
		if err != nil || len(view.State.Owner) != 7 || view.State.Owner[0] != "from another node" {
			t.Errorf("the owner said %q, %v", view.State.Owner, err)
		}
	})
}

// An event whose caller gives up waiting is still written by another goroutine.
func TestAnAbandonedEventIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newSlowly()
		d, first, _ := crowd(t, j, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i, ev := range words(3) {
			wg.Go(func() {
				if _, err := d.Handle(ctx, "", ev); !errors.Is(err, context.Canceled) {
					t.Errorf("somebody who has gone was told %v", err)
				}
			})
			synctest.Wait()
			if n := d.Gathered("s"); n != i+1 {
				t.Fatalf("%d of %d are judged", n, i+1)
			}
		}
		cancel()
		wg.Wait()
		j.say <- nil
		if b := <-j.came; len(b.Records[0].Entries) < 3 {
			t.Errorf("%d entries", len(b.Records[0].Entries))
		}
		j.say <- nil
		if o := <-first; o.err != nil {
			t.Error(o.err)
		}
		j.append = nil
		d.tell(t, says("s", "last"))
		view, err := d.View(t.Context(), session("s"))
		if err != nil || len(view.State.Owner) != 5 {
			t.Errorf("the owner said %q, %v", view.State.Owner, err)
		}
	})
}

// A session's next call sees its artifacts before they are durable: the facts are those of
// sequential calls.
func TestAFileBeingWrittenDownIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		write := calls("s", "c1", "write", `{"path":"/work/notes.md","content":"notes"}`)
		read := returns(calls("s", "c2", "read", `{"path":"/work/notes.md"}`), "notes")
		j := newSlowly()
		d := newDesk(t, j, coding(t))
		leaks(t, d, "s", "/work/other.md")
		j.begin()
		var wg sync.WaitGroup
		wg.Go(func() { d.Handle(context.Background(), "", write) })
		if b := <-j.came; len(b.Artifacts) == 0 {
			t.Fatal("nothing is left behind: this shows nothing")
		}
		var got []journal.Entry
		wg.Go(func() { _, got = d.Written(context.Background(), read) })
		synctest.Wait() // it waits for its turn to be judged by what is durable, or was judged too early
		j.say <- nil
		<-j.came
		j.say <- nil
		wg.Wait()
		alone := newDesk(t, journal.NewMemory(), coding(t))
		leaks(t, alone, "s", "/work/other.md")
		alone.tell(t, write)
		_, want := alone.Written(t.Context(), read)
		if diff := cmp.Diff(texts(want), texts(got)); diff != "" {
			t.Error(diff)
		}
	})
}

// A snapshot made during concurrent events equals their facts.
func TestSnapshotsAmongManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := journal.NewMemory()
		d := newDesk(t, &faulty{Journal: mem, append: func(_ context.Context, _ journal.Batch, next func() error) error {
			time.Sleep(50 * time.Microsecond)
			return next()
		}}, often)
		d.tell(t, at("s", hook.SessionStart))
		var wg sync.WaitGroup
		for w := range 16 {
			wg.Go(func() {
				for i := range 20 {
					d.Handle(context.Background(), "", says("s", fmt.Sprint(w, " says ", i)))
				}
			})
		}
		wg.Wait()
		start, err := mem.Begin(t.Context(), session("s"))
		if err != nil || len(start.Snapshot) == 0 {
			t.Fatalf("no snapshot, %v", err)
		}
		later := newDesk(t, mem, often)
		later.tell(t, says("s", "last"))
		for _, f := range facts(t, mem, session("s")) {
			if seen, ok := f.(floodmark.IncidentSeen); ok {
				t.Errorf("an incident: %+v", seen)
			}
		}
		view, err := later.View(t.Context(), session("s"))
		if err != nil || len(view.State.Owner) != 321 || strings.Join(view.State.Owner, "") == "" {
			t.Errorf("the owner said %d things, %v", len(view.State.Owner), err)
		}
	})
}

// A session is not evicted while it is being written, even from a tiny cache, but afterwards.
func TestASessionBeingWrittenIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newSlowly()
		d, first, _ := crowd(t, j, nil, func(c *monitor.Config) { c.Limits.CacheBytes = 1 })
		if n, _ := d.Cached(); n != 1 {
			t.Errorf("%d sessions are remembered while one is written to", n)
		}
		j.say <- nil
		if o := <-first; o.err != nil {
			t.Error(o.err)
		}
		if n, bytes := d.Cached(); n != 0 || bytes != 0 {
			t.Errorf("%d sessions of %d bytes are remembered without room", n, bytes)
		}
	})
}
