package agents

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/hook"
)

func report(session, does string, second bool) asked {
	a := asked{double: does, second: second}
	a.event = hook.Event{Agent: cursorName}
	a.event.Session, _ = sessionOf(cursorName, session)
	return a
}

// After one allowed report, one second report passes if it is of the same call in the same session
// and within the time limit.
func TestDoubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDoubles()
		take := func(session, does string) bool { return d.take(report(session, does, true)) }
		if take("s", "ls") {
			t.Error("nothing was allowed")
		}
		d.allowed(report("s", "ls", false))
		d.allowed(report("s", "ls", false))
		d.allowed(report("s", "rm", true)) // a second report lets no other report pass
		for _, wrong := range [][2]string{{"t", "ls"}, {"s", "rm"}, {"s", ""}} {
			if take(wrong[0], wrong[1]) {
				t.Errorf("%v passed", wrong)
			}
		}
		for i := range 3 {
			if take("s", "ls") != (i < 2) {
				t.Errorf("two were allowed, so two pass; this is number %d", i+1)
			}
		}
		d.allowed(report("s", "ls", false))
		time.Sleep(doubleWithin)
		d.allowed(report("s", "ls", false))
		if !take("s", "ls") {
			t.Error("at the limit of time")
		}
		time.Sleep(doubleWithin + 1)
		if take("s", "ls") || len(d.seen) != 0 {
			t.Error("beyond the limit of time")
		}
		var none *Doubles
		if none.allowed(report("s", "ls", false)); none.take(report("s", "ls", true)) {
			t.Error("nobody remembers")
		}
	})
}

func TestDoublesAreBounded(t *testing.T) {
	d := NewDoubles()
	for i := range maxDoubles {
		d.allowed(report("s", strconv.Itoa(i), false))
	}
	if len(d.seen) != maxDoubles {
		t.Errorf("at the limit %d", len(d.seen))
	}
	if d.allowed(report("s", "more", false)); len(d.seen) != 1 {
		t.Errorf("beyond the limit %d", len(d.seen))
	}
	for range maxDoubles - 1 {
		d.allowed(report("s", "more", false))
	}
	if d.allowed(report("s", "more", false)); len(d.seen[double{report("s", "", false).event.Session, "more"}]) != 1 {
		t.Error("one call is bounded, too")
	}
}
