package journaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

func endedContext(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "one"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer stop()
	b := batch(c.Peek(t, "two"), NewChain("", "s2").Peek(t, "one"))
	b.Contents = []journal.Content{content("", "x", "never")}
	wantErr(t, "append, cancelled", j.Append(ended, b), context.Canceled)
	wantErr(t, "append, too late", j.Append(late, b), context.DeadlineExceeded)
	wantErr(t, "erase, cancelled", j.Erase(ended, tombstone(c)), context.Canceled)
	if _, err := drain(j.Read(ended, c.Session, 0)); err == nil {
		t.Error("read, cancelled: no error, so it looks like the whole session")
	}
	c.Verify(t, j)
	if n := count(t, j, journal.Session{ID: "s2"}); n != 0 {
		t.Errorf("%d entries were written", n)
	}
	wantPostings(t, j, "", map[string]string{}, "x")
}

// endingContexts cancels appends while they are under way. Each result must be true of the journal.
func endingContexts(t *testing.T, j journal.Journal) {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			c := NewChain("", fmt.Sprint("s", worker))
			for i := range rounds() {
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(time.Duration(i*worker%40)*25*time.Microsecond, cancel)
				r := c.Peek(t, text(i, 100))
				err := j.Append(ctx, batch(r))
				timer.Stop()
				cancel()
				got, readErr := drain(j.Read(t.Context(), c.Session, c.Last.Seq))
				if readErr != nil {
					t.Error(readErr)
					return
				}
				written := len(got) == 1 && got[0].Hash == r.Last().Hash
				switch {
				case err == nil && !written:
					t.Errorf("acknowledged, but not there")
				case err != nil && written && !errors.Is(err, journal.ErrInDoubt):
					t.Errorf("there, but said %v", err)
				case err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, journal.ErrInDoubt):
					t.Errorf("cancelled: %v", err)
				}
				if written {
					c.Next(t, text(i, 100))
				}
			}
			c.Verify(t, j)
		})
	}
	wg.Wait()
}

func closed(t *testing.T, j journal.Journal) {
	c := NewChain("", "s1")
	appendAll(t, j, c.Next(t, "one"))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
	ctx := t.Context()
	wantErr(t, "append", j.Append(ctx, batch(c.Peek(t, "two"))), journal.ErrClosed)
	wantErr(t, "append the same", j.Append(ctx, batch(journal.Record{Session: c.Session, Entries: c.Entries})), journal.ErrClosed)
	wantErr(t, "erase", j.Erase(ctx, tombstone(c)), journal.ErrClosed)
	_, err := j.Begin(ctx, c.Session)
	wantErr(t, "begin", err, journal.ErrClosed)
	_, err = drain(j.Read(ctx, c.Session, 0))
	wantErr(t, "read", err, journal.ErrClosed)
	_, err = j.Postings(ctx, "", []floodmark.Digest{floodmark.DigestOf("x")})
	wantErr(t, "postings", err, journal.ErrClosed)
	_, err = drain(j.Heads(ctx, 0))
	wantErr(t, "heads", err, journal.ErrClosed)
	_, err = drain(j.Recent(ctx, ""))
	wantErr(t, "recent", err, journal.ErrClosed)
}

// closeUnderLoad closes a journal during many appends, and returns what was acknowledged.
func closeUnderLoad(t *testing.T, j journal.Journal) []*Chain {
	chains := make([]*Chain, 16)
	started := make(chan struct{}, len(chains))
	var wg sync.WaitGroup
	for i := range chains {
		c := NewChain("", fmt.Sprint("s", i))
		chains[i] = c
		wg.Go(func() {
			for n := 0; ; n++ {
				r := c.Peek(t, text(n, 100))
				err := j.Append(t.Context(), batch(r))
				if errors.Is(err, journal.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("append while closing: %v", err)
					return
				}
				c.Next(t, text(n, 100))
				if n == 2 {
					started <- struct{}{}
				}
			}
		})
	}
	for range chains {
		select {
		case <-started:
		case <-time.After(time.Minute):
			t.Fatal("nothing is written")
		}
	}
	if err := j.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	wg.Wait()
	return chains
}

