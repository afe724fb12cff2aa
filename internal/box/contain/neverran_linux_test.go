package contain

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// A command that got no box did not run and wrote nothing, so it does not mark files for later
// sessions.
func TestWhatHadNoBoxWroteNothing(t *testing.T) {
	h := newHouse(t)
	h.session = "claude-code/whole"
	app := h.project
	h.project = h.home // it contains the state of boxes, so no box can show it
	h.low()
	c := bash("1", "npm test")
	r := h.before(c)
	if r.Decision.Verdict != floodmark.Restrict || !strings.Contains(r.Line, "there is no box for it") {
		t.Fatalf("%+v", r)
	}
	h.tell(hook.Event{Point: hook.AfterToolCall, Call: c, Result: hook.Result{Text: "Error: " + r.Line, Error: true}}) // as some agents do
	h.project, h.session = app, "claude-code/later"
	h.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home})
	h.tell(hook.Event{Point: hook.MessageReceived, Origin: floodmark.Origin{Kind: floodmark.FromSender, Name: "chat", Sender: "owner", IsOwner: true}, Text: "Test the program"})
	h.before(bash("2", "npm test"))
	for e, err := range h.journal.Read(t.Context(), journal.Session{ID: h.session}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := e.Fact()
		if err != nil {
			t.Fatal(err)
		}
		if d, is := f.(floodmark.ActionDecided); is && slices.ContainsFunc(d.Basis.Loads, func(l floodmark.Load) bool { return len(l.Sources) > 0 }) {
			t.Errorf("it loads %+v", d.Basis.Loads)
		}
	}
}
