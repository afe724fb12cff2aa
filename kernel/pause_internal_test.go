package kernel

import (
	"testing"
	"time"

	"github.com/floodmark/floodmark"
)

// Forgetting the pause of one session leaves the others.
func TestEndPause(t *testing.T) {
	at := time.Unix(100, 0)
	s := &State{Opened: true}
	for _, of := range []floodmark.SessionID{"", "a", "b", "a"} {
		if err := s.Apply(floodmark.PauseBegan{Pause: floodmark.Pause{Session: of, From: at, Until: at.Add(1)}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Pauses) != 3 {
		t.Errorf("%+v", s.Pauses)
	}
	for i, of := range []floodmark.SessionID{"a", "c", "", "b"} {
		if err := s.Apply(floodmark.PauseEnded{Session: of}); err != nil || len(s.Pauses) != []int{2, 2, 1, 0}[i] {
			t.Errorf("%s: %+v %v", of, s.Pauses, err)
		}
	}
	if s.Pauses != nil {
		t.Error("an emptied list is none")
	}
	p := floodmark.Pause{Session: "a", From: at, Until: at.Add(5)}
	for _, o := range []floodmark.Pause{{From: at, Until: at.Add(5)}, {Session: "a", From: at.Add(1), Until: at.Add(5)}, {Session: "a", From: at, Until: at.Add(6)}} {
		if p.Same(o) || !p.Same(p) {
			t.Errorf("%+v", o)
		}
	}
}
