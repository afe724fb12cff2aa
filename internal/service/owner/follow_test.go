package owner

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// After a wrong approval, why shows what followed from it.
func TestWhySaysWhatFollowed(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	followed := func() []string {
		t.Helper()
		got, err := r.Why(t.Context(), me(), &wire.WhyRequest{Of: "s1"})
		if err != nil || len(got.GetExplanations()) == 0 {
			t.Fatalf("%v, %v", got, err)
		}
		return got.GetExplanations()[len(got.GetExplanations())-1].GetFollowed()
	}
	if got := followed(); len(got) != 0 {
		t.Errorf("before the answer: %q", got)
	}
	if _, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: r.codes.of("s1").Code}); err != nil {
		t.Fatal(err)
	}
	if got := followed(); len(got) != 2 || !strings.HasPrefix(got[0], "approved by ") || got[1] != "nothing ran by it so far" {
		t.Errorf("before it ran: %q", got)
	}
	r.tell("s1", r.install())
	if got := followed(); !slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, " was let through") }) {
		t.Errorf("after it ran: %q", got)
	}
}

// A wrong code without a session counts in every session that waits for an answer.
func TestGuessesCountEverywhere(t *testing.T) {
	r := newRoom(t)
	r.poisoned("s1")
	r.poisoned("s2")
	right := r.codes.of("s2").Code
	for range 5 {
		if _, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: "00000000"}); err == nil {
			t.Error("a wrong code was taken")
		}
	}
	if n := len(r.Monitor.Pending(httpapi.Identity{}.Tenant)); n != 0 {
		t.Errorf("%d questions still wait", n)
	}
	got, err := r.Answer(t.Context(), me(), &wire.AnswerRequest{Verb: "approve", Code: right, Session: "s2"})
	if err == nil && got.GetAnswered() {
		t.Errorf("%v", got)
	}
	if len(right) != approval.CodeLength {
		t.Error(right)
	}
}
