package sqlitejournal

import "github.com/floodmark/floodmark/journal"

// headsKept is how many sessions' heads each half of the cache holds: more than
// the 20,000 that are active within a minute on a busy node.
const headsKept = 1 << 15

// A head is a session's number and its last entry.
type head struct {
	sid  int64
	link journal.Link
}

// heads caches the last entries of the sessions in use, so that an append need not look up its
// predecessor. A last entry that is not cached is read from the store. It has two halves: when the
// young one is full, the old one is dropped.
type heads struct{ young, old map[journal.Session]head }

func newHeads() *heads { return &heads{young: map[journal.Session]head{}} }

func (h *heads) get(s journal.Session) (head, bool) {
	if e, ok := h.young[s]; ok {
		return e, true
	}
	e, ok := h.old[s]
	if ok {
		h.put(s, e)
	}
	return e, ok
}

func (h *heads) put(s journal.Session, e head) {
	if len(h.young) >= headsKept {
		h.old, h.young = h.young, make(map[journal.Session]head, headsKept)
	}
	h.young[s] = e
}

// forget drops everything, after a failed group.
func (h *heads) forget() { h.young, h.old = map[journal.Session]head{}, nil }
