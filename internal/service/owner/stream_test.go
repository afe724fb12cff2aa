package owner

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// watch watches until ctx ends, and returns a channel with the events.
func (r *room) watch(ctx context.Context, who httpapi.Identity, session string) (heard <-chan *wire.WatchResponse, end func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	c := make(chan *wire.WatchResponse, 64)
	var wait sync.WaitGroup
	wait.Go(func() {
		err := r.Watch(ctx, who, &wire.WatchRequest{Session: session}, func(w *wire.WatchResponse) error { c <- w; return nil })
		if err != nil {
			r.t.Error(err)
		}
	})
	<-c // it begins with a sign of life
	return c, func() { cancel(); wait.Wait() }
}

// happenings counts the events other than keep-alives.
func happenings(heard <-chan *wire.WatchResponse) (n int) {
	for len(heard) > 0 {
		if w := <-heard; w.GetWhat() != nil {
			n++
		}
	}
	return n
}

// A watcher gets decisions and questions, the code only at a terminal, and never the sessions of
// other tenants.
func TestWatchTellsWhatHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		terminal, end := r.watch(httpapi.AtTerminal(t.Context()), me(), "")
		script, end2 := r.watch(t.Context(), me(), "")
		other, end3 := r.watch(t.Context(), stranger(), "")
		if !r.Hub.Watched() {
			t.Error("nobody watches")
		}
		r.poisoned("s1")
		time.Sleep(codeWithin) // after that every wait for a code has ended
		synctest.Wait()
		question := func(c <-chan *wire.WatchResponse) (q *wire.Question, decided int) {
			t.Helper()
			for len(c) > 0 {
				w := <-c
				if w.GetDecided() != nil {
					decided++
				}
				if q = w.GetAsked(); q != nil {
					return q, decided
				}
			}
			t.Fatal("no question")
			return nil, 0
		}
		if q, decided := question(terminal); q.GetCode() != r.codes.of("s1").Code || decided == 0 {
			t.Errorf("terminal: %v after %d decisions", q, decided)
		}
		if q, _ := question(script); q.GetCode() != "" {
			t.Errorf("script: %v", q)
		}
		end()
		end2()
		end3()
		if n := happenings(other); n != 0 || r.Hub.Watched() {
			t.Errorf("a stranger heard %d things; watched %v", n, r.Hub.Watched())
		}
	})
}

func TestWatchOfOneSessionHearsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.tell("s1", hook.Event{Point: hook.SessionStart})
		heard, end := r.watch(t.Context(), me(), "s1")
		r.poisoned("s2")
		r.poisoned("s1")
		synctest.Wait() // all that is told is heard
		end()
		if len(heard) == 0 {
			t.Error("nothing was heard")
		}
		for len(heard) > 0 {
			if w := <-heard; w.GetWhat() != nil && w.GetSession() != "s1" {
				t.Errorf("heard of %s", w.GetSession())
			}
		}
		if err := r.Watch(t.Context(), me(), &wire.WatchRequest{Session: "nobody"}, nil); !errors.Is(err, httpapi.ErrNotFound) {
			t.Errorf("a session nobody knows: %v", err)
		}
	})
}

// A slow watcher misses events, is told how many, and delays nothing.
func TestASlowWatcherMissesSome(t *testing.T) {
	h := NewHub()
	w, end := h.Watch("")
	defer end()
	for range maxUnread + 3 {
		h.Tell(monitor.Observation{Session: journal.Session{ID: "s"}})
	}
	if len(w.C) != maxUnread || w.Missed() != 3 || w.Missed() != 0 {
		t.Errorf("%d unread", len(w.C))
	}
}

func TestClosingSendsEverybodyHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		_, end := r.watch(t.Context(), me(), "")
		r.Hub.Close()
		r.Hub.Close() // once more does no harm
		end()
		select {
		case <-r.Hub.Closed():
		default:
			t.Error("it is not closed")
		}
	})
}

// Verify distinguishes a damaged store from a sound one, and stops when the client is gone.
func TestVerifyReports(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	var report *wire.VerifyReport
	err := r.Verify(t.Context(), me(), &wire.VerifyRequest{}, func(v *wire.VerifyResponse) error {
		if v.GetReport() != nil {
			report = v.GetReport()
		}
		return nil
	})
	if err != nil || report.GetSessions() != 1 || report.GetEntries() == 0 || len(report.GetLimits()) == 0 {
		t.Errorf("%v, %v", report, err)
	}
	gone := errors.New("gone")
	if err := r.Verify(t.Context(), me(), &wire.VerifyRequest{}, func(*wire.VerifyResponse) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("nobody listens: %v", err)
	}
}

// For a tenant's people, Verify checks their own sessions and reports nothing about others.
func TestVerifyIsAboutOnesOwn(t *testing.T) {
	r := newRoom(t)
	r.tell("s1", hook.Event{Point: hook.SessionStart})
	r.tell("s2", hook.Event{Point: hook.SessionStart})
	sessions := func(who httpapi.Identity, name string) int64 {
		t.Helper()
		var n int64
		err := r.Verify(t.Context(), who, &wire.VerifyRequest{Session: name}, func(v *wire.VerifyResponse) error {
			n = v.GetReport().GetSessions()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := sessions(stranger(), ""); n != 0 {
		t.Errorf("a stranger hears of %d sessions", n)
	}
	if all, one := sessions(me(), ""), sessions(me(), "s1"); all != 2 || one != 1 {
		t.Errorf("the owner hears of %d sessions, and of %d where one is named", all, one)
	}
	if err := r.Verify(t.Context(), stranger(), &wire.VerifyRequest{Session: "s1"}, nil); !errors.Is(err, httpapi.ErrNotFound) {
		t.Errorf("a stranger names it: %v", err)
	}
}
