package quota

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Turns admits events of several tenants by turns: the first waiting event of each tenant comes
// before the second of any tenant. One tenant never gets all places, so that the events of others
// do not have to wait for its slowest one.
type Turns struct {
	places, share, queue int

	mu    sync.Mutex // guards what is below
	used  int
	lines map[string]*line
	order []*line // the lines with a waiting event; the next turn is first
}

// A line holds the admitted and the waiting events of one tenant.
type line struct {
	tenant  string
	used    int
	waiting []chan struct{}
}

// How many events a node works on at once. A new event waits for the events that were admitted
// before it, so there are few places: enough to keep the processors busy while some events wait for
// the disk. One tenant can have three quarters of them.
const (
	leastPlaces        = 16
	placesPerProcessor = 8
	queueLength        = 256
)

// UsualTurns returns the turns of a node with so many processors.
func UsualTurns(processors int) *Turns {
	places := max(leastPlaces, placesPerProcessor*processors)
	return NewTurns(places, places*3/4, queueLength)
}

// NewTurns returns turns with so many places. One tenant gets at most share of them, and at most
// queue of its events wait.
func NewTurns(places, share, queue int) *Turns {
	return &Turns{places: places, share: min(share, places), queue: queue, lines: map[string]*line{}}
}

// Enter waits for a place. After a nil error the caller calls leave once.
func (t *Turns) Enter(ctx context.Context, tenant string) (leave func(), err error) {
	t.mu.Lock()
	l := t.lines[tenant]
	if l == nil {
		l = &line{tenant: tenant}
		t.lines[tenant] = l
	}
	if len(l.waiting) == 0 && t.fits(l) && !t.others() {
		t.seat(l)
		t.mu.Unlock()
		return func() { t.leave(l) }, nil
	}
	if len(l.waiting) >= t.queue {
		t.mu.Unlock()
		return nil, fmt.Errorf("%w: more than %d events wait", ErrOver, t.queue)
	}
	turn := make(chan struct{})
	if l.waiting = append(l.waiting, turn); len(l.waiting) == 1 {
		t.order = append(t.order, l)
	}
	t.mu.Unlock()
	select {
	case <-turn:
		return func() { t.leave(l) }, nil
	case <-ctx.Done():
		t.giveUp(l, turn)
		return nil, ctx.Err()
	}
}

// fits reports whether a line may have one more place.
func (t *Turns) fits(l *line) bool { return t.used < t.places && l.used < t.share }

// others reports whether a waiting event could be admitted.
func (t *Turns) others() bool { return slices.ContainsFunc(t.order, t.fits) }

func (t *Turns) seat(l *line) {
	t.used++
	l.used++
}

// leave frees a place for the next turn.
func (t *Turns) leave(l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used--
	l.used--
	t.next()
	t.tidy(l)
}

// next admits waiting events while there are places. A line from which an event was admitted goes
// to the end.
func (t *Turns) next() {
	for {
		i := slices.IndexFunc(t.order, t.fits)
		if i < 0 {
			return
		}
		l := t.order[i]
		t.order = slices.Delete(t.order, i, i+1)
		t.seat(l)
		close(l.waiting[0])
		if l.waiting = slices.Delete(l.waiting, 0, 1); len(l.waiting) > 0 {
			t.order = append(t.order, l)
		}
	}
}

// giveUp removes a waiting event. If it was admitted at the same moment, its place is passed on.
func (t *Turns) giveUp(l *line, turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.Index(l.waiting, turn)
	if i < 0 {
		t.used--
		l.used--
		t.next()
		t.tidy(l)
		return
	}
	if l.waiting = slices.Delete(l.waiting, i, i+1); len(l.waiting) == 0 {
		t.order = slices.DeleteFunc(t.order, func(o *line) bool { return o == l })
		t.tidy(l)
	}
}

// tidy drops an empty line. Without that, callers could use up the memory, because they choose the
// tenants' names.
func (t *Turns) tidy(l *line) {
	if l.used == 0 && len(l.waiting) == 0 && t.lines[l.tenant] == l {
		delete(t.lines, l.tenant)
	}
}
