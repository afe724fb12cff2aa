package agents

import (
	"sync"
	"time"

	"github.com/floodmark/floodmark"
)

// Doubles remembers allowed calls, for agents that report a call twice: as a tool, and as what the
// tool does. If both reports were judged, the first would use up the approval of the call. After
// one report was allowed, one second report with the same content is let through. Doubles is safe
// for concurrent use. A nil Doubles remembers nothing, so every report is judged.
type Doubles struct {
	mu   sync.Mutex // guards what is below
	seen map[double][]time.Time
}

type double struct {
	session floodmark.SessionID
	does    string
}

const (
	// doubleWithin is how long the second report may take. A later report, for instance after a
	// prompt to a person, is judged.
	doubleWithin = time.Minute
	// maxDoubles bounds the remembered calls, and the reports of one call. Beyond it everything is
	// dropped, and the second reports are judged.
	maxDoubles = 4096
)

// NewDoubles returns an empty memory.
func NewDoubles() *Doubles { return &Doubles{seen: map[double][]time.Time{}} }

// allowed records the first report of an allowed call.
func (d *Doubles) allowed(about asked) {
	if d == nil || about.double == "" || about.second {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := double{about.event.Session, about.double}
	if len(d.seen) >= maxDoubles || len(d.seen[name]) >= maxDoubles {
		clear(d.seen)
	}
	d.seen[name] = append(d.seen[name], time.Now())
}

// take reports whether a call was allowed just now, and forgets that one report.
func (d *Doubles) take(about asked) bool {
	if d == nil || about.double == "" {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	name := double{about.event.Session, about.double}
	list := d.seen[name]
	for len(list) > 0 && time.Since(list[0]) > doubleWithin {
		list = list[1:]
	}
	found := len(list) > 0
	if found {
		list = list[1:]
	}
	if d.seen[name] = list; len(list) == 0 {
		delete(d.seen, name)
	}
	return found
}
