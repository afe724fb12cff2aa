package sqlitejournal

import (
	"sync"

	"github.com/floodmark/floodmark/journal"
)

// missingSessions bounds how many sessions are remembered that are not there.
const missingSessions = 1 << 10

// missing are sessions that were asked for and are not there: where an owner never
// paused anything, each decision asks for the session that pauses are kept in. It
// hides no write, for the reason that [remembered] gives.
type missing struct {
	mu     sync.Mutex // guards all below
	names  map[journal.Session]struct{}
	writes uint64 // how often something was forgotten
}

func newMissing() *missing { return &missing{names: map[journal.Session]struct{}{}} }

// has reports whether a session is known not to be there. If it is not, the store
// is asked, and what it said given to learn with the number returned here.
func (m *missing) has(s journal.Session) (is bool, writes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, is = m.names[s]
	return is, m.writes
}

// learn remembers that the store has no such session, unless somebody has written
// since it was asked.
func (m *missing) learn(s journal.Session, writes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes != writes {
		return
	}
	if len(m.names) >= missingSessions {
		clear(m.names)
	}
	m.names[s] = struct{}{}
}

// forget drops the sessions that a group has written to.
func (m *missing) forget(group []*request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	for _, r := range group {
		for _, rec := range r.batch.Records {
			delete(m.names, rec.Session)
		}
	}
}
