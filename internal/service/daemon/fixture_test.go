package daemon

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/setup/config"
)

// noon is when all clocks of these tests begin.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// read counts how often the clock was read.
var read atomic.Int64

// now is the clock of all daemons here. It moves on by a microsecond whenever it is
// read, so no two times are the same, and however slow a machine is nothing expires.
func now() time.Time { return noon.Add(time.Duration(read.Add(1)) * time.Microsecond) }

// reader is shared by all tests: it reads the shipped rules once, and no test changes them.
var reader = config.NewReader()

// A bell wakes the goroutines that wait until something is so. Its zero value is ready.
type bell struct {
	mu   sync.Mutex    // guards next
	next chan struct{} // closed at the next ring; nil without a waiter
}

// ring says that something happened.
func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

func (b *bell) rings() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// until returns once something is so, and looks again at every ring. What changes
// must ring after it has changed. There is no limit: the go command ends a test that
// hangs, and prints where.
func (b *bell) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	t.Logf("until %s", what)
	for {
		next := b.rings()
		if so() {
			return
		}
		<-next
	}
}

// A lockedBuffer may be written to and read at once. It rings at every write, which
// is a line of the log.
type lockedBuffer struct {
	bell
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	defer l.ring()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits for what a daemon does by itself: it looks again whenever the daemon
// logs a line or other rules hold.
func (r *runner) until(t *testing.T, what string, so func() bool) {
	t.Helper()
	r.log.until(t, what, so)
}

// rung rings at the points that tests wait for, and not at those of an event that is
// answered: what until asks would ring for itself.
func (r *runner) rung(fault func(string)) func(string) {
	return func(point string) {
		if fault != nil {
			fault(point)
		}
		if point == pointReload {
			r.log.ring()
		}
	}
}

// A pace lets a loop of a daemon take one round at a time: between two rounds it waits
// for the test, and not for time.
type pace struct {
	rounds chan chan struct{}
	mu     sync.Mutex    // guards done
	done   chan struct{} // closed at the end of the running round; nil without a waiter
}

func newPace() *pace { return &pace{rounds: make(chan chan struct{})} }

// wait is called by the loop between two rounds, and reports whether ctx let it.
func (p *pace) wait(ctx context.Context) bool {
	p.mu.Lock()
	if p.done != nil {
		close(p.done)
		p.done = nil
	}
	p.mu.Unlock()
	select {
	case done := <-p.rounds:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done = done
		return true
	case <-ctx.Done():
		return false
	}
}

// round has the loop take one whole round: one that began before is not it.
func (p *pace) round() {
	done := make(chan struct{})
	p.rounds <- done
	<-done
}

// paces are those of the loops that have one, by their names.
type paces map[string]*pace

// wait is for Options: loops without a pace wait for time.
func (p paces) wait(ctx context.Context, loop string, d time.Duration) bool {
	if one := p[loop]; one != nil {
		return one.wait(ctx)
	}
	return sleepFor(ctx, d)
}
