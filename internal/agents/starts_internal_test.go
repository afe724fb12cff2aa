package agents

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
)

// A prompt that arrives before its session's start waits for that. In an old session it waits once.
func TestPromptsWaitForTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewStarts()
		took := func(id floodmark.SessionID) time.Duration {
			began := time.Now()
			s.wait(t.Context(), id)
			return time.Since(began)
		}
		go func() { time.Sleep(200 * time.Millisecond); s.came("a"); s.came("a") }()
		for _, c := range []struct {
			id   floodmark.SessionID
			want time.Duration
		}{{"a", 200 * time.Millisecond}, {"a", 0}, {"old", startWithin}, {"old", 0}} {
			if got := took(c.id); got != c.want {
				t.Errorf("%s waited %v, want %v", c.id, got, c.want)
			}
		}
		s.came("b")
		if got := took("b"); got != 0 {
			t.Errorf("after its start it waited %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		began := time.Now()
		if s.wait(ctx, "c"); time.Since(began) != time.Millisecond {
			t.Errorf("beyond the asker's patience: %v", time.Since(began))
		}
	})
}

func TestStartsAreBounded(t *testing.T) {
	s := newStarts(0)
	for i := range maxStarts {
		s.came(floodmark.SessionID(strconv.Itoa(i)))
	}
	if len(s.seen) != maxStarts {
		t.Errorf("at the limit %d", len(s.seen))
	}
	if s.came("more"); len(s.seen) != 1 {
		t.Errorf("beyond the limit %d", len(s.seen))
	}
	(*Starts)(nil).came("x")
	(*Starts)(nil).wait(t.Context(), "x")
}
