package main

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/wire"
)

// newWatcher is a screen whose answers are kept.
func newWatcher() (w *watcher, sent *[]*wire.AnswerRequest) {
	sent = &[]*wire.AnswerRequest{}
	w = &watcher{
		now: func() time.Time { return time.Unix(1000, 0) }, width: 80, height: 24,
		answer: func(q *wire.AnswerRequest) tea.Cmd {
			*sent = append(*sent, q)
			return nil
		},
	}
	return w, sent
}

func waiting(ticket, code string, calls int) *wire.Question {
	q := &wire.Question{Ticket: ticket, Session: "s", Code: code, Expires: timestamppb.New(time.Unix(1100, 0))}
	for range calls {
		q.Calls = append(q.Calls, &wire.AskedCall{Line: "page -> to -> send"})
	}
	return q
}

func press(w *watcher, keys ...string) {
	for _, k := range keys {
		w.key(k)
	}
}

func typeWord(w *watcher, word string) { press(w, strings.Split(word, "")...) }

func TestTheFirstKeyDenies(t *testing.T) {
	for _, key := range []string{"enter", "d"} {
		w, sent := newWatcher()
		press(w, key)
		if len(*sent) != 0 {
			t.Error("something was answered without a question")
		}
		w.put(waiting("t1", "0123abcd", 1))
		press(w, key)
		if len(*sent) != 1 || (*sent)[0].GetVerb() != "deny" || (*sent)[0].GetTicket() != "t1" {
			t.Errorf("%s: %v", key, *sent)
		}
	}
}

func TestApprovingNeedsTheCodeOfTheQuestionShown(t *testing.T) {
	w, sent := newWatcher()
	w.put(waiting("t1", "0123abcd", 1))
	w.put(waiting("t2", "deadbeef", 1))
	press(w, "a", "enter")
	press(w, "a", "a", "enter")
	press(w, "a")
	typeWord(w, "deadbeef") // of the other one
	press(w, "enter")
	press(w, "a")
	typeWord(w, "0123abcd")
	press(w, "esc", "q")
	if len(*sent) != 0 {
		t.Fatalf("approved without its code: %v", *sent)
	}
	press(w, "a")
	typeWord(w, "0123abcX")
	press(w, "backspace", "d", "enter")
	if len(*sent) != 1 || (*sent)[0].GetVerb() != "approve" || (*sent)[0].GetCode() != "0123abcd" {
		t.Errorf("got %v", *sent)
	}
	w, sent = newWatcher()
	w.put(waiting("t1", "", 1))
	press(w, "a", "enter", "a")
	if len(*sent) != 1 || (*sent)[0].GetVerb() != "deny" || w.typing {
		t.Errorf("a question without a code: %v", *sent)
	}
}

func TestAQuestionThatChangesIsLookedAtAgain(t *testing.T) {
	w, sent := newWatcher()
	w.put(waiting("t1", "0123abcd", 1))
	press(w, "a")
	typeWord(w, "0123abcd")
	w.put(waiting("t1", "0123abcd", 2))
	if w.typing || !strings.Contains(w.text(), "has changed") {
		t.Error("the code is still being typed for what was not shown")
	}
	press(w, "a")
	typeWord(w, "0123abcd")
	other := waiting("t1", "0123abcd", 2)
	other.Seen = "something else"
	w.put(other)
	if w.typing {
		t.Error("the code is still being typed for what shows something else now")
	}
	press(w, "a")
	w.take(&wire.WatchResponse{Session: "s", What: &wire.WatchResponse_Answered{Answered: &wire.Answered{Ticket: "t1"}}})
	if w.typing || w.question() != nil || len(*sent) != 0 {
		t.Error("an answered question is still there")
	}
}

// How the last question was answered stands above the next one, not below it.
func TestAnAnswerIsNotBelowTheNextQuestion(t *testing.T) {
	w, _ := newWatcher()
	w.put(waiting("t1", "0123abcd", 1))
	w.put(waiting("t2", "deadbeef", 1))
	press(w, "d")
	w.Update(answered{"Denied."})
	if text := w.text(); strings.Index(text, "Denied.") < strings.Index(text, "t1, session") {
		t.Errorf("while the question is shown its answer stands below it:\n%s", text)
	}
	w.take(&wire.WatchResponse{Session: "s", What: &wire.WatchResponse_Answered{Answered: &wire.Answered{Ticket: "t1"}}})
	if text := w.text(); !strings.Contains(text, "Denied.") || strings.Index(text, "Denied.") > strings.Index(text, "t2, session") {
		t.Errorf("the answer to t1 stands below t2:\n%s", text)
	}
}

