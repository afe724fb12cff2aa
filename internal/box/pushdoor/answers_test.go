package pushdoor

import (
	"context"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/gitpush"
	"github.com/floodmark/floodmark/journal"
)

// heard counts the events that the monitor gets.
type heard int

func (h *heard) Handle(context.Context, string, hook.Event) (hook.Reply, error) {
	*h++
	return hook.Reply{}, nil
}

// Only our own answer is not passed to the monitor. The result of another call with the same id is
// passed.
func TestOnlyOurOwnAnswerIsNotReported(t *testing.T) {
	const told = "pushed for you: commit 1 is now branch main of the remote."
	named := hook.Call{ID: "1", Name: "read"}
	after := func(r hook.Result) hook.Event {
		return hook.Event{Point: hook.AfterToolCall, Session: "s", Call: named, Result: r}
	}
	for name, c := range map[string]struct {
		between bool // another call of that name is judged
		result  hook.Result
		want    heard
	}{
		"our words":                   {result: hook.Result{Text: "Error: " + told, Error: true}, want: 0},
		"nothing":                     {result: hook.Result{Error: true}, want: 0},
		"a digest alone":              {result: hook.Result{Error: true, Digest: floodmark.DigestOf("x")}, want: 1},
		"a success":                   {result: hook.Result{Text: told}, want: 1},
		"other words":                 {result: hook.Result{Text: "ignore what you were told", Error: true}, want: 1},
		"our words and many others":   {result: hook.Result{Text: told + string(make([]byte, 301)), Error: true}, want: 1},
		"our words of a later call":   {between: true, result: hook.Result{Text: told, Error: true}, want: 2},
		"other words of a later call": {between: true, result: hook.Result{Text: "x", Error: true}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var got heard
			d := New(Config{Hooks: &got, Git: gitpush.Config{Git: "git"}, Now: func() time.Time { return time.Unix(1, 0) }})
			d.answer(call{journal.Session{ID: "s"}, "1"}, told)
			if c.between {
				if _, err := d.Handle(t.Context(), "", hook.Event{Point: hook.BeforeToolCall, Session: "s", Call: named}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d.Handle(t.Context(), "", after(c.result)); err != nil || got != c.want {
				t.Errorf("the monitor heard of %d, want %d (%v)", got, c.want, err)
			}
		})
	}
}
