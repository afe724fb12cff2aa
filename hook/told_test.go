package hook_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// The line for a model names the question that it waits for, and contains nothing that is meant for
// the person.
func TestWhatAModelIsToldOfAQuestion(t *testing.T) {
	r := hook.Reply{Ticket: "t-1", Line: "x: waits for your approval -> mail: waits for your approval because y. Approve it."}
	r.Decision.Verdict, r.Decision.Remedy.Person = floodmark.Confirm, "Approve it."
	const want = "x: waits for your approval -> mail: waits for the person's approval because y. The person answers question t-1 with «floodmark watch» in a terminal; after a yes, the same call passes."
	if got := r.Told(); got != want {
		t.Error(got)
	}
	r.Ticket = ""
	if got := r.Told(); got != r.Line {
		t.Errorf("without a question: %s", got)
	}
	r.Ticket, r.Decision.Verdict = "t-1", floodmark.Restrict
	if got := r.Told(); got != r.Line {
		t.Errorf("refused: %s", got)
	}
}
