package monitor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/provenance"
)

// often makes a monitor write snapshots of small sessions.
func often(c *monitor.Config) { c.Limits.SnapshotFrom = 7 }

func snapshotted(tb testing.TB, id string) *journal.Memory {
	tb.Helper()
	mem := journal.NewMemory()
	d := newDesk(tb, mem, often)
	poisoned(tb, d, id)
	d.tell(tb, says(id, "a last word"))
	start, err := mem.Begin(tb.Context(), session(id))
	if err != nil || len(start.Snapshot) == 0 || start.Link.Seq == uint64(len(facts(tb, mem, session(id)))) {
		tb.Fatalf("want a snapshot and a tail: %v, %v", start.Link, err)
	}
	return mem
}

func incidents(list []floodmark.Fact, kind string) int {
	n := 0
	for _, f := range list {
		if i, ok := f.(floodmark.IncidentSeen); ok && i.Kind == kind {
			n++
		}
	}
	return n
}

func TestSnapshotSavesReading(t *testing.T) {
	mem := snapshotted(t, "s")
	total, read := len(facts(t, mem, session("s"))), 0
	j := &faulty{Journal: mem, entry: func(e journal.Entry) (journal.Entry, error) {
		read++
		return e, nil
	}}
	d := newDesk(t, j)
	if got := d.tell(t, mail("s", "c1")).Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("got %v", got)
	}
	if read == 0 || read >= total {
		t.Errorf("read %d of %d entries", read, total)
	}
}

// A changed snapshot is refused. If all entries are intact, the session continues from them, and
// the incident is recorded.
func TestChangedSnapshotIsNotUsed(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"a flipped bit": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut off":       func(b []byte) []byte { return b[:len(b)-1] },
		"almost gone":   func(b []byte) []byte { return b[:5] },
		"cleaned":       func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("untrusted"), []byte("system")) },
		"old format":    func(b []byte) []byte { b[0] = 0; return b },
	} {
		t.Run(name, func(t *testing.T) {
			mem := snapshotted(t, "s")
			d := newDesk(t, &faulty{Journal: mem, begin: func(s journal.Start, err error) (journal.Start, error) {
				if len(s.Snapshot) > 0 {
					s.Snapshot = change(bytes.Clone(s.Snapshot))
				}
				return s, err
			}})
			if got := d.tell(t, mail("s", "c1")).Decision.Verdict; got != floodmark.Confirm {
				t.Errorf("got %v", got)
			}
			d.tell(t, says("s", "hello"))
			if n := incidents(facts(t, mem, session("s")), "snapshot-refused"); n != 1 {
				t.Errorf("%d incidents", n)
			}
			start, err := mem.Begin(t.Context(), session("s"))
			if err != nil || start.Link.Seq < 10 {
				t.Errorf("it was not replaced: %v, %v", start.Link, err)
			}
		})
	}
}

// A future format is no damage, nor is an older one: the entries are read.
func TestUnknownSnapshotFormatIsLeftAlone(t *testing.T) {
	for _, format := range []byte{1, 2, 3, 4, 6, 99} {
		mem := snapshotted(t, "s")
		d := newDesk(t, &faulty{Journal: mem, begin: func(s journal.Start, err error) (journal.Start, error) {
			s.Snapshot = append([]byte{format}, s.Snapshot...)
			return s, err
		}})
		if got := d.tell(t, mail("s", "c1")).Decision.Verdict; got != floodmark.Confirm {
			t.Errorf("format %d: got %v", format, got)
		}
		if n := incidents(facts(t, mem, session("s")), "snapshot-refused"); n != 0 {
			t.Errorf("format %d: %d incidents", format, n)
		}
	}
}

// Never a silently shorter session: the entries behind a snapshot must exist.
func TestShorterSessionIsBroken(t *testing.T) {
	mem := snapshotted(t, "s")
	start, err := mem.Begin(t.Context(), session("s"))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*journal.Start){
		"damaged, and later than all entries": func(s *journal.Start) { s.Link.Seq += 1000; s.Snapshot = []byte("odd") },
		"damaged, and of another entry":       func(s *journal.Start) { s.Link.Hash[0] ^= 1; s.Snapshot = []byte("odd") },
		"whole, and of another entry":         func(s *journal.Start) { s.Link.Hash[0] ^= 1 },
		"unknown, and later than all entries": func(s *journal.Start) { s.Link.Seq += 1000; s.Snapshot = []byte{99} },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, &faulty{Journal: mem, begin: func(journal.Start, error) (journal.Start, error) {
				changed := start
				change(&changed)
				return changed, nil
			}})
			refused(t, d, mail("s", "c1"), journal.ErrBroken)
		})
	}
}

// A snapshot of one session is not another's, nor is one under another key.
func TestSnapshotIsBoundToItsPlace(t *testing.T) {
	mem, donor := snapshotted(t, "s"), snapshotted(t, "clean")
	foreign, err := donor.Begin(t.Context(), session("clean"))
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, &faulty{Journal: mem, begin: func(s journal.Start, err error) (journal.Start, error) {
		s.Snapshot = foreign.Snapshot
		return s, err
	}})
	d.tell(t, mail("s", "c1"))
	rekeyed := newDesk(t, snapshotted(t, "s"), func(c *monitor.Config) {
		c.Key = func(string) (provenance.Key, error) { return provenance.Key{8}, nil }
	})
	rekeyed.tell(t, says("s", "hello"))
	for name, j := range map[string]journal.Journal{"foreign": mem, "rekeyed": rekeyed.cfg.Journal} {
		if n := incidents(facts(t, j, session("s")), "snapshot-refused"); n != 1 {
			t.Errorf("%s: %d incidents", name, n)
		}
	}
}

