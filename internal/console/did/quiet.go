package did

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark/journal"
)

// maxQuiet bounds how many sessions are remembered, at some 150 bytes each.
const maxQuiet = 1 << 17

// A quiet session is one in which nobody was asked and nothing was stopped or contained. Most are. Its
// figures do not depend on the day, so it is read once.
type quiet struct {
	first     int64 // the earliest time of its facts, in nanoseconds since 1970
	last      int64 // when something was decided last; 0: nothing was
	agent     string
	decisions int32
	tasks     int32
	unseen    int32
	failed    int32 // calls that failed in a box
	counts    bool  // something in it was counted
	long      bool  // it is too long to be read
}

// quiets remembers quiet sessions by their last entries, in memory only. What is added to a session, or
// erased, gives it another last entry, or none. The zero quiets is ready for use.
type quiets struct {
	mu   sync.Mutex // guards all below
	of   map[journal.Hash]quiet
	name map[string]string // each agent's name is held once
}

// get returns a session all of which was recorded since a time.
func (q *quiets) get(last journal.Hash, since time.Time) (quiet, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	one, ok := q.of[last]
	return one, ok && one.first >= since.UnixNano()
}

func (q *quiets) put(last journal.Hash, one quiet) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of == nil || len(q.of) >= maxQuiet {
		q.of, q.name = map[journal.Hash]quiet{}, map[string]string{}
	}
	if q.name[one.agent] == "" {
		q.name[one.agent] = one.agent
	}
	one.agent = q.name[one.agent]
	q.of[last] = one
}
