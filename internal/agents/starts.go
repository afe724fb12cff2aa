package agents

import (
	"context"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
)

// Starts records which sessions began, for agents that run the hooks of a session's start and of
// its first prompt at the same time. If the prompt came first, the session would have an unknown
// past. Starts is safe for concurrent use. With a nil Starts no event waits.
type Starts struct {
	within time.Duration

	mu   sync.Mutex // guards what is below
	seen map[floodmark.SessionID]chan struct{}
}

const (
	// startWithin is how long a prompt waits for the start of its session. In measurements the two
	// were at most a fifth of a second apart.
	startWithin = time.Second
	// maxStarts bounds the remembered sessions. Beyond it all are dropped, and one prompt of every
	// session waits once more.
	maxStarts = 4096
)

// NewStarts returns an empty memory.
func NewStarts() *Starts { return newStarts(startWithin) }

func newStarts(within time.Duration) *Starts {
	return &Starts{within: within, seen: map[floodmark.SessionID]chan struct{}{}}
}

// of returns a channel that is closed when the session began. fresh says that the channel is new.
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

// came records that a session's start was judged.
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

// wait waits until the session began, or for startWithin. It waits only once for each session.
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