// A large session does not get a snapshot every few facts.
func TestSnapshotsGrowRarer(t *testing.T) {
	mem := journal.NewMemory()
	taken := map[uint64]bool{}
	d := newDesk(t, &faulty{Journal: mem, begin: func(s journal.Start, err error) (journal.Start, error) {
		if len(s.Snapshot) > 0 {
			taken[s.Link.Seq] = true
		}
		return s, err
	}}, often)
	d.tell(t, at("s", hook.SessionStart))
	for i := range 256 {
		d.tell(t, says("s", fmt.Sprint("word ", i)))
	}
	if n := len(taken); n < 4 || n > 10 {
		t.Errorf("%d snapshots of a session with 258 facts", n)
	}
}

// A call that waits for its decision writes no snapshot: results do, and calls only where no
// results come.
func TestSnapshotsComeWithResults(t *testing.T) {
	for _, answered := range []bool{true, false} {
		var point hook.Point
		taken := map[hook.Point]int{}
		d := newDesk(t, &faulty{Journal: journal.NewMemory(), append: func(_ context.Context, b journal.Batch, next func() error) error {
			if len(b.Records[0].Snapshot) > 0 {
				taken[point]++
			}
			return next()
		}}, often)
		tell := func(ev hook.Event) {
			point = ev.Point
			d.tell(t, ev)
		}
		tell(at("s", hook.SessionStart))
		tell(says("s", "read the files"))
		for i := range 60 {
			call := calls("s", fmt.Sprint("c", i), "read", fmt.Sprintf(`{"path":"f%d.go"}`, i))
			tell(call)
			if answered {
				tell(returns(call, fmt.Sprint("line ", i)))
			}
		}
		calls, results := taken[hook.BeforeToolCall], taken[hook.AfterToolCall]
		if answered && (calls > 0 || results < 3) || !answered && calls == 0 {
			t.Errorf("with results %v: %v", answered, taken)
		}
	}
}

// An erased session is forgotten but stays untrusted; a monitor that still caches it does not write
// it again.
func TestErasedSession(t *testing.T) {
	mem := snapshotted(t, "s")
	d, old := newDesk(t, mem), newDesk(t, mem, often)
	old.tell(t, at("s", hook.LoopIterationEnd)) // remembers it
	view, err := old.View(t.Context(), session("s"))
	if err != nil {
		t.Fatal(err)
	}
	stone := journal.Tombstone{Session: session("s"), Link: view.Link, Mark: view.State.Mark(), Why: "owner"}
	if err := mem.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	if got := d.tell(t, mail("s", "c1")).Decision.Verdict; got == floodmark.Allow {
		t.Error("an erased session is cleaner than it was")
	}
	after, err := d.View(t.Context(), session("s"))
	if err != nil || after.Erased == nil || len(after.State.Owner) != 0 || after.State.Mark() != view.State.Mark() {
		t.Errorf("%+v, %v", after, err)
	}
	for range 12 {
		old.tell(t, at("s", hook.LoopIterationStart))
	}
	start, err := mem.Begin(t.Context(), session("s"))
	if err != nil || bytes.Contains(start.Snapshot, []byte("a last word")) {
		t.Errorf("what was erased is back: %v", err)
	}
}

// A monitor also forgets a session that another process erased: at the next snapshot at the latest.
func TestErasureElsewhereIsLearned(t *testing.T) {
	mem := journal.NewMemory()
	d := newDesk(t, mem, often)
	poisoned(t, d, "s")
	view, err := d.View(t.Context(), session("s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Erase(t.Context(), journal.Tombstone{Session: session("s"), Link: view.Link, Mark: view.State.Mark()}); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		d.tell(t, at("s", hook.LoopIterationStart))
	}
	start, err := mem.Begin(t.Context(), session("s"))
	if err != nil || len(start.Snapshot) == 0 || bytes.Contains(start.Snapshot, []byte("read the news")) {
		t.Errorf("snapshot %q, %v", start.Snapshot, err)
	}
	if got := d.tell(t, mail("s", "c1")).Decision.Verdict; got == floodmark.Allow {
		t.Error("an erased session is cleaner than it was")
	}
}

func TestErasureIsKnownHereAtOnce(t *testing.T) {
	mem := journal.NewMemory()
	d := newDesk(t, mem, often)
	poisoned(t, d, "s")
	view, err := d.View(t.Context(), session("s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := mem.Erase(t.Context(), journal.Tombstone{Session: session("s"), Link: view.Link, Mark: view.State.Mark()}); err != nil {
		t.Fatal(err)
	}
	if err := d.Forget(t.Context(), session("s")); err != nil {
		t.Fatal(err)
	}
	d.tell(t, mail("s", "c1"))
	seen := d.observed()
	if last := seen[len(seen)-1]; !last.Cold {
		t.Errorf("it was remembered: %+v", last)
	}
}

// A tombstone that does not verify is damage.
func TestForgedTombstone(t *testing.T) {
	mem := snapshotted(t, "s")
	d := newDesk(t, &faulty{Journal: mem, begin: func(s journal.Start, err error) (journal.Start, error) {
		return journal.Start{Link: s.Link, Tombstone: &journal.Tombstone{Session: session("s"), Link: s.Link, Mark: floodmark.Clean()}}, err
	}}, func(c *monitor.Config) {
		c.Erased = func(journal.Tombstone) error { return errors.New("not signed by us") }
	})
	refused(t, d, mail("s", "c1"), journal.ErrBroken)
}
