package past_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/journal"
)

// write appends a session.
func write(t *testing.T, j journal.Journal, id string, at time.Time, n int) {
	t.Helper()
	s, last := journal.Session{ID: floodmark.SessionID(id)}, journal.Link{}
	for n > 0 {
		var facts []floodmark.Fact
		for range min(n, journal.MaxEntries) {
			facts = append(facts, floodmark.TurnOpened{Turn: 1})
		}
		n -= len(facts)
		entries, err := journal.Seal(s, last, at, facts)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{{Session: s, After: last, Entries: entries}}}); err != nil {
			t.Fatal(err)
		}
		last = entries[len(entries)-1].Link()
	}
}

// TestSince yields the last written session first, and passes over one that is too long.
func TestSince(t *testing.T) {
	j, day := journal.NewMemory(), time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	write(t, j, "old", day.Add(-time.Hour), 1)
	write(t, j, "long", day, past.MaxFacts+1)
	write(t, j, "full", day.Add(time.Hour), past.MaxFacts)
	write(t, j, "new", day.Add(2*time.Hour), 2)
	got := ""
	for s, err := range past.Since(t.Context(), j, "", day, nil) {
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprint(s.Name, " ", len(s.Facts), " ", s.Wrong != nil, " ", s.First, "; ")
	}
	if want := fmt.Sprintf("new 2 false 1; full %d false 1; long 0 true 0; ", past.MaxFacts); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	yielded, last := 0, error(nil)
	for _, err := range past.Since(ctx, j, "", time.Time{}, nil) {
		yielded, last = yielded+1, err
		cancel()
	}
	if yielded != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d more after the caller had gone: %v", yielded-1, last)
	}
}
