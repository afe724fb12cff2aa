package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// Events of one session that come at once share a flush of the journal. Each is
// judged by what those before it wrote, though that is not durable yet; none is
// answered before its own facts and all before them are. Two flushes of a
// session are never under way: what is judged while one is gathers for the next.
// If one fails, so does what rests on it, and the session is read again. See
// docs/decisions/0002-journal-and-stores.md.

// The bounds of what gathers for one flush. A large one keeps those who came
// first waiting; an event that is larger goes alone.
const (
	flushEntries = 1024
	flushBytes   = 1 << 20
)

// unfounded says that what an event was judged by was not written: it has to be
// judged again, as after a conflict.
func unfounded() error {
	return fmt.Errorf("%w: what this rests on was not written", journal.ErrConflict)
}

// errPanicked stands for what a journal would have said.
var errPanicked = errors.New("the journal panicked")

// A flush is what one session writes at once. The lock of the seats guards it until its write
// starts; from then on it belongs to the writing goroutine.
type flush struct {
	batch journal.Batch
	bytes int
	// waiting is how many events want to know how it went.
	waiting int
	// carried is how many there were when it was begun; those who came later
	// write nothing themselves.
	carried int
	lead    chan struct{} // tells one of them to write it
	begun   chan struct{} // closed when nothing more goes in
	done    chan struct{} // closed when err is what became of it
	err     error
}

func newFlush(b journal.Batch, bytes int) *flush {
	return &flush{batch: b, bytes: bytes, waiting: 1, lead: make(chan struct{}, 1), begun: make(chan struct{}), done: make(chan struct{})}
}

// takes reports whether b can be written with what is there. A snapshot is of
// the last entry, so nothing follows one.
func (f *flush) takes(b journal.Batch, bytes int) bool {
	mine, more := f.batch.Records, b.Records
	return len(mine) == 1 && len(more) == 1 && len(mine[0].Snapshot) == 0 &&
		f.bytes+bytes <= flushBytes && len(mine[0].Entries)+len(more[0].Entries) <= flushEntries
}

// add puts b behind what is there.
func (f *flush) add(b journal.Batch, bytes int) {
	r := &f.batch.Records[0]
	r.Entries = append(r.Entries, b.Records[0].Entries...)
	r.Snapshot = b.Records[0].Snapshot
	f.batch.Contents = append(f.batch.Contents, b.Contents...)
	f.batch.Artifacts = append(f.batch.Artifacts, b.Artifacts...)
	f.bytes += bytes
	f.waiting++
}

// leaves reports whether something is left behind in f under one of these keys.
func (f *flush) leaves(keys []floodmark.Digest) bool {
	if f == nil {
		return false
	}
	return slices.ContainsFunc(f.batch.Artifacts, func(a journal.Artifact) bool { return slices.Contains(keys, a.Key) })
}

// gather adds a batch, judged while holding s, to the next flush. lead means that the caller must
// write that flush.
func (t *seats) gather(ctx context.Context, s *seat, b journal.Batch) (f *flush, lead bool, err error) {
	bytes := bytesOf(b)
	for {
		t.mu.Lock()
		switch {
		case s.broken != s.basis:
			t.mu.Unlock()
			return nil, false, unfounded()
		case s.flushing == nil:
			f = newFlush(b, bytes)
			s.begin(f)
			t.mu.Unlock()
			return f, true, nil
		case s.next == nil:
			f = newFlush(b, bytes)
			s.next = f
			t.mu.Unlock()
			return f, false, nil
		case s.next.takes(b, bytes):
			f = s.next
			f.add(b, bytes)
			t.mu.Unlock()
			return f, false, nil
		}
		begun := s.next.begun
		s.stalled = true
		t.mu.Unlock()
		if err := t.stall(ctx, s, begun); err != nil {
			return nil, false, err
		}
	}
}

// stall waits until a channel is closed, and then clears the stalled flag that the holder of s set.
func (t *seats) stall(ctx context.Context, s *seat, until <-chan struct{}) (err error) {
	select {
	case <-until:
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.mu.Lock()
	s.stalled = false
	t.mu.Unlock()
	return err
}

// begin makes f the one that is being written. The lock of the seats is held.
func (s *seat) begin(f *flush) {
	f.carried = f.waiting
	s.flushing = f
	close(f.begun)
}

// settled records how a flush ended and wakes its waiters. It returns the next flush if the caller
// must write that one too.
func (t *seats) settled(s *seat, f *flush, err error) (mine *flush) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.err = err
	close(f.done)
	next := s.next
	s.flushing, s.next = nil, nil
	switch {
	case err != nil:
		s.broken++
		if next != nil {
			next.err = err
			close(next.begun)
			close(next.done)
		}
	case next != nil:
		s.begin(next)
		if next.waiting == 0 {
			return next
		}
		next.lead <- struct{}{}
	default:
		t.tidy(s)
	}
	return nil
}

// abandon leaves a flush before it is settled. It reports false if the caller is
// the one who has to write it.
func (t *seats) abandon(f *flush) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f.waiting == 1 {
		select {
		case <-f.lead:
			return false
		default:
		}
	}
	f.waiting--
	return true
}

// drain waits, for the holder of s, until no flush of it is under way.
func (t *seats) drain(ctx context.Context, s *seat) error {
	for {
		t.mu.Lock()
		last := s.next
		if last == nil {
			last = s.flushing
		}
		s.stalled = last != nil
		t.mu.Unlock()
		if last == nil {
			return nil
		}
		if err := t.stall(ctx, s, last.done); err != nil {
			return err
		}
	}
}

// join makes the caller one of those who wait for all that is under way in s; nil
// if nothing is.
func (t *seats) join(s *seat) (*flush, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.broken != s.basis {
		return nil, unfounded()
	}
	f := s.next
	if f == nil {
		f = s.flushing
	}
	if f != nil {
		f.waiting++
	}
	return f, nil
}

// failures is how many flushes of s failed.
func (t *seats) failures(s *seat) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.broken
}

// founded reports whether no flush of s has failed since the caller, which holds s, read its memory.
func (t *seats) founded(s *seat) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.broken == s.basis
}

// leaving reports whether something is under way in s under one of these keys.
func (t *seats) leaving(s *seat, keys []floodmark.Digest) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.flushing.leaves(keys) || s.next.leaves(keys)
}

// settle waits until a flush is durable, and writes it itself if no other goroutine does. If ctx
// ends while another goroutine writes, the outcome stays unknown.
func (m *Monitor) settle(ctx context.Context, s *seat, f *flush, lead bool) error {
	if !lead {
		select {
		case <-f.done:
			return f.err
		case <-f.lead:
		case <-ctx.Done():
			if m.seats.abandon(f) {
				return ctx.Err()
			}
		}
	}
	for next := f; next != nil; {
		next = m.flush(ctx, s, next)
	}
	return f.err
}

// flush writes one. It is not the caller's alone, so its end does not end with
// the caller's patience.
func (m *Monitor) flush(ctx context.Context, s *seat, f *flush) (next *flush) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.cfg.Limits.Deadline)
	defer cancel()
	err := errPanicked
	defer func() { next = m.seats.settled(s, f, err) }()
	err = m.cfg.Journal.Append(ctx, f.batch)
	return nil
}

// bytesOf is about what a batch takes.
func bytesOf(b journal.Batch) (n int) {
	for _, r := range b.Records {
		n += len(r.Snapshot)
		for _, e := range r.Entries {
			n += len(e.Body)
		}
	}
	for _, c := range b.Contents {
		n += len(c.Postings)
	}
	for _, a := range b.Artifacts {
		n += len(a.Body)
	}
	return n
}
