package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

const (
	races  = 200
	racers = 8
)

// winners lets racers append different facts after the same entry, again and again. It returns
// an error unless exactly one racer of each race succeeds and its entry is in the journal.
func winners(ctx context.Context, j journal.Journal) error {
	s := journal.Session{ID: "race"}
	var after journal.Link
	for n := range races {
		var won atomic.Int64
		var next atomic.Pointer[journal.Link]
		var wg sync.WaitGroup
		failed := make(chan error, racers)
		for r := range racers {
			entries, err := journal.Seal(s, after, time.Unix(int64(n), int64(r)), []floodmark.Fact{floodmark.SessionOpened{Agent: fmt.Sprint("racer-", r)}})
			if err != nil {
				return err
			}
			b := journal.Batch{Records: []journal.Record{{Session: s, After: after, Entries: entries}}}
			wg.Go(func() {
				switch err := j.Append(ctx, b); {
				case err == nil:
					won.Add(1)
					last := b.Records[0].Last()
					next.Store(&last)
				case !errors.Is(err, journal.ErrConflict):
					failed <- err
				}
			})
		}
		wg.Wait()
		select {
		case err := <-failed:
			return fmt.Errorf("race %d: %w", n, err)
		default:
		}
		if won.Load() != 1 {
			return fmt.Errorf("race %d: %d of %d racers won, want 1", n, won.Load(), racers)
		}
		after = *next.Load()
	}
	prev := journal.Link{}
	for e, err := range j.Read(ctx, s, 0) {
		if err != nil {
			return err
		}
		if err := journal.Check(s, prev, e); err != nil {
			return err
		}
		prev = e.Link()
	}
	if prev != after {
		return fmt.Errorf("the race ended at entry %d, the journal at %d", after.Seq, prev.Seq)
	}
	return nil
}
