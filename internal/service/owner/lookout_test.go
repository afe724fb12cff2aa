package owner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A strait provides the entries that other nodes wrote, in the order of their sessions.
type strait struct {
	r     *room
	looks []string // tenants
	from  time.Duration
	err   error
}

func (s *strait) look(ctx context.Context, tenant string, from time.Duration) (list []journal.Head, err error) {
	s.looks, s.from = append(s.looks, tenant), from
	if s.err != nil {
		return nil, s.err
	}
	for h, err := range s.r.Journal.Recent(ctx, tenant) {
		if err != nil {
			return nil, err
		}
		for e, err := range s.r.Journal.Read(ctx, h.Session, 0) {
			if err != nil {
				return nil, err
			}
			if strings.HasPrefix(e.Kind, "ticket-") {
				list = append(list, journal.Head{Session: h.Session, Link: e.Link()})
			}
		}
	}
	return list, nil
}

// outlookOf returns a lookout at a node, and its strait.
func outlookOf(r *room) (*lookout, *strait) {
	s := &strait{r: r}
	r.Elsewhere = s.look
	return &lookout{desk: r.Desk, of: map[string]*outlook{}}, s
}

// next returns the next event with a question or an answer.
func next(t *testing.T, heard <-chan *wire.WatchResponse) *wire.WatchResponse {
	t.Helper()
	synctest.Wait()
	for len(heard) > 0 {
		if w := <-heard; w.GetAsked() != nil || w.GetAnswered() != nil {
			return w
		}
	}
	t.Fatal("nothing is heard")
	return nil
}

// A watcher at one node gets the questions and answers of other nodes once each, and those of its
// own node as they happen.
func TestAWatcherHearsOfOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := nodes(t)
		l, s := outlookOf(b)
		l.look(t.Context())
		if len(s.looks) != 0 {
			t.Error("it looks although nobody watches")
		}
		heard, end := b.watch(t.Context(), away(), "")
		defer end()
		second, end2 := b.watch(t.Context(), away(), "")
		defer end2()
		strangers, end3 := b.watch(t.Context(), stranger(), "")
		defer end3()

		a.poisoned("s1")
		for range 3 {
			l.look(t.Context())
		}
		if len(s.looks) != 6 { // three for each tenant, however many watch
			t.Errorf("looked for %q", s.looks)
		}
		want := a.questions()[0]
		for _, c := range []<-chan *wire.WatchResponse{heard, second} {
			got := next(t, c)
			if q := got.GetAsked(); q.GetTicket() != want.GetTicket() || got.GetAgent() != "openclaw" || len(q.GetCalls()[0].GetCard()) == 0 {
				t.Fatalf("%v", got)
			}
		}
		b.poisoned("s2")
		l.look(t.Context())
		if got := next(t, heard); got.GetSession() != "s2" || got.GetAsked() == nil {
			t.Errorf("%v", got)
		}
		if got, err := a.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "deny", Ticket: want.GetTicket()}); err != nil || !got.GetAnswered() {
			t.Fatal(got, err)
		}
		l.look(t.Context())
		if got := next(t, heard); got.GetAnswered().GetTicket() != want.GetTicket() || got.GetSession() != "s1" || got.GetAnswered().GetBy() != "anna" {
			t.Errorf("%v", got)
		}
		synctest.Wait() // all that is told is heard
		if n := happenings(strangers); n != 0 {
			t.Errorf("a stranger hears %d things", n)
		}
	})
}

// After a failed look the next one goes farther back; an unwatched tenant is dropped; a session
// that cannot be read is skipped once, for all watchers.
func TestALookThatFailsIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := nodes(t)
		l, s := outlookOf(b)
		heard, end := b.watch(t.Context(), away(), "")
		a.poisoned("s0")
		damage(b, map[floodmark.SessionID]func(*journal.Entry){"s0": moved})
		l.look(t.Context())
		if s.from < lookBack || s.from > lookBack+time.Second || len(l.of[""].seen) != 1 {
			t.Errorf("looked back %s, seen %v", s.from, l.of[""].seen)
		}
		s.err = errors.New("away")
		a.poisoned("s1")
		b.later(time.Minute)
		l.look(t.Context())
		s.err = nil
		b.later(-30 * time.Second) // so that the question has not ended
		l.look(t.Context())
		if s.from < lookBack+30*time.Second || s.from > lookBack+31*time.Second {
			t.Errorf("looked back %s", s.from)
		}
		if got := next(t, heard); got.GetSession() != "s1" {
			t.Errorf("%v", got)
		}
		b.later(time.Hour)
		l.look(t.Context())
		if s.from != lookFarthest {
			t.Errorf("looked back %s", s.from)
		}
		end()
		l.look(t.Context())
		if len(l.of) != 0 {
			t.Error("it is not forgotten")
		}
	})
}

// A hub remembers the newest entries about questions that its node wrote.
func TestTheHubKnowsItsOwn(t *testing.T) {
	h := NewHub()
	for i := range uint64(maxAsked + 2) {
		h.Tell(monitor.Observation{Session: journal.Session{ID: "s"}, Entries: []journal.Entry{{Seq: i, Kind: "ticket-opened"}, {Seq: i, Kind: "action-decided"}}})
	}
	for seq, want := range map[uint64]bool{0: false, 1: false, 2: true, maxAsked + 1: true, maxAsked + 2: false} {
		if h.told(entryAt{journal.Session{ID: "s"}, seq}) != want {
			t.Errorf("entry %d: want %v", seq, want)
		}
	}
	if len(h.known) != maxAsked {
		t.Errorf("%d are known", len(h.known))
	}
}

// LookOut ends with its context, and at once if there are no other nodes.
func TestLookOutEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		r.LookOut(t.Context(), time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		r.Elsewhere = func(context.Context, string, time.Duration) ([]journal.Head, error) {
			cancel()
			return nil, nil
		}
		_, end := r.watch(t.Context(), httpapi.Identity{}, "")
		defer end()
		r.LookOut(ctx, time.Millisecond)
		if ctx.Err() == nil {
			t.Error("it ends by itself")
		}
	})
}
