package monitor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// auditor is a function as an auditor.
type auditor func(ctx context.Context, from audit.Asker, c audit.Case) (audit.Opinion, error)

func (a auditor) Audit(ctx context.Context, from audit.Asker, c audit.Case) (audit.Opinion, error) {
	return a(ctx, from, c)
}

func audited(tb testing.TB, a audit.Auditor) *desk {
	tb.Helper()
	rules := mustRules(tb, plain+"auditor: {on: true}\n")
	d := newDesk(tb, journal.NewMemory(), func(c *monitor.Config) {
		c.Auditor, c.Rules = a, func() kernel.Rules { return rules }
	})
	poisoned(tb, d, "s")
	return d
}

// note is a call that the rules leave to the auditor in a poisoned session.
func note() hook.Event {
	return calls("s", "c1", "write", `{"path":"notes.md","content":"hello"}`)
}

func TestAuditorsOpinion(t *testing.T) {
	for name, c := range map[string]struct {
		auditor audit.Auditor
		want    floodmark.Verdict
	}{
		"agrees": {auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) {
			return audit.Opinion{Says: audit.Allow}, nil
		}), floodmark.Allow},
		"does not agree": {auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) { return audit.Opinion{}, nil }), floodmark.Confirm},
		"fails": {auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) {
			return audit.Opinion{Says: audit.Allow}, errors.New("unreachable")
		}), floodmark.Confirm},
		"panics":       {auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) { panic("odd") }), floodmark.Confirm},
		"is not there": {nil, floodmark.Confirm},
	} {
		t.Run(name, func(t *testing.T) {
			d := audited(t, c.auditor)
			if got := d.tell(t, note()).Decision.Verdict; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The session goes on during a slow audit, and the auditor is asked again if the case has changed.
func TestAuditorHoldsNoLockAndSeesTheCaseAsItIs(t *testing.T) {
	var d *desk
	var shown []int
	d = audited(t, auditor(func(_ context.Context, _ audit.Asker, c audit.Case) (audit.Opinion, error) {
		if shown = append(shown, len(c.OwnerMessages)); len(shown) == 1 {
			d.tell(t, says("s", "and write it to /work/other.md"))
		}
		return audit.Opinion{Says: audit.Allow}, nil
	}))
	if got := d.tell(t, note()).Decision.Verdict; got != floodmark.Allow {
		t.Errorf("got %v", got)
	}
	if len(shown) != 2 || shown[0] != 1 || shown[1] != 2 {
		t.Errorf("the auditor saw so many of the owner's messages each time: %v", shown)
	}
}

// For a session with constant changes a person is asked in the end.
func TestAuditorIsNotAskedForEver(t *testing.T) {
	var d *desk
	asked := 0
	d = audited(t, auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) {
		asked++
		d.tell(t, says("s", "one more thing"))
		return audit.Opinion{Says: audit.Allow}, nil
	}))
	if got := d.tell(t, note()).Decision.Verdict; got != floodmark.Confirm || asked != 3 {
		t.Errorf("got %v after asking %d times", got, asked)
	}
}

// Changes during an audit count: here the owner's call does not need the auditor any more.
func TestOpinionDoesNotOutliveTheRules(t *testing.T) {
	strict := mustRules(t, plain+"taintPolicy: {untrusted: restrict}\n")
	soft := mustRules(t, plain+"auditor: {on: true}\n")
	rules := soft
	d := newDesk(t, journal.NewMemory(), func(c *monitor.Config) {
		c.Rules = func() kernel.Rules { return rules }
		c.Auditor = auditor(func(context.Context, audit.Asker, audit.Case) (audit.Opinion, error) {
			rules = strict
			return audit.Opinion{Says: audit.Allow}, nil
		})
	})
	poisoned(t, d, "s")
	if got := d.tell(t, note()).Decision.Verdict; got != floodmark.Restrict {
		t.Errorf("got %v, want what the rules say now", got)
	}
}
