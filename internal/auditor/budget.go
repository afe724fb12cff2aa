package auditor

import (
	"fmt"
	"sync"
	"time"

	"github.com/floodmark/floodmark/audit"
)

// A Budget is what one session may cost: so many cases, and so much time spent on them. Beyond it a
// person is asked. Zero means the default.
type Budget struct {
	Cases int
	Time  time.Duration
}

// The usual budget of a session, and how far one goes.
const (
	DefaultCases = 100
	DefaultTime  = 5 * time.Minute
	MaxCases     = 10_000
	MaxTime      = 24 * time.Hour
)

func (b Budget) orUsual() Budget {
	if b.Cases <= 0 {
		b.Cases = DefaultCases
	}
	if b.Time <= 0 {
		b.Time = DefaultTime
	}
	return b
}

// maxSessions bounds the sessions whose costs are known at one time. Beyond it the one that began
// first is dropped, and starts again if it comes back.
const maxSessions = 4096

// A ledger knows what each session has cost.
type ledger struct {
	limit Budget

	mu    sync.Mutex // guards what is below
	spent map[audit.Asker]Budget
	order []audit.Asker // as they came
}

// take counts a case, or says in words why there is no room for it.
func (l *ledger) take(from audit.Asker) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.spent == nil {
		l.spent = map[audit.Asker]Budget{}
	}
	now, known := l.spent[from]
	switch {
	case now.Cases >= l.limit.Cases:
		return fmt.Sprintf("the %d cases that a session may have are used up", l.limit.Cases)
	case now.Time >= l.limit.Time:
		return fmt.Sprintf("the %s that a session may take are used up", l.limit.Time)
	}
	if !known {
		if len(l.order) >= maxSessions {
			delete(l.spent, l.order[0])
			l.order = l.order[1:]
		}
		l.order = append(l.order, from)
	}
	now.Cases++
	l.spent[from] = now
	return ""
}

// spend notes how long a case took.
func (l *ledger) spend(from audit.Asker, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now, ok := l.spent[from]; ok {
		now.Time += max(d, 0)
		l.spent[from] = now
	}
}
