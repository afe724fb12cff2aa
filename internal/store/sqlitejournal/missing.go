package sqlitejournal

import (
	"sync"

	"github.com/floodmark/floodmark/journal"
)

// missingSessions is the most absent sessions that are cached.
const missingSessions = 1 << 10

// missing caches sessions that were requested and are absent: if an owner never paused anything,
// decisions look up the absent session of pauses again and again. It never hides a write;
// [remembered] says why.
type missing struct {
	mu     sync.Mutex // guards all below
	names  map[journal.Session]struct{}
	writes uint64 // how often something was forgotten
}

func newMissing() *missing { return &missing{names: map[journal.Session]struct{}{}} }

// has reports whether a session is known to be absent. If it is not known, the caller reads the
// store and passes the result to learn, with the number returned here.
func (m *missing) has(s journal.Session) (is bool, writes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, is = m.names[s]
	return is, m.writes
}

// learn caches that the store has no such session, unless something was written since it was read.
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

// forget drops the sessions that a group wrote to.
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
