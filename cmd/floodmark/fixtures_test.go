package main

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/floodmark/floodmark/catalog"
)

// shippedOnce returns the catalog that comes with the program. It is read only once for all tests,
// because reading it takes longer than most commands.
var shippedOnce = sync.OnceValues(catalog.Shipped)

// fixedNow returns the time in tests that need a fixed one.
func fixedNow() time.Time { return time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC) }

// A lockedBuffer can be read by a test while a command writes to it.
type lockedBuffer struct {
	mu   sync.Mutex // guards the fields below
	b    bytes.Buffer
	grew chan struct{} // closed by the next write; nil if no test waits for one
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grew != nil {
		close(l.grew)
		l.grew = nil
	}
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits until the written text is enough, and reports whether it is. over is done when no
// more will be written.
func (l *lockedBuffer) until(over context.Context, enough func(text string) bool) bool {
	for {
		l.mu.Lock()
		text := l.b.String()
		if l.grew == nil {
			l.grew = make(chan struct{})
		}
		grew := l.grew
		l.mu.Unlock()
		if enough(text) {
			return true
		}
		select {
		case <-grew:
		case <-over.Done():
			return enough(l.String())
		}
	}
}
