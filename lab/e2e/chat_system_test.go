package e2e

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/story/testmodel"
)

// An ownChannel is the owner's own channel, on which questions arrive with their codes.
type ownChannel world

// Ask implements [approval.Approver].
func (c *ownChannel) Ask(_ context.Context, t approval.Ticket) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, t)
	if c.wasAsked != nil {
		close(c.wasAsked)
		c.wasAsked = nil
	}
	return nil
}

// question waits for the newest question on the owner's own channel.
func (w *world) question() approval.Ticket {
	w.t.Helper()
	ctx, cancel := untilTimeout(w.t)
	defer cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.asked) == 0 {
		if w.wasAsked == nil {
			w.wasAsked = make(chan struct{})
		}
		asked := w.wasAsked
		w.mu.Unlock()
		select {
		case <-asked:
		case <-ctx.Done():
			w.t.Errorf("nobody was asked: %s", tail(w.output))
		}
		w.mu.Lock()
		if ctx.Err() != nil {
			w.t.FailNow()
		}
	}
	return w.asked[len(w.asked)-1]
}

// answered returns the last output of our hook for something that the owner typed.
func (w *world) answered(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range slices.Backward(w.told) {
		if strings.Contains(string(one.req.Raw), text) {
			return one.resp.Stdout
		}
	}
	return "nothing"
}

// The owner answers in the conversation with a real agent: looks at the question, types a wrong
// code, then the right one, and the same call passes. The model learns nothing of this, and no text
// that reaches it contains the code.
func TestTheOwnerAnswersInTheConversation(t *testing.T) {
	w := newWorld(t)
	w.inMemory()
	w.env = append(w.env, "FLOODMARK_HOOK_SOCKET="+w.memorySocket())
	shell, waited := codexAgent().shell, false
	w.model.Say = func(turn testmodel.Turn) testmodel.Step {
		switch n := len(turn.Results); {
		case n == 0:
			return testmodel.Step{Calls: []testmodel.Call{shell(read)}}
		case n == 2 && !waited:
			waited = true
			return testmodel.Step{Text: "It needs your approval."}
		case n < 3:
			return testmodel.Step{Calls: []testmodel.Call{shell(attack)}}
		}
		return testmodel.Step{Text: "Done."}
	}
	says := func(text string) string { return w.codexHears(how{protected: true, again: true}, text) }
	w.codexHears(how{protected: true}, prompt())
	q := w.question()
	before := len(w.model.Turns())
	tool, end := q.Call.Action.Tool.Name, " ="+q.Call.Place() // only the page had named it
	for _, step := range []struct{ text, want string }{
		{".status", "Open questions: 1."},
		{".approve " + tool + " " + wrong(q.Code) + end, "No open question has this code"},
		{".approve " + tool + " " + q.Code, "Not yet: say where it goes"},
		{".approve " + tool + " " + q.Code + end, "Approved: " + tool},
	} {
		if w.leaked() {
			t.Fatalf("it ran before %q", step.text)
		}
		out := says(step.text)
		if got := w.answered(step.text); !strings.Contains(got, step.want) {
			t.Errorf("%s: %s, want %q\n%s", step.text, got, step.want, tail(out))
		}
		if n := len(w.model.Turns()); n != before {
			t.Errorf("the model was told of %q", step.text)
		}
	}
	says("Go on.")
	if err := w.has("News", "waits for your approval", "thank you"); err != nil || !w.leaked() {
		t.Errorf("%v; after the yes the call did not run: %q\n%s", err, w.results(), tail(w.output))
	}
	for _, turn := range w.model.Turns() {
		if bytes.Contains(turn.Body, []byte(q.Code)) || bytes.Contains(turn.Body, []byte(".approve")) || bytes.Contains(turn.Body, []byte(wrong(q.Code))) {
			t.Errorf("the model read what the owner typed to us: %s", turn.Body)
		}
	}
	if got := w.incidents(); len(got) != 0 {
		t.Errorf("incidents: %q", got)
	}
	if q.Call.Pick == nil || q.Session == floodmark.SessionID("") {
		t.Errorf("asked as %+v", q)
	}
}

// wrong returns a code other than the given one.
func wrong(code string) string {
	if code[0] == '0' {
		return "1" + code[1:]
	}
	return "0" + code[1:]
}
