package did_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// search gives all that a search tells, in one message.
func (r *room) search(ask *wire.SearchDecisionsRequest) *wire.SearchDecisionsResponse {
	r.t.Helper()
	all := &wire.SearchDecisionsResponse{}
	err := r.SearchDecisions(r.t.Context(), httpapi.Identity{}, ask, func(m *wire.SearchDecisionsResponse) error {
		if all.GetDone() {
			r.t.Error("a message after the last one")
		}
		rows := append(all.GetFound(), m.GetFound()...)
		all = m
		all.Found = rows
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if !all.GetDone() {
		r.t.Error("the last message does not say so")
	}
	if !slices.IsSortedFunc(all.GetFound(), func(a, b *wire.FoundDecision) int { return b.GetAt().AsTime().Compare(a.GetAt().AsTime()) }) {
		r.t.Errorf("not the newest first: %v", all.GetFound())
	}
	return all
}

// names tells which decisions were found.
func names(a *wire.SearchDecisionsResponse) (list []string) {
	for _, f := range a.GetFound() {
		list = append(list, f.GetDecision())
	}
	return list
}

// TestSearch finds decisions in a store on disk by what was called, where, what was answered, and by
// whom, the newest first although sessions went on beside each other.
func TestSearch(t *testing.T) {
	t.Parallel()
	store, err := sqlitejournal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), sqlitejournal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	r := newRoomOver(t, store)
	r.asked("openclaw:old")
	r.later(48 * time.Hour)
	since := r.later(0)
	r.asked("openclaw:a")
	r.answer("openclaw:a", approval.Approve)
	r.asked("openclaw:b")
	r.tell("openclaw:a", hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c3", Name: "exec", Args: []byte(`{"command":"make install"}`)}})
	r.answer("openclaw:b", approval.Deny)
	r.tell("openclaw:a", hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c4", Name: "exec", Args: []byte(`{"command":"make clean"}`)}})

	for _, c := range []struct {
		name string
		ask  *wire.SearchDecisionsRequest
		want []string // what and answer, of each
	}{
		{"all", &wire.SearchDecisionsRequest{Since: timestamppb.New(since)}, []string{"make clean waiting", "make install earlier", "make install no", "web_fetch ", "make install yes", "web_fetch "}},
		{"words of the call and the project", &wire.SearchDecisionsRequest{Words: "INSTALL shop"}, []string{"make install earlier", "make install no", "make install yes", "make install expired"}},
		{"a word of a source", &wire.SearchDecisionsRequest{Words: "clean news.example"}, []string{"make clean waiting"}},
		{"no such words", &wire.SearchDecisionsRequest{Words: "install nothing"}, nil},
		{"asked", &wire.SearchDecisionsRequest{Verdict: "confirm", Answered: "yes"}, []string{"make install yes"}},
		{"who", &wire.SearchDecisionsRequest{By: "ANNA"}, []string{"make install earlier", "make install no", "make install yes"}},
		{"where", &wire.SearchDecisionsRequest{By: "console", Answered: "no"}, []string{"make install no"}},
		{"someone else", &wire.SearchDecisionsRequest{By: "boris"}, nil},
		{"unanswered", &wire.SearchDecisionsRequest{Answered: "none"}, []string{"make clean waiting", "make install expired"}},
		{"any answer", &wire.SearchDecisionsRequest{Answered: "any", Since: timestamppb.New(since)}, []string{"make install earlier", "make install no", "make install yes"}},
		{"before", &wire.SearchDecisionsRequest{Until: timestamppb.New(since), Verdict: "confirm"}, []string{"make install expired"}},
		{"agent", &wire.SearchDecisionsRequest{Agent: "pi"}, nil},
	} {
		got := r.search(c.ask)
		var list []string
		for _, f := range got.GetFound() {
			what, _, _ := strings.Cut(f.GetWhat(), " https:")
			list = append(list, what+" "+f.GetAnswer())
		}
		if !slices.Equal(list, c.want) {
			t.Errorf("%s: %q, want %q", c.name, list, c.want)
		}
	}

	one := r.search(&wire.SearchDecisionsRequest{Answered: "yes"}).GetFound()[0]
	if one.GetBy() != "anna" || one.GetChannel() != "console" || one.GetAnswered() == nil || one.GetAgent() != "openclaw" || one.GetProject() != "/home/anna/shop" ||
		one.GetVerdict() != "confirm" || one.GetWhy() == "" || len(one.GetBehind()) != 1 || one.GetDecision() != fmt.Sprintf("%s#%d", one.GetSession(), one.GetNumber()) {
		t.Errorf("%v", one)
	}
}

// TestSearchByPages: pages of any size make up the same list.
func TestSearchByPages(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for i := range 4 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	for i := range 4 {
		r.answer(floodmark.SessionID(fmt.Sprint("s", 3-i)), approval.Deny)
	}
	all := names(r.search(&wire.SearchDecisionsRequest{}))
	if len(all) != 8 {
		t.Fatalf("%q", all)
	}
	for _, size := range []int32{1, 3, 4, 7, 8} {
		var list []string
		ask := &wire.SearchDecisionsRequest{Limit: size}
		for {
			got := r.search(ask)
			list = append(list, names(got)...)
			if !got.GetMore() {
				break
			}
			if len(got.GetFound()) != int(size) {
				t.Fatalf("pages of %d: %d", size, len(got.GetFound()))
			}
			last := got.GetFound()[size-1]
			ask.After, ask.AfterAt = last.GetDecision(), last.GetAt()
		}
		if !slices.Equal(list, all) {
			t.Errorf("pages of %d: %q, want %q", size, list, all)
		}
	}
}

// TestSearchEndsInTime says how far it came, and goes on from there.
func TestSearchEndsInTime(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for i := range 3 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	r.step = time.Minute
	first := r.search(&wire.SearchDecisionsRequest{})
	if first.GetSessions() != 1 || first.GetStopped() == "" || len(first.GetFound()) != 2 || first.GetMore() {
		t.Fatalf("%v", first)
	}
	list := names(first)
	for at := first; at.GetStopped() != ""; {
		at = r.search(&wire.SearchDecisionsRequest{WrittenBefore: at.GetReached()})
		list = append(list, names(at)...)
	}
	r.step = 0
	if all := names(r.search(&wire.SearchDecisionsRequest{})); !slices.Equal(list, all) || len(all) != 6 {
		t.Errorf("%q, want %q", list, all)
	}
}

// TestSearchEnds when the page hangs up, and when it cannot be sent to; it leaves its place to others.
func TestSearchEnds(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	for i := range 3 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	gone := errors.New("gone")
	for range 5 {
		if err := r.SearchDecisions(t.Context(), httpapi.Identity{}, &wire.SearchDecisionsRequest{}, func(*wire.SearchDecisionsResponse) error { return gone }); !errors.Is(err, gone) {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := r.SearchDecisions(ctx, httpapi.Identity{}, &wire.SearchDecisionsRequest{}, func(*wire.SearchDecisionsResponse) error { n++; cancel(); return nil })
		if !errors.Is(err, context.Canceled) || n != 1 {
			t.Fatalf("%v after %d messages", err, n)
		}
	}
	if got := r.search(&wire.SearchDecisionsRequest{}); len(got.GetFound()) != 6 {
		t.Errorf("%v", got)
	}
}

// TestSearchRefuses what it does not know, and another tenant's decisions.
func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.asked("s")
	send := func(m *wire.SearchDecisionsResponse) error {
		if len(m.GetFound()) > 0 {
			t.Errorf("%v", m)
		}
		return nil
	}
	for _, ask := range []*wire.SearchDecisionsRequest{
		{Limit: -1},
		{Limit: 201},
		{Verdict: "maybe"},
		{Answered: "maybe"},
		{Words: strings.Repeat("a", 501)},
		{By: strings.Repeat("a", 501)},
		{Agent: strings.Repeat("a", 501)},
		{Words: "a b c d e f g h i j k"},
		{After: "s#1"},
		{After: "#1", AfterAt: timestamppb.Now()},
		{After: "s#x", AfterAt: timestamppb.Now()},
	} {
		if err := r.SearchDecisions(t.Context(), httpapi.Identity{}, ask, send); !errors.Is(err, httpapi.ErrInvalid) {
			t.Errorf("%v: %v", ask, err)
		}
	}
	if err := r.SearchDecisions(t.Context(), httpapi.Identity{Tenant: "other"}, &wire.SearchDecisionsRequest{}, send); err != nil {
		t.Error(err)
	}
}

// TestSearchTwoPeople names both who approved, and counts a no after a yes.
func TestSearchTwoPeople(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	at, s := r.later(0), journal.Session{ID: "s"}
	tool := floodmark.ToolRef{Agent: "pi", Name: "bash"}
	asks := func(n byte) floodmark.Fact {
		return floodmark.ActionDecided{
			Action:   floodmark.Action{Kind: floodmark.CallTool, Tool: tool, ArgsDigest: floodmark.Digest{n}, Arguments: []floodmark.Argument{{Path: "command", Shown: fmt.Sprint("make ", n)}}},
			Decision: floodmark.Decision{Verdict: floodmark.Confirm},
		}
	}
	opens := func(id floodmark.TicketID, n byte) floodmark.Fact {
		return floodmark.TicketOpened{Ticket: id, Shown: []floodmark.Shown{{Tool: tool, ArgsDigest: floodmark.Digest{n}}}, Expires: at.Add(time.Hour)}
	}
	entries, err := journal.Seal(s, journal.Link{}, at, []floodmark.Fact{
		floodmark.SessionOpened{Agent: "pi"},
		asks(1), opens("t1", 1),
		floodmark.TicketCounted{Ticket: "t1", Person: "Anna", By: "anna@corp.example"},
		asks(1), // once more, while the question is open
		floodmark.TicketAnswered{Ticket: "t1", Verdict: floodmark.Allow, By: "boris@corp.example", Channel: "oidc"},
		asks(2), opens("t2", 2),
		floodmark.TicketAnswered{Ticket: "t2", Verdict: floodmark.Allow, By: "anna", Channel: "console"},
		floodmark.TicketAnswered{Ticket: "t2", Verdict: floodmark.Restrict, By: "boris", Channel: "telegram"},
		floodmark.TicketAnswered{Ticket: "t2", Verdict: floodmark.Allow, By: "carla", Channel: "telegram"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Append(t.Context(), journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, f := range r.search(&wire.SearchDecisionsRequest{}).GetFound() {
		got += fmt.Sprintf("%s: %s by %s (%s)\n", f.GetWhat(), f.GetAnswer(), f.GetBy(), f.GetChannel())
	}
	two := "make 1: yes by anna@corp.example and boris@corp.example (oidc)\n"
	if want := "make 2: no by boris (telegram)\n" + two + two; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func BenchmarkSearch(b *testing.B) {
	r := newRoom(b)
	for i := range 1000 {
		r.asked(floodmark.SessionID(fmt.Sprint("s", i)))
	}
	for b.Loop() {
		r.search(&wire.SearchDecisionsRequest{Words: "nothing like it"})
	}
}
