package auditor

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark/audit"
)

// A Health is how an auditor has done since the program runs.
type Health struct {
	Allowed, Blocked, Unsure, Failed int
	// Resting says that it is left alone because it failed too often.
	Resting bool
	// LastFailure is why it last gave no answer, in our words; empty if never.
	LastFailure   string
	LastFailureAt time.Time
}

type health struct {
	mu sync.Mutex // guards what is below
	Health
}

// note counts an answer on its way out.
func (a *Auditor) note(o audit.Opinion, err error) (audit.Opinion, error) {
	h := &a.health
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil:
		h.Failed++
		h.LastFailure, h.LastFailureAt = audit.None(err).Reason, a.cfg.Now()
		return audit.Opinion{}, err
	case o.Says == audit.Allow:
		h.Allowed++
	case o.Says == audit.Block:
		h.Blocked++
	default:
		h.Unsure++
	}
	return o, nil
}

// Health returns how it has done.
func (a *Auditor) Health() Health {
	a.health.mu.Lock()
	h := a.health.Health
	a.health.mu.Unlock()
	h.Resting = a.breaker.resting(a.cfg.Now())
	return h
}
