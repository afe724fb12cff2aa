package sqlitejournal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

// A read waits for a connection until its context ends. A connection that returned an error is not
// used again.
func TestReadersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := open(t, filepath.Join(t.TempDir(), "journal.db"), Options{Volatile: true})
		synctest.Wait() // the filling of the key filter uses a reader for a moment
		chain := journaltest.NewChain("", "s")
		if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{chain.Next(t, "x")}}); err != nil {
			t.Fatal(err)
		}
		s := journal.Session{ID: "s"}
		for range readers {
			j.sessions.slots <- struct{}{}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if _, err := j.Begin(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with all readers busy: %v", err)
		}
		<-j.sessions.slots
		if _, err := j.Begin(t.Context(), s); err != nil {
			t.Errorf("with one reader free: %v", err)
		}
		if n := len(j.sessions.idle); n != 1 {
			t.Errorf("%d readers are kept, want 1", n)
		}
		wrong := errors.New("wrong")
		if err := j.read(t.Context(), func(*reader) error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("got %v", err)
		}
		if n := len(j.sessions.idle); n != 0 {
			t.Errorf("%d readers are kept after an error, want 0", n)
		}
		for range readers - 1 {
			<-j.sessions.slots
		}
	})
}

// Heads after a mark are read in parts. Each head is listed once and in order, even across parts.
func TestHeadsInParts(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "journal.db"), Options{Volatile: true})
	for _, beyond := range []int{0, 1} {
		for first := 0; first < headsAtOnce+beyond; first += journal.MaxRecords {
			var b journal.Batch
			for i := first; i < min(first+journal.MaxRecords, headsAtOnce+beyond); i++ {
				chain := journaltest.NewChain(fmt.Sprint(beyond), fmt.Sprint(i))
				b.Records = append(b.Records, chain.Next(t, "x"))
			}
			if err := j.Append(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	for after, want := range map[journal.Mark]int{0: 2*headsAtOnce + 1, 1: 2 * headsAtOnce, headsAtOnce: headsAtOnce + 1, headsAtOnce + 1: headsAtOnce, 2*headsAtOnce + 1: 0} {
		n, last := 0, after
		for h, err := range j.Heads(t.Context(), after) {
			if err != nil {
				t.Fatal(err)
			}
			if h.Mark <= last {
				t.Fatalf("mark %d after %d", h.Mark, last)
			}
			n, last = n+1, h.Mark
		}
		if n != want {
			t.Errorf("%d heads after mark %d, want %d", n, after, want)
		}
	}
}
