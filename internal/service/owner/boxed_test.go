package owner

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/wire"
)

// boxes plays a session that reads a page and then runs commands in boxes, which end as given.
func (r *room) boxes(s floodmark.SessionID, ends ...*hook.BoxEnd) {
	r.t.Helper()
	fetch := hook.Call{ID: "c1", Name: "web_fetch", Args: []byte(`{"url":"https://news.example/"}`)}
	r.tell(s, hook.Event{Point: hook.SessionStart, Project: "/home/me/project", Home: "/home/me"})
	r.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: fetch})
	r.tell(s, hook.Event{Point: hook.AfterToolCall, Call: fetch, Result: hook.Result{Text: poison}})
	for i, end := range ends {
		call := hook.Call{ID: floodmark.CallID(fmt.Sprint("b", i)), Name: "exec", Args: fmt.Appendf(nil, `{"command":"make test%d"}`, i)}
		if d := r.tell(s, hook.Event{Point: hook.BeforeToolCall, Call: call, Boxes: true}).Decision; d.Word() != floodmark.Contain {
			r.t.Fatalf("%s: %v", d.Word(), d.Reasons)
		}
		if end != nil {
			r.tell(s, hook.Event{Point: hook.AfterToolCall, Call: call, Box: end})
		}
	}
}

// Show says which commands ran in a box, how each ended, and how many there were.
func TestWhatRanInBoxesIsTold(t *testing.T) {
	r := newRoom(t)
	ended := func(name string, b hook.BoxEnd) *hook.BoxEnd {
		b.Ticket, b.State, b.Failed = name, floodmark.BoxEnded, b.Exit != 0
		return &b
	}
	r.boxes("s1",
		ended("a", hook.BoxEnd{}),
		ended("b", hook.BoxEnd{Exit: 3, Hosts: []string{"api.example"}, Paths: []string{"AGENTS.md"}}),
		ended("c", hook.BoxEnd{Exit: 137}),
		&hook.BoxEnd{Ticket: "d", State: floodmark.BoxRunsOn},
		&hook.BoxEnd{Ticket: "e", State: floodmark.BoxRefused},
		&hook.BoxEnd{Ticket: "f"},
		nil)
	r.poisoned("s2")
	got, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range got.GetDecisions() {
		if b := d.GetBox(); b != nil {
			lines = append(lines, b.GetCommand()+": "+b.GetLine())
		}
	}
	want := []string{
		"make test0: exit code 0",
		"make test1: exit code 3; no network: it wanted api.example; not kept: AGENTS.md",
		"make test2: exit code 137 (signal 9)",
		"make test3: it runs on in the background",
		"make test4: no box could be made, so nothing ran",
		"make test5: how it ended is not known",
		"make test6: no result yet",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	if s := got.GetSession(); s.GetBoxed() != 7 || s.GetBoxFailed() != 2 || s.GetAsked() != 0 || s.GetStopped() != 0 {
		t.Errorf("%v", s)
	}
	why, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: "s2"})
	if s := why.GetSession(); err != nil || s.GetBoxed() != 0 || s.GetAsked() != 1 || s.GetStopped() != 1 {
		t.Errorf("%v, %v", s, err)
	}
	one, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: got.GetDecisions()[1].GetId()})
	if err != nil || one.GetExplanations()[0].GetBox().GetLine() != "exit code 0" {
		t.Errorf("%v, %v", one, err)
	}
	status, err := r.Status(t.Context(), me(), &wire.StatusRequest{})
	if err != nil || status.GetBoxedToday() != 7 {
		t.Errorf("%d today, %v", status.GetBoxedToday(), err)
	}
	r.later(24 * time.Hour)
	r.tell("s1", hook.Event{Point: hook.SessionEnd})
	if status, err = r.Status(t.Context(), me(), &wire.StatusRequest{}); err != nil || status.GetBoxedToday() != 0 {
		t.Errorf("%d the day after, %v", status.GetBoxedToday(), err)
	}
}

// A watcher gets an event when a command is allowed in a box, and one when it has ended.
func TestWatchTellsHowABoxEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		heard, end := r.watch(t.Context(), me(), "")
		r.boxes("s1", &hook.BoxEnd{Ticket: "a", State: floodmark.BoxEnded, Failed: true, Exit: 2})
		synctest.Wait()
		var lines []string
		for len(heard) > 0 {
			w := <-heard
			if b := w.GetDecided().GetBox(); b != nil {
				lines = append(lines, "decided "+b.GetCommand())
			}
			if b := w.GetBoxed().GetBox(); b != nil {
				lines = append(lines, "ended "+b.GetCommand()+": "+b.GetLine())
			}
		}
		end()
		if strings.Join(lines, ", ") != "decided make test0, ended make test0: exit code 2" {
			t.Errorf("%q", lines)
		}
	})
}

// Only the owner's own program can announce protect, and an announcement does not reload the rules.
func TestProtectAnnouncesItself(t *testing.T) {
	r := newRoom(t)
	said := 0
	r.Protecting = func() { said++ }
	for _, who := range []struct {
		as   string
		want int
	}{{"me", 1}, {"away", 1}, {"stranger", 1}} {
		id := me()
		switch who.as {
		case "away":
			id = away()
		case "stranger":
			id = stranger()
		}
		a, err := r.ReloadPolicy(t.Context(), id, &wire.ReloadPolicyRequest{Protecting: true})
		if err != nil || a.GetLoaded() || said != who.want {
			t.Errorf("%s: %v, %v, %d times", who.as, a, err, said)
		}
	}
}

// A file name can look like a key. Such a name is not stored.
func TestNoSecretIsToldOfABox(t *testing.T) {
	r := newRoom(t)
	key := "ghp_" + strings.Repeat("A1b2C3d4E5f6", 3)
	r.boxes("s1", &hook.BoxEnd{Ticket: "a", State: floodmark.BoxEnded, Failed: true, Exit: 1, Hosts: []string{key, "h.example"}, Paths: []string{"." + key, ".git/config"}})
	got, err := r.Show(t.Context(), me(), &wire.ShowRequest{Session: "s1", Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	if line := got.GetDecisions()[1].GetBox().GetLine(); line != "exit code 1; no network: it wanted h.example; not kept: .git/config" || strings.Contains(got.String(), key) {
		t.Error(line)
	}
}
