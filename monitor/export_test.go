package monitor

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
)

// Waiting returns how many events wait for a session.
func (m *Monitor) Waiting(id floodmark.SessionID) int {
	m.seats.mu.Lock()
	defer m.seats.mu.Unlock()
	s := m.seats.all[journal.Session{ID: id}]
	if s == nil {
		return 0
	}
	return len(s.waiting)
}

// Cached returns how many sessions are remembered, in how many bytes.
func (m *Monitor) Cached() (int, int64) {
	m.seats.mu.Lock()
	defer m.seats.mu.Unlock()
	return len(m.seats.all), m.seats.bytes
}

// Listening returns how many sessions somebody waits for.
func (m *Monitor) Listening() int {
	m.news.mu.Lock()
	defer m.news.mu.Unlock()
	return len(m.news.bells)
}
