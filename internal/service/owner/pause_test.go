package owner

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// Only a person at a terminal pauses, at the owner's own socket.
func TestWhoMayPause(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	q := &wire.PauseRequest{Seconds: 60}
	if _, err := r.Pause(t.Context(), me(), q); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("a script paused: %v", err)
	}
	for _, who := range []httpapi.Identity{away(), stranger(), {Channel: httpapi.HookSocket}, {}} {
		if _, err := r.Pause(httpapi.AtTerminal(t.Context()), who, q); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%+v paused: %v", who, err)
		}
	}
	if got := r.tell("s1", r.install()).Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("got %v", got)
	}
	for seconds, ok := range map[int64]bool{-1: false, 0: false, 1: true, 8 * 3600: true, 8*3600 + 1: false, 1 << 60: false} {
		if _, err := r.Pause(httpapi.AtTerminal(t.Context()), me(), &wire.PauseRequest{Seconds: seconds}); (err == nil) != ok {
			t.Errorf("%d seconds: %v", seconds, err)
		}
	}
	if _, err := r.Pause(httpapi.AtTerminal(t.Context()), me(), &wire.PauseRequest{Seconds: 1, Session: "floodmark/pauses"}); err == nil {
		t.Error("the monitor's own session was paused")
	}
}

// When a pause is over, the calls that it let through are counted, equal calls once.
func TestAccountOfAPause(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	if _, err := r.Pause(httpapi.AtTerminal(t.Context()), me(), &wire.PauseRequest{Seconds: 600}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := r.tell("s1", r.install()).Decision; got.Verdict != floodmark.Allow || got.Would != "confirm" {
			t.Fatalf("%+v", got)
		}
	}
	if s, err := r.Status(t.Context(), me(), &wire.StatusRequest{}); err != nil || len(s.GetPauses()) != 1 {
		t.Errorf("%v %v", s.GetPauses(), err)
	}
	if ended, err := r.EndPauses(t.Context(), ""); err != nil || len(ended) != 0 {
		t.Fatalf("%v %v", ended, err)
	}
	r.later(11 * time.Minute)
	if got := r.tell("s1", r.install()).Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("got %v", got)
	}
	ended, err := r.EndPauses(t.Context(), "")
	if err != nil || len(ended) != 1 || ended[0].GetAsked() != 1 || ended[0].GetRefused() != 0 || len(ended[0].GetLines()) != 2 {
		t.Errorf("%v %v", ended, err)
	}
	if again, err := r.EndPauses(t.Context(), ""); err != nil || len(again) != 0 {
		t.Errorf("told twice: %v %v", again, err)
	}
	if s, err := r.Status(t.Context(), me(), &wire.StatusRequest{}); err != nil || len(s.GetPauses()) != 0 {
		t.Errorf("%v %v", s.GetPauses(), err)
	}
}

// A cracked is a journal with a damaged session.
type cracked struct{ journal.Journal }

func (c cracked) Read(ctx context.Context, s journal.Session, after uint64) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range c.Journal.Read(ctx, s, after) {
			if s.ID == "s2" {
				e.Body = []byte(`{"agent":"other"}`)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A session that cannot be read does not prolong a pause.
func TestResumeWhateverCannotBeCounted(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	r.poisoned("s2")
	if _, err := r.Pause(httpapi.AtTerminal(t.Context()), me(), &wire.PauseRequest{Seconds: 600}); err != nil {
		t.Fatal(err)
	}
	r.tell("s1", r.install())
	r.tell("s2", r.install())
	r.Journal = cracked{r.Journal}
	got, err := r.Resume(t.Context(), away(), &wire.ResumeRequest{})
	if err != nil || len(got.GetEnded()) != 1 || got.GetEnded()[0].GetAsked() != 1 || !slices.Contains(got.GetEnded()[0].GetLines(), "session s2 cannot be read") {
		t.Errorf("%v %v", got, err)
	}
	if d := r.tell("s1", r.install()).Decision; d.Verdict != floodmark.Confirm {
		t.Errorf("still paused: %v", d)
	}
}

// Only a person at a terminal can switch enforcement off, and only if the rules are the owner's.
// What that let through is reported when it is over.
func TestWhoMayOnlyObserve(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	q := &wire.PauseRequest{Seconds: 3600, Observe: true}
	if _, err := r.Pause(t.Context(), me(), q); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("a script observes: %v", err)
	}
	for _, who := range []httpapi.Identity{away(), stranger(), {Channel: httpapi.HookSocket}, {}, {Channel: httpapi.OwnerSocket, Tenant: "firm"}} {
		if _, err := r.Pause(httpapi.AtTerminal(t.Context()), who, q); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%+v observes: %v", who, err)
		}
	}
	own := r.Rules
	r.Rules = func(tenant string) Rules { rules := own(tenant); rules.Bundle = "team 3"; return rules }
	if _, err := r.Pause(httpapi.AtTerminal(t.Context()), me(), q); !errors.Is(err, httpapi.ErrInvalid) {
		t.Errorf("signed rules are only observed: %v", err)
	}
	r.Rules = own
	for seconds, ok := range map[int64]bool{0: false, 14 * 86400: true, 14*86400 + 1: false} {
		if _, err := r.Pause(httpapi.AtTerminal(t.Context()), me(), &wire.PauseRequest{Seconds: seconds, Observe: true}); (err == nil) != ok {
			t.Errorf("%d seconds: %v", seconds, err)
		}
	}
	if got := r.tell("s1", r.install()).Decision; got.Verdict != floodmark.Allow || got.Would != "confirm" || got.Reasons[0].Code != floodmark.DryRun {
		t.Fatalf("%+v", got)
	}
	s, err := r.Status(t.Context(), me(), &wire.StatusRequest{})
	if err != nil || len(s.GetPauses()) != 1 || !s.GetPauses()[0].GetObserve() {
		t.Errorf("%v %v", s.GetPauses(), err)
	}
	r.later(14*24*time.Hour + time.Second)
	if got := r.tell("s1", r.install()).Decision.Verdict; got != floodmark.Confirm {
		t.Errorf("got %v", got)
	}
	if ended, err := r.EndPauses(t.Context(), ""); err != nil || len(ended) != 1 || ended[0].GetAsked() != 1 || !ended[0].GetPause().GetObserve() {
		t.Errorf("%v %v", ended, err)
	}
}
