package owner

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// Two people approve on two authenticated ways. Between them, the question says that it has one of
// two approvals.
func TestTwoPeopleAnswer(t *testing.T) {
	r := newRoom(t, `approvals: {admin: two, people: {anna: ["owner.sock:1", "token:anna"], ben: ["token:ben"]}}`)
	r.tell("s1", hook.Event{Point: hook.SessionStart})
	call := hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: "c2", Name: "write", Args: []byte(`{"path":"/home/anna/.config/floodmark/policy.yaml","content":"x"}`)}}
	r.tell("s1", hook.Event{Point: hook.MessageReceived, Text: "hello", Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "anna", IsOwner: true}})
	if d := r.tell("s1", call).Decision; d.Verdict != floodmark.Confirm {
		t.Fatalf("%+v", d)
	}
	question := func() *wire.Question {
		t.Helper()
		list, err := r.Pending(t.Context(), me(), &wire.PendingRequest{})
		if err != nil || len(list.GetQuestions()) != 1 || !list.GetQuestions()[0].GetTwo() {
			t.Fatalf("%v, %v", list, err)
		}
		return list.GetQuestions()[0]
	}
	approve := func(who httpapi.Identity) *wire.AnswerResponse {
		t.Helper()
		a, err := r.Answer(t.Context(), who, &wire.AnswerRequest{Verb: "approve", Session: "s1", Ticket: question().GetTicket(), Calls: 1})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if by := question().GetApprovedBy(); by != "" {
		t.Errorf("before anybody: %q", by)
	}
	if a := approve(away()); a.GetAnswered() || !strings.HasPrefix(a.GetNotice(), "One of two: another") {
		t.Errorf("anna: %v", a)
	}
	if by := question().GetApprovedBy(); by != "anna" {
		t.Errorf("after anna: %q", by)
	}
	if a := approve(away()); a.GetAnswered() || !strings.HasPrefix(a.GetNotice(), "One of two: you have") {
		t.Errorf("anna again: %v", a)
	}
	if a := approve(httpapi.Identity{Name: "eve", Channel: httpapi.ByToken}); a.GetAnswered() {
		t.Errorf("eve: %v", a)
	}
	if a := approve(httpapi.Identity{Name: "ben", Channel: httpapi.ByToken}); !a.GetAnswered() {
		t.Errorf("ben: %v", a)
	}
	if d := r.tell("s1", call).Decision; d.Verdict != floodmark.Allow {
		t.Errorf("%+v", d)
	}
}
