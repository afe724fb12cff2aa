package agents

import (
	"context"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
)

// Starts knows which sessions began, for agents that start the hooks of a
// session's beginning and of its first prompt at once. A prompt that overtakes
// its session would make it one with an unknown past. It is safe for concurrent
// use; nil waits for nothing.
type Starts struct {
	within time.Duration

	mu   sync.Mutex // guards what is below
	seen map[floodmark.SessionID]chan struct{}
}

const (
	// startWithin is how long a prompt is held back for the start of its
	// session. Measured, one overtakes the other by a fifth of a second at most.
	startWithin = time.Second
	// maxStarts bounds what is remembered. Beyond it all is forgotten: then one
	// prompt of every session waits once more.
	maxStarts = 4096
)

// NewStarts returns one that knows no session.
func NewStarts() *Starts { return newStarts(startWithin) }

func newStarts(within time.Duration) *Starts {
	return &Starts{within: within, seen: map[floodmark.SessionID]chan struct{}{}}
}

// of returns a channel closed when the session began; fresh says that this is its first request.
func (s *Starts) of(id floodmark.SessionID) (began chan struct{}, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began, known := s.seen[id]; known {
		return began, false
	}
	if len(s.seen) >= maxStarts {
		clear(s.seen)
	}
	began = make(chan struct{})
	s.seen[id] = began
	return began, true
}

// came says that a session's start was judged.
func (s *Starts) came(id floodmark.SessionID) {
	if s == nil {
		return
	}
	began, _ := s.of(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-began:
	default:
		close(began)
	}
}

// wait returns when the session began, or when that was waited for long enough,
// once for each session.
func (s *Starts) wait(ctx context.Context, id floodmark.SessionID) {
	if s == nil {
		return
	}
	began, fresh := s.of(id)
	if !fresh {
		return
	}
	t := time.NewTimer(s.within)
	defer t.Stop()
	select {
	case <-began:
	case <-t.C:
	case <-ctx.Done():
	}
}
