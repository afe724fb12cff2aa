package did_test

import (
	"errors"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// TestGroup counts and finds only sessions of agents that a group answers for. A session whose agent
// is not known any more belongs to no group, and is said to be missing.
func TestGroup(t *testing.T) {
	r := newRoom(t)
	r.asked("openclaw:a")
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}
	r.tell("pi:b", hook.Event{Agent: "pi", Point: hook.SessionStart, Project: "/home/anna/shop"})
	r.tell("pi:b", hook.Event{Agent: "pi", Point: hook.BeforeToolCall, Call: fetch})
	all := r.did(7)
	if g := all.GetGroups(); all.GetSessions() != 2 || len(g) != 2 || g[0].GetName() != "engineers" || g[1].GetName() != "office" || g[0].GetYours() {
		t.Fatalf("%v", all)
	}
	who := httpapi.Identity{Groups: []string{"office"}}
	got, err := r.Did(t.Context(), who, &wire.DidRequest{Group: "office"})
	if err != nil || got.GetSessions() != 1 || got.GetAsked() != 1 || len(got.GetAgents()) != 1 || got.GetAgents()[0].GetAgent() != "openclaw" || !got.GetGroups()[1].GetYours() || got.GetUnread() != 0 {
		t.Errorf("%v, %v", err, got)
	}
	if got, err = r.Did(t.Context(), who, &wire.DidRequest{Group: "engineers"}); err != nil || got.GetSessions() != 1 || got.GetAsked() != 0 {
		t.Errorf("%v, %v", err, got)
	}
	if found := r.search(&wire.SearchDecisionsRequest{Group: "engineers"}).GetFound(); len(found) != 1 || found[0].GetAgent() != "pi" {
		t.Errorf("%v", found)
	}
	s := journal.Session{ID: "unknown"}
	entries, err := journal.Seal(s, journal.Link{}, r.later(0), []floodmark.Fact{floodmark.TurnOpened{Turn: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.store.Append(t.Context(), journal.Batch{Records: []journal.Record{{Session: s, Entries: entries}}}); err != nil {
		t.Fatal(err)
	}
	if got, err = r.Did(t.Context(), who, &wire.DidRequest{Group: "office"}); err != nil || got.GetSessions() != 1 || got.GetUnread() != 1 {
		t.Errorf("%v, %v", err, got)
	}
	if _, err := r.Did(t.Context(), who, &wire.DidRequest{Group: "others"}); !errors.Is(err, httpapi.ErrInvalid) {
		t.Error(err)
	}
	err = r.SearchDecisions(t.Context(), who, &wire.SearchDecisionsRequest{Group: "others"}, func(*wire.SearchDecisionsResponse) error { return nil })
	if !errors.Is(err, httpapi.ErrInvalid) {
		t.Error(err)
	}
}
