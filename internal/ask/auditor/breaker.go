package auditor

import (
	"sync"
	"time"
)

// After maxFailures in a row, a service is not called for firstRest. If it then fails again, the
// pause doubles, up to longestRest.
const (
	maxFailures = 5
	firstRest   = 30 * time.Second
	longestRest = 5 * time.Minute
)

// How a request to the service ended.
const (
	failed  = iota
	unknown // it is not known whether the service works
	worked
)

// A breaker keeps cases from waiting for a service that does not answer. After a pause it admits
// one case, as a trial.
type breaker struct {
	mu       sync.Mutex // guards what is below
	failures int
	rest     time.Duration // the length of the pause; zero: cases are admitted
	until    time.Time
	trying   bool
}

// A visit is an admitted case.
type visit struct {
	alone bool          // the case is the trial after a pause
	wait  time.Duration // if not admitted: the rest of the pause
}

// enter reports whether a case may be sent.
func (b *breaker) enter(now time.Time) (v visit, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rest == 0 {
		return visit{}, true
	}
	if b.trying || now.Before(b.until) {
		return visit{wait: max(b.until.Sub(now), time.Second)}, false
	}
	b.trying = true
	return visit{alone: true}, true
}

// leave records how a visit ended.
func (b *breaker) leave(v visit, now time.Time, result int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.alone {
		b.trying = false
	}
	switch result {
	case worked:
		b.failures, b.rest = 0, 0
	case failed:
		b.failures++
		switch {
		case b.rest == 0 && b.failures >= maxFailures:
			b.rest, b.until = firstRest, now.Add(firstRest)
		case b.rest > 0 && v.alone:
			b.rest = min(2*b.rest, longestRest)
			b.until = now.Add(b.rest)
		}
	}
}

// resting reports whether no case is admitted.
func (b *breaker) resting(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rest > 0 && now.Before(b.until)
}
