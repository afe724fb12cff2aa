package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// Concurrent events of one session share a flush of the journal. An event is judged on the facts of
// the events before it, even if these facts are not durable yet. It is answered only when its own
// facts and all earlier facts are durable. A session has at most one flush under way; events judged
// meanwhile are collected for the next flush. If a flush fails, all events that depend on it fail,
// and the session is read again. See docs/decisions/0002-journal-and-stores.md.

// The bounds of one shared flush, because a large flush delays its first events. An event that
// exceeds them gets a flush of its own.
const (
	flushEntries = 1024
	flushBytes   = 1 << 20
)

// unfounded returns a conflict: an event was judged on facts that were not written, and has to be
// judged again.
func unfounded() error {
	return fmt.Errorf("%w: what this rests on was not written", journal.ErrConflict)
}

// errPanicked stands in for the error of a journal that panicked.
var errPanicked = errors.New("the journal panicked")

// A flush is what one session writes at once. The lock of the seats guards the batch until its
// write starts; from then on the batch belongs to the writing goroutine.
type flush struct {
	batch journal.Batch
	bytes int
	// waiting is the number of events that wait until this flush is durable.
	waiting int
	// carried is the value of waiting when the write began. Events that joined later wrote nothing
	// into the flush.
	carried int
	lead    chan struct{} // tells one of the waiting events to write the flush
	begun   chan struct{} // closed when nothing more can be added
	done    chan struct{} // closed when the write has ended and err is set
	err     error
}

func newFlush(b journal.Batch, bytes int) *flush {
	return &flush{batch: b, bytes: bytes, waiting: 1, lead: make(chan struct{}, 1), begun: make(chan struct{}), done: make(chan struct{})}
}

// takes reports whether b can be added to f. Nothing can be added after a snapshot, because a
// snapshot must be of the last entry of its flush.
func (f *flush) takes(b journal.Batch, bytes int) bool {
	mine, more := f.batch.Records, b.Records
	return len(mine) == 1 && len(more) == 1 && len(mine[0].Snapshot) == 0 &&
		f.bytes+bytes <= flushBytes && len(mine[0].Entries)+len(more[0].Entries) <= flushEntries
}

// add appends b to f.
func (f *flush) add(b journal.Batch, bytes int) {
	r := &f.batch.Records[0]
	r.Entries = append(r.Entries, b.Records[0].Entries...)
	r.Snapshot = b.Records[0].Snapshot
	f.batch.Contents = append(f.batch.Contents, b.Contents...)
	f.batch.Artifacts = append(f.batch.Artifacts, b.Artifacts...)
	f.bytes += bytes
	f.waiting++
}

// leaves reports whether f writes an artifact under one of the keys. A nil flush writes nothing.
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

// stall waits until a channel is closed or ctx ends. It then clears the stalled flag that the
// holder of s set.
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

// begin starts the write of f. The lock of the seats is held.
func (s *seat) begin(f *flush) {
	f.carried = f.waiting
	s.flushing = f
	close(f.begun)
}

// settled records how a flush ended and wakes its waiters. If no event waits for the next flush any
// more, it returns that flush and the caller must write it, too.
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

// abandon stops waiting for a flush. It returns false if the caller has to write it.
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

// join returns the last flush of s, with the caller counted as a waiter; nil if there is none.
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

// failures returns how many flushes of s failed.
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

// leaving reports whether a flush of s writes an artifact under one of the keys.
func (t *seats) leaving(s *seat, keys []floodmark.Digest) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.flushing.leaves(keys) || s.next.leaves(keys)
}

// settle waits until a flush is durable, or writes it if the caller leads or is told to. If ctx
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

// flush writes f. Other events share f, so the write continues after the caller's ctx ends. It
// returns what [seats.settled] returns.
func (m *Monitor) flush(ctx context.Context, s *seat, f *flush) (next *flush) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.cfg.Limits.Deadline)
	defer cancel()
	err := errPanicked
	defer func() { next = m.seats.settled(s, f, err) }()
	err = m.cfg.Journal.Append(ctx, f.batch)
	return nil
}

// bytesOf returns about how many bytes a batch takes.
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
