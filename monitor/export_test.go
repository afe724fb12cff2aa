package monitor

import (
	"context"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// Written handles an event and returns what it wrote beside the reply.
func (m *Monitor) Written(ctx context.Context, ev hook.Event) (hook.Reply, []journal.Entry) {
	w, err := m.handle(ctx, journal.Session{ID: ev.Session}, ev)
	if err != nil {
		return hook.Reply{}, nil
	}
	return w.out.Reply, w.entries
}

// Waiting returns how many events wait for a session.
func (m *Monitor) Waiting(id floodmark.SessionID) int {
	m.seats.mu.Lock()
	defer m.seats.mu.Unlock()
	s := m.seats.all[journal.Session{ID: id}]
	if s == nil {
		return 0
	}
	return s.behind()
}

// Gathered returns how many judged events of a session wait for the next flush.
func (m *Monitor) Gathered(id floodmark.SessionID) (n int) {
	m.seats.mu.Lock()
	defer m.seats.mu.Unlock()
	s := m.seats.all[journal.Session{ID: id}]
	if s == nil {
		return 0
	}
	if f := s.flushing; f != nil {
		n = max(0, f.waiting-f.carried)
	}
	if s.next != nil {
		n += s.next.waiting
	}
	return n
}

// Cached returns how many sessions are remembered, in how many bytes.
func (m *Monitor) Cached() (int, int64) {
	m.seats.mu.Lock()
	defer m.seats.mu.Unlock()
	return len(m.seats.all), m.seats.bytes
}

// Listening returns the number of sessions with a waiting listener.
func (m *Monitor) Listening() int {
	m.news.mu.Lock()
	defer m.news.mu.Unlock()
	return len(m.news.bells)
}
