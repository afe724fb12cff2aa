package asking

import (
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/floodmark/floodmark/wire"
)

// A question may be asked while the screen starts. So the screen asks for the open questions only
// after it receives events, and again when events were left out. Otherwise it could miss the
// question.
func TestWhatWaitsIsAskedForOnceEventsAreHeard(t *testing.T) {
	synctest.Test(t, whatWaitsIsAskedFor) // the screen's clock ticks each second
}

func whatWaitsIsAskedFor(t *testing.T) {
	w, _ := newWatcher()
	asked := 0
	w.pending = func() tea.Msg { asked++; return nil }
	run := func(c tea.Cmd) int {
		before := asked
		if c != nil {
			c()
		}
		return asked - before
	}
	if run(w.Init()) != 0 {
		t.Error("it is asked before anything is heard")
	}
	for i, c := range []struct {
		what *wire.WatchResponse
		want int
	}{{&wire.WatchResponse{}, 1}, {&wire.WatchResponse{}, 0}, {&wire.WatchResponse{Missed: 3}, 1}} {
		_, cmd := w.Update(happened{c.what})
		if n := run(cmd); n != c.want {
			t.Errorf("message %d: asked %d times, want %d", i, n, c.want)
		}
	}
}
