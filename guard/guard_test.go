package guard_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/guard"
	"github.com/floodmark/floodmark/hook"
)

// yes allows everything unless told otherwise, and records the events.
type yes struct {
	mu     sync.Mutex // guards heard
	heard  []hook.Event
	answer func(hook.Event) (hook.Reply, error)
	await  floodmark.Verdict
}

func allow() hook.Reply {
	return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}
}

func (y *yes) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	y.mu.Lock()
	y.heard = append(y.heard, ev)
	y.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return hook.Reply{}, err
	}
	if y.answer != nil && ev.Point != hook.SessionStart {
		return y.answer(ev)
	}
	return allow(), nil
}

func (y *yes) Await(ctx context.Context, _ floodmark.SessionID, _ floodmark.TicketID) (floodmark.Verdict, error) {
	if y.await == floodmark.Confirm {
		<-ctx.Done()
		return floodmark.Restrict, ctx.Err()
	}
	return y.await, nil
}

func (y *yes) points() (all []hook.Point) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, ev := range y.heard {
		all = append(all, ev.Point)
	}
	return all
}

func start(t *testing.T, j guard.Judge, o guard.Options) *guard.Session {
	t.Helper()
	o.Agent = "helper"
	s, err := guard.Start(t.Context(), j, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type mail struct {
	To     string `json:"to"`
	Hidden string `json:"-"`
}

func TestAToolGetsWhatWasJudged(t *testing.T) {
	s := start(t, &yes{}, guard.Options{})
	send := guard.Tool(s, "send", func(_ context.Context, m mail) (mail, error) { return m, nil })
	got, err := send(t.Context(), mail{To: "anna@firm.example", Hidden: "bcc"})
	if err != nil || got != (mail{To: "anna@firm.example"}) {
		t.Errorf("got %+v, %v; what was not judged must not arrive", got, err)
	}
	ran := false
	odd := guard.Tool(s, "odd", func(context.Context, func()) (string, error) { ran = true; return "", nil })
	if _, err := odd(t.Context(), func() {}); err == nil || ran {
		t.Errorf("arguments that cannot be judged: ran %t, %v", ran, err)
	}
}

func TestEveryCallHasAnID(t *testing.T) {
	y := &yes{}
	s := start(t, y, guard.Options{})
	for range 2 {
		if _, err := s.Run(t.Context(), hook.Call{Name: "look"}, func(context.Context) (string, error) { return "", nil }); err != nil {
			t.Fatal(err)
		}
	}
	first, second := y.heard[1].Call.ID, y.heard[3].Call.ID
	if first == "" || first == second || y.heard[2].Call.ID != first {
		t.Errorf("calls are named %q and %q", first, second)
	}
}

func TestAResultIsTakenInThoughTheCallerLeft(t *testing.T) {
	y := &yes{}
	s := start(t, y, guard.Options{})
	ctx, leave := context.WithCancel(t.Context())
	got, err := s.Run(ctx, hook.Call{Name: "look"}, func(context.Context) (string, error) { leave(); return "seen", nil })
	if err != nil || got != "seen" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAJudgeThatHangsIsANo(t *testing.T) {
	hang := judgeFunc(func(ctx context.Context, ev hook.Event) (hook.Reply, error) {
		if ev.Point == hook.SessionStart {
			return allow(), nil
		}
		<-ctx.Done()
		return allow(), nil // too late, so it is ignored
	})
	synctest.Test(t, func(t *testing.T) {
		s := start(t, hang, guard.Options{Timeout: time.Second})
		began := time.Now()
		_, err := s.Run(t.Context(), hook.Call{Name: "look"}, func(context.Context) (string, error) { t.Error("it ran"); return "", nil })
		if _, denied := errors.AsType[*guard.Denied](err); !denied || time.Since(began) > 20*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

type judgeFunc func(context.Context, hook.Event) (hook.Reply, error)

func (f judgeFunc) Handle(ctx context.Context, ev hook.Event) (hook.Reply, error) { return f(ctx, ev) }

func TestWaitingForAPerson(t *testing.T) {
	for _, c := range []struct {
		wait     time.Duration
		answered floodmark.Verdict
		asked    int // how often the call was decided
		ran      bool
	}{
		{0, floodmark.Allow, 1, false},
		{time.Minute, floodmark.Allow, 2, true},
		{time.Minute, floodmark.Restrict, 1, false},
		{10 * time.Millisecond, floodmark.Confirm, 1, false}, // no answer
	} {
		asked := 0
		y := &yes{await: c.answered}
		y.answer = func(ev hook.Event) (hook.Reply, error) {
			if ev.Point == hook.BeforeToolCall {
				if asked++; asked == 1 {
					return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Confirm}, Ticket: "t-1"}, nil
				}
			}
			return allow(), nil
		}
		s := start(t, y, guard.Options{Wait: c.wait})
		ran := false
		_, err := s.Run(t.Context(), hook.Call{Name: "send"}, func(context.Context) (string, error) { ran = true; return "", nil })
		if ran != c.ran || (err == nil) != c.ran || asked != c.asked {
			t.Errorf("wait %s, answered %s: ran %t, asked %d, %v", c.wait, c.answered, ran, asked, err)
		}
	}
}

func TestACallWithoutASession(t *testing.T) {
	if _, err := guard.From(t.Context()); err == nil {
		t.Error("nobody's session was found")
	}
	var none *guard.Session
	if _, err := none.Run(t.Context(), hook.Call{Name: "look"}, nil); err == nil {
		t.Error("it ran without a session")
	}
	s := start(t, &yes{}, guard.Options{})
	if got, err := guard.From(guard.With(t.Context(), s)); err != nil || got != s {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := guard.Start(t.Context(), &yes{}, guard.Options{}); err == nil {
		t.Error("a session without an agent")
	}
}

func TestAModelCallIsCounted(t *testing.T) {
	y := &yes{}
	s := start(t, y, guard.Options{})
	for range 2 {
		if _, err := s.BeforeModel(t.Context(), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Said(t.Context(), "go on"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.BeforeModel(t.Context(), nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.AfterModel(t.Context(), []hook.Call{{ID: "a", Name: "look"}}); err != nil {
		t.Fatal(err)
	}
	rounds := []int{y.heard[1].Iteration, y.heard[2].Iteration, y.heard[4].Iteration}
	if !slices.Equal(rounds, []int{0, 1, 0}) || len(y.heard[5].Calls) != 1 {
		t.Errorf("rounds %v of %v", rounds, y.points())
	}
}

func TestOwnRefusalsAreKnownUpToALimit(t *testing.T) {
	n := 0
	y := &yes{answer: func(hook.Event) (hook.Reply, error) {
		n++
		return hook.Reply{Line: fmt.Sprint("no ", n)}, nil
	}}
	s := start(t, y, guard.Options{})
	for range guard.MaxLines {
		_, _ = s.Said(t.Context(), "x")
	}
	if !s.Ours("floodmark: no 1") || s.Ours("floodmark: no 0") {
		t.Error("at the limit all are known, and nothing else")
	}
	_, err := s.Said(t.Context(), "x")
	if s.Ours("floodmark: no 1") || !s.Ours(err.Error()) || !strings.HasPrefix(err.Error(), "floodmark: no ") {
		t.Error("beyond the limit the oldest is forgotten")
	}
}
