package hunt

import (
	"sync"

	"github.com/floodmark/floodmark/journal"
)

// maxSettled bounds how many sessions are remembered, at 40 bytes each.
const maxSettled = 1 << 17

// Settled remembers, by their last entries, sessions in which nothing waits and nothing is granted.
// That is so until another entry is written, so they need not be read again. The zero Settled is
// ready for use.
type Settled struct {
	mu   sync.Mutex // guards all below
	last map[journal.Hash]struct{}
}

// Has reports whether a session with this last entry is settled.
func (s *Settled) Has(last journal.Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.last[last]
	return is
}

// Add records that a session with this last entry is settled.
func (s *Settled) Add(last journal.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || len(s.last) >= maxSettled {
		s.last = map[journal.Hash]struct{}{}
	}
	s.last[last] = struct{}{}
}