// A list shows of each name what is enough to type.
func TestShortNames(t *testing.T) {
	names := []string{"pi:01a1e664-5976-725d", "pi:01a1e664-5977-0000", "codex:0199aabbccdd", "monday", "laptop/0123456789abcdef/pi:01a1e664"}
	want := []string{"pi:01a1e664-5976", "pi:01a1e664-5977", "codex:0199aabb", "monday", names[4]}
	for i, name := range names {
		if got := shortName(i, names); got != want[i] {
			t.Errorf("%s is shown as %s, want %s", name, got, want[i])
		}
	}
}

func TestQuestionsComeAndGo(t *testing.T) {
	w, _ := newWatcher()
	w.Update(asked{list: []*wire.Question{waiting("t1", "c1", 1), waiting("t2", "c2", 1)}, unread: []string{"session s9 is passed over"}})
	if !strings.Contains(w.text(), "session s9 is passed over") {
		t.Errorf("it is not said what cannot be read: %s", w.text())
	}
	press(w, "down")
	if w.chosen != "t2" {
		t.Errorf("down chose %s", w.chosen)
	}
	press(w, "down")
	if w.chosen != "t1" {
		t.Errorf("down at the end chose %s", w.chosen)
	}
	w.now = func() time.Time { return time.Unix(1100, 0) }
	w.Update(ticked{})
	if len(w.open) != 0 || w.chosen != "" {
		t.Errorf("%d questions outlive their time", len(w.open))
	}
	for range maxEvents + 1 {
		w.take(&wire.WatchResponse{What: &wire.WatchResponse_Incident{Incident: &wire.Incident{Kind: "k"}}})
	}
	if len(w.events) != maxEvents {
		t.Errorf("%d events are kept, want %d", len(w.events), maxEvents)
	}
	if lines := strings.Count(w.text(), "\n") + 1; lines != w.height {
		t.Errorf("the screen has %d lines, want %d", lines, w.height)
	}
}

// The whole question must be seen before its code is: on a small screen the
// end is cut, not the beginning.
func TestASmallScreenHidesTheCodeFirst(t *testing.T) {
	w, _ := newWatcher()
	q := waiting("t1", "0123abcd", 1)
	q.Calls[0].Line = strings.Repeat("long ", 200)
	w.put(q)
	w.height = 8
	if strings.Contains(w.text(), "0123abcd") {
		t.Error("the code is shown for a question that is not shown in full")
	}
}

// Who watches reads what an auditor said, also that it said nothing and the call
// passed all the same.
func TestAnAuditIsSeen(t *testing.T) {
	line := func(code, text string) string {
		return eventLine(style{}, &wire.WatchResponse{What: &wire.WatchResponse_Decided{Decided: &wire.Decided{
			Id: "s#8", Action: &wire.Action{Tool: &wire.ToolRef{Name: "write"}}, Decision: &wire.Decision{Verdict: "allow", Reasons: []*wire.Reason{{Code: code, Text: text}}},
		}}})
	}
	const silent = "the auditor did not answer within 5s; without an auditor it would have been allowed"
	if got := line("audit", silent); !strings.HasSuffix(got, "s#8, audit: "+silent) {
		t.Error(got)
	}
	if got := line("approved", "said"); !strings.HasSuffix(got, ", approved") {
		t.Error(got)
	}
}

// A command in a box is told by what ran, where, and how it ended.
func TestABoxOnOneLine(t *testing.T) {
	d := &wire.Decided{
		Id: "pi:s#8", At: timestamppb.New(time.Unix(1000, 0)), Action: &wire.Action{Kind: "call-tool", Tool: &wire.ToolRef{Agent: "pi", Name: "bash"}},
		Decision: &wire.Decision{Verdict: "allow", Reach: "boxed", Reasons: []*wire.Reason{{Code: "contained"}}},
		Box:      &wire.BoxRun{Command: "npm test", Line: "exit code 3; not kept: AGENTS.md"},
	}
	for want, r := range map[string]*wire.WatchResponse{
		" in a box bash of pi: npm test, pi:s#8":                                   {What: &wire.WatchResponse_Decided{Decided: d}},
		" box done bash of pi: npm test, pi:s#8: exit code 3; not kept: AGENTS.md": {What: &wire.WatchResponse_Boxed{Boxed: d}},
	} {
		if got := eventLine(style{}, r); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	p := &sheet{}
	decisionsText(p, []*wire.Decided{d})
	if got := strings.Join(strings.Fields(p.String()), " "); !strings.HasSuffix(got, "in a box bash of pi: npm test exit code 3; not kept: AGENTS.md") {
		t.Error(got)
	}
	s := &wire.Session{Decisions: 9, Asked: 2, Stopped: 3, Boxed: 4, BoxFailed: 1}
	if got := whyText(style{}, &wire.WhyResponse{Session: s}, true); !strings.Contains(got, "9 decisions: 2 asked about, 1 refused, 4 ran in a box (1 failed there)") {
		t.Error(got)
	}
	if got := whyText(style{}, &wire.WhyResponse{Session: s}, false); got != "" {
		t.Error(got)
	}
}
