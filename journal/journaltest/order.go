package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/floodmark/floodmark/journal"
)

func expectedSequence(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "one"), c.Next(t, "two"))

	behind := &Chain{Session: c.Session, Last: c.Entries[0].Link()}
	wantErr(t, "after an older entry", j.Append(t.Context(), batch(behind.Peek(t, "late"))), journal.ErrConflict)
	fresh := &Chain{Session: c.Session}
	wantErr(t, "as if it were new", j.Append(t.Context(), batch(fresh.Peek(t, "late"))), journal.ErrConflict)
	wantErr(t, "as if it were new, and longer", j.Append(t.Context(), batch(fresh.Peek(t, "a", "b", "c"))), journal.ErrConflict)
	other := &Chain{Session: c.Session, Last: c.Last}
	other.Last.Hash[31] ^= 1
	wantErr(t, "after the right number with another hash", j.Append(t.Context(), batch(other.Peek(t, "late"))), journal.ErrConflict)
	none := &Chain{Session: journal.Session{ID: "s2"}}
	none.Last.Hash[0] = 1
	wantErr(t, "after no entry, but a hash", j.Append(t.Context(), batch(none.Peek(t, "late"))), journal.ErrConflict)
	c.Verify(t, j)
	if n := count(t, j, none.Session); n != 0 {
		t.Errorf("%d entries in a refused session", n)
	}
	appendAll(t, j, c.Next(t, "three"))
	c.Verify(t, j)
}

func gapsRefused(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "one"))
	kept := *c
	c.Next(t, "two, never written")
	wantErr(t, "a gap of one", j.Append(t.Context(), batch(c.Peek(t, "three"))), journal.ErrConflict)
	unborn := NewChain("", "s2")
	unborn.Next(t, "one, never written")
	wantErr(t, "a session without its first", j.Append(t.Context(), batch(unborn.Peek(t, "two"))), journal.ErrConflict)
	far := &Chain{Session: c.Session, Last: journal.Link{Seq: 1<<63 + 5, Hash: c.Last.Hash}}
	wantErr(t, "a gap without end", j.Append(t.Context(), batch(far.Peek(t, "three"))), journal.ErrConflict)
	kept.Verify(t, j)
	for _, h := range collect(t, j.Heads(t.Context(), 0)) {
		if h.Session != c.Session {
			t.Errorf("a refused session has a head: %v", h)
		}
	}
}

func malformedRefused(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	skips := c.Peek(t, "one", "two", "three")
	skips.Entries = append(skips.Entries[:1:1], skips.Entries[2])
	foreign := c.Peek(t, "one")
	foreign.Session.ID = "s2"
	empty := c.Peek(t, "one")
	empty.Entries = nil
	for what, b := range map[string]journal.Batch{
		"nothing":                 {},
		"no entry":                batch(empty),
		"a gap within":            batch(skips),
		"another session's entry": batch(foreign),
		"one session twice":       batch(c.Peek(t, "one"), c.Peek(t, "other")),
	} {
		if err := j.Append(t.Context(), b); err == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if n := count(t, j, c.Session); n != 0 {
		t.Errorf("%d entries were written", n)
	}
}

func sameAgain(t *testing.T, j journal.Journal) {
	c, d := NewChain("", "s1"), NewChain("", "s2")
	r1, r2, r3 := c.Next(t, "one"), c.Next(t, "two", "three"), c.Next(t, "four")
	r1.Snapshot = []byte("first")
	r3.Snapshot = []byte("last")
	appendAll(t, j, r1, r2, r3)
	both := batch(c.Next(t, "five"), d.Next(t, "one"))
	if err := j.Append(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	before := collect(t, j.Heads(t.Context(), 0))
	for range 2 {
		appendAll(t, j, r3, r1, r2)
		if err := j.Append(t.Context(), both); err != nil {
			t.Errorf("a batch of two sessions again: %v", err)
		}
	}
	start, err := j.Begin(t.Context(), c.Session)
	if err != nil || string(start.Snapshot) != "last" {
		t.Errorf("snapshot %q, %v: the same again brought an old one back", start.Snapshot, err)
	}
	if after := collect(t, j.Heads(t.Context(), 0)); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("heads moved from %v to %v", before, after)
	}
	c.Verify(t, j)
	d.Verify(t, j)

	half := &Chain{Session: d.Session, Last: d.Last}
	wantErr(t, "half there, half new", j.Append(t.Context(), batch(r3, half.Peek(t, "two"))), journal.ErrConflict)
	over := &Chain{Session: c.Session, Last: r2.After}
	longer := over.Peek(t, "two", "three", "another")
	wantErr(t, "there, and then different", j.Append(t.Context(), batch(longer)), journal.ErrConflict)
	c.Verify(t, j)
	d.Verify(t, j)
}

// racers is how many writers try to append the next entry at once.
const racers = 8

func rounds() int {
	if testing.Short() {
		return 20
	}
	return 100
}

// large skips tests of one goroutine with many megabytes under the race detector, because they take
// minutes and find nothing there.
func large(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many megabytes: not in short mode")
	}
}

func oneWinner(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	for round := range rounds() {
		var tries []journal.Record
		for i := range racers {
			tries = append(tries, c.Peek(t, fmt.Sprintf("round %d racer %d", round, i)))
		}
		results := race(t, j, tries)
		won := -1
		for i, err := range results {
			switch {
			case err == nil && won >= 0:
				t.Fatalf("round %d: racers %d and %d both won", round, won, i)
			case err == nil:
				won = i
			case !errors.Is(err, journal.ErrConflict):
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if won < 0 {
			t.Fatalf("round %d: nobody won", round)
		}
		c.Entries = append(c.Entries, tries[won].Entries...)
		c.Last = tries[won].Last()
	}
	c.Verify(t, j)
}

func sameRace(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	for range 10 {
		r := c.Next(t, text(len(c.Entries), 40))
		tries := make([]journal.Record, racers)
		for i := range tries {
			tries[i] = r
		}
		for _, err := range race(t, j, tries) {
			if err != nil {
				t.Fatalf("the same from many at once: %v", err)
			}
		}
	}
	c.Verify(t, j)
}

// race makes all appends at once and returns their results.
func race(t *testing.T, j journal.Journal, tries []journal.Record) []error {
	results := make([]error, len(tries))
	begin := make(chan struct{})
	var wg sync.WaitGroup
	for i, r := range tries {
		wg.Go(func() {
			<-begin
			results[i] = j.Append(t.Context(), batch(r))
		})
	}
	close(begin)
	wg.Wait()
	return results
}
