package speakers

import (
	"context"
	"errors"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Marks caches the marks of sessions that are added to other sessions. A mark is cached until an
// event happens in its session. It is safe for concurrent use.
type Marks struct {
	mu   sync.Mutex // guards what is below
	last map[journal.Session]*lastMark
}

// lastMark is a session's mark as it was last read. seen is false if an event happened since, and
// changes counts the events.
type lastMark struct {
	label   floodmark.Label
	seen    bool
	changes uint64
}

// maxMarks bounds the cache; beyond it every mark is looked up again.
const maxMarks = 4096

// NewMarks returns an empty cache.
func NewMarks() *Marks { return &Marks{last: map[journal.Session]*lastMark{}} }

// Moved records that an event happened in a session.
func (m *Marks) Moved(s journal.Session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.last[s]; l != nil {
		l.seen = false
		l.changes++
	}
}

// of returns the mark of a session.
func (m *Marks) of(ctx context.Context, s journal.Session, look func(context.Context, journal.Session) (monitor.View, error)) (floodmark.Label, error) {
	m.mu.Lock()
	if len(m.last) >= maxMarks {
		m.last = map[journal.Session]*lastMark{}
	}
	l := m.last[s]
	if l == nil {
		l = &lastMark{}
		m.last[s] = l
	}
	label, seen, changes := l.label, l.seen, l.changes
	m.mu.Unlock()
	if seen {
		return label, nil
	}
	v, err := look(ctx, s)
	if err != nil {
		return floodmark.Label{}, err
	}
	label = v.State.Mark()
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.changes == changes {
		l.label, l.seen = label, true
	}
	return label, nil
}

// beside lowers the mark of s by the marks of the sessions in w. It returns false if s has not been
// opened yet.
func (h *Door) beside(ctx context.Context, s journal.Session, w placed) (done bool, err error) {
	if len(w.beside) == 0 && !w.lost {
		return true, nil
	}
	mark := floodmark.Clean()
	if w.lost {
		mark = floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private} // as for any unknown past
	}
	for _, id := range w.beside {
		one, err := h.opts.Marks.of(ctx, journal.Session{Tenant: s.Tenant, ID: id}, h.opts.Monitor.View)
		if errors.Is(err, monitor.ErrNoSession) {
			continue // nothing was read in it
		}
		if err != nil {
			return false, err
		}
		mark = mark.Join(one)
	}
	err = h.opts.Monitor.Beside(ctx, s, mark)
	if errors.Is(err, monitor.ErrNoSession) {
		return false, nil
	}
	return err == nil, err
}
