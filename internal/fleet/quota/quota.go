// Package quota keeps one tenant from using the resources of others. It bounds what each tenant may
// send, and admits tenants by turns if there is not enough for all. It does not judge events; an
// event that is not admitted is refused.
//
// Quotas are counted at each node, because a count in the database would cost a write, or a wait,
// for every event. A refusal over quota is not written to the journal, because a flood would fill
// it; it is in the status and in the agent's log.
package quota

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/floodmark/floodmark"
)

// Limits bound what one tenant may use at one node. A zero field means the default.
type Limits struct {
	// Events and Bytes are per second. A burst may have as many as two seconds.
	Events, Bytes int
	// Sessions bounds the sessions with an event within [SessionTime].
	Sessions int
	// Questions bounds the questions that wait for an answer.
	Questions int
	// InFlight bounds the bytes of events that are read or judged at once.
	InFlight int64
}

// The defaults, and the idle time after which a session is not counted.
const (
	DefaultEvents    = 200
	DefaultBytes     = 16 << 20
	DefaultSessions  = 10_000
	DefaultQuestions = 100
	DefaultInFlight  = 64 << 20
	SessionTime      = time.Hour
)

// burstSeconds is how many seconds of a rate may come at once. leastEvents and leastBytes are the
// least burst: enough for the events of one agent's turn, and for the largest event.
const (
	burstSeconds = 2
	leastEvents  = 20
	leastBytes   = 33 << 20
)

// Filled returns the limits with defaults for zero fields.
func (l Limits) Filled() Limits {
	set := func(field *int, usual int) {
		if *field <= 0 {
			*field = usual
		}
	}
	set(&l.Events, DefaultEvents)
	set(&l.Bytes, DefaultBytes)
	set(&l.Sessions, DefaultSessions)
	set(&l.Questions, DefaultQuestions)
	if l.InFlight <= 0 {
		l.InFlight = DefaultInFlight
	}
	return l
}

// ErrOver says that a tenant is over a quota. The error's text says which.
var ErrOver = errors.New("over quota")

// A Gate admits events to the monitor. It is safe for concurrent use.
type Gate struct {
	turns *Turns
	now   func() time.Time

	mu      sync.Mutex // guards what is below
	tenants map[string]*tenant
}

// tenant is the use of one tenant.
type tenant struct {
	limits   Limits
	events   *rate.Limiter
	bytes    *rate.Limiter
	sessions map[floodmark.SessionID]time.Time // the last event of each
	next     time.Time                         // no session expires before this
}

// NewGate returns a gate for tenants with limits. Tenants without limits only take turns.
func NewGate(limits map[string]Limits, turns *Turns, now func() time.Time) *Gate {
	g := &Gate{turns: turns, now: now, tenants: map[string]*tenant{}}
	for name, l := range limits {
		l = l.Filled()
		g.tenants[name] = &tenant{
			limits: l, sessions: map[floodmark.SessionID]time.Time{},
			events: rate.NewLimiter(rate.Limit(l.Events), max(leastEvents, burstSeconds*l.Events)),
			bytes:  rate.NewLimiter(rate.Limit(l.Bytes), max(leastBytes, burstSeconds*l.Bytes)),
		}
	}
	return g
}

// Enter admits an event of so many bytes when it is its tenant's turn. After a nil error the caller
// calls leave once.
func (g *Gate) Enter(ctx context.Context, name string, s floodmark.SessionID, bytes int64) (leave func(), err error) {
	if err := g.charge(name, s, bytes); err != nil {
		return nil, err
	}
	return g.turns.Enter(ctx, name)
}

// charge counts an event, or returns which quota it would exceed.
func (g *Gate) charge(name string, s floodmark.SessionID, bytes int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.tenants[name]
	if t == nil {
		return nil
	}
	now := g.now()
	if _, known := t.sessions[s]; !known && len(t.sessions) >= t.limits.Sessions {
		t.forget(now)
		if len(t.sessions) >= t.limits.Sessions {
			return fmt.Errorf("%w: more than %d sessions within an hour", ErrOver, t.limits.Sessions)
		}
	}
	if !t.events.AllowN(now, 1) {
		return fmt.Errorf("%w: more than %d events a second", ErrOver, t.limits.Events)
	}
	if !t.bytes.AllowN(now, int(min(bytes, int64(t.bytes.Burst())))) {
		return fmt.Errorf("%w: more than %d bytes a second", ErrOver, t.limits.Bytes)
	}
	t.sessions[s] = now
	return nil
}

// forget drops expired sessions. It is called for every event over the quota, and other events wait
// meanwhile, so it scans the sessions only when one can have expired.
func (t *tenant) forget(now time.Time) {
	if now.Before(t.next) && t.next.Sub(now) <= SessionTime {
		return
	}
	t.next = now.Add(SessionTime)
	for s, last := range t.sessions {
		if end := last.Add(SessionTime); !now.Before(end) {
			delete(t.sessions, s)
		} else if end.Before(t.next) {
			t.next = end
		}
	}
}

// Questions returns how many questions of a tenant may wait; zero means any number.
func (g *Gate) Questions(name string) int {
	if t := g.tenants[name]; t != nil { // the map never changes
		return t.limits.Questions
	}
	return 0
}
