package auditor

import (
	"fmt"
	"sync"
	"time"

	"github.com/floodmark/floodmark/audit"
)

// A Budget bounds how many cases of one session are sent to the service, and how much time they
// take together. Beyond it a person is asked. Zero means the default.
type Budget struct {
	Cases int
	Time  time.Duration
}

// The default budget of a session, and the largest one.
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

// maxSessions bounds the sessions whose costs are remembered. If there are more, the session that
// began first is forgotten, and its budget starts again if it comes back.
const maxSessions = 4096

// A ledger records what each session has used of its budget.
type ledger struct {
	limit Budget

	mu    sync.Mutex // guards what is below
	spent map[audit.Asker]Budget
	order []audit.Asker // in the order of their first case
}

// take counts a case and returns "", or returns why the budget is used up.
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

// spend adds the time that a case took.
func (l *ledger) spend(from audit.Asker, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now, ok := l.spent[from]; ok {
		now.Time += max(d, 0)
		l.spent[from] = now
	}
}
