package auditor

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark/audit"
)

// A Health counts an auditor's answers since the program was started.
type Health struct {
	Allowed, Blocked, Unsure, Failed int
	// Resting is set while the service is not asked because it failed too often.
	Resting bool
	// LastFailure says, in our words, why there was no answer the last time. It is empty if there
	// always was one.
	LastFailure   string
	LastFailureAt time.Time
}

type health struct {
	mu sync.Mutex // guards what is below
	Health
}

// note counts an answer and returns it.
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

// Health returns the counts so far.
func (a *Auditor) Health() Health {
	a.health.mu.Lock()
	h := a.health.Health
	a.health.mu.Unlock()
	h.Resting = a.breaker.resting(a.cfg.Now())
	return h
}