func closeWaits(t *testing.T, j journal.Journal) { closeUnderLoad(t, j) }

func manyAtOnce(t *testing.T, j journal.Journal) {
	chains := make([]*Chain, 32)
	var wg sync.WaitGroup
	for i := range chains {
		c := NewChain(fmt.Sprint("t", i%3), fmt.Sprint("s", i))
		chains[i] = c
		wg.Go(func() {
			for n := range rounds() {
				r := c.Next(t, text(n, 50), text(n, 600))
				if n%10 == 9 {
					r.Snapshot = []byte(text(n, 2000))
				}
				b := batch(r)
				b.Contents = []journal.Content{content(c.Session.Tenant, fmt.Sprint(n), "index")}
				if err := j.Append(t.Context(), b); err != nil {
					t.Errorf("append: %v", err)
					return
				}
				if n%8 == i%8 {
					c.Verify(t, j)
				}
			}
		})
	}
	wg.Wait()
	var want int
	for _, c := range chains {
		c.Verify(t, j)
		want++
	}
	if got := len(lastOf(collect(t, j.Heads(t.Context(), 0)))); got != want {
		t.Errorf("%d sessions, want %d", got, want)
	}
}

func survives(t *testing.T, o Options) {
	j := o.Open(t)
	defer func() { j.Close() }()
	a, b, c := NewChain("", "a"), NewChain("x", "b"), NewChain("", "c")
	r := b.Next(t, "1", "2")
	r.Snapshot = []byte("after two")
	first := batch(a.Next(t, "1"), r)
	first.Contents = []journal.Content{content("x", "content", "index")}
	if err := j.Append(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, c.Next(t, "1"), b.Next(t, "3"))
	stone := tombstone(a)
	if err := j.Erase(t.Context(), stone); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j = o.Reopen(t, j)
		b.Verify(t, j)
		c.Verify(t, j)
		wantBegin(t, j, b.Session, journal.Start{Link: b.Entries[1].Link(), Snapshot: []byte("after two")})
		wantBegin(t, j, a.Session, journal.Start{Link: a.Entries[0].Link(), Tombstone: &stone})
		a.verify(t, j, 1)
		wantPostings(t, j, "x", map[string]string{"content": "index"}, "content")
		wantErr(t, "stale", j.Append(t.Context(), batch((&Chain{Session: c.Session}).Peek(t, "x"))), journal.ErrConflict)
		appendAll(t, j, a.Next(t, "more"), b.Next(t, "more"), c.Next(t, "more"))
		wantHeads(t, j, 0, a.head(), b.head(), c.head())
	}
}

func marksSurvive(t *testing.T, o Options) {
	j := o.Open(t)
	defer func() { j.Close() }()
	a, b := NewChain("", "a"), NewChain("", "b")
	appendAll(t, j, a.Next(t, "1"), b.Next(t, "1"))
	mark := wantHeads(t, j, 0, a.head(), b.head())
	if err := j.Erase(t.Context(), tombstone(b)); err != nil {
		t.Fatal(err)
	}
	j = o.Reopen(t, j)
	mark = wantHeads(t, j, mark, head{b.Session, b.Last, tombstone(b).At})
	appendAll(t, j, a.Next(t, "2"))
	mark = wantHeads(t, j, mark, a.head())
	j = o.Reopen(t, j)
	wantHeads(t, j, mark)
	appendAll(t, j, b.Next(t, "2"))
	wantHeads(t, j, mark, b.head())
}

func acknowledgedSurvives(t *testing.T, o Options) {
	j := o.Open(t)
	chains := closeUnderLoad(t, j)
	j = o.Reopen(t, j)
	defer j.Close()
	for _, c := range chains {
		c.Verify(t, j)
	}
}
