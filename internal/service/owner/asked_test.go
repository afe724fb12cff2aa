package owner

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// nodes are two desks over one journal, as two nodes of a fleet.
func nodes(t *testing.T, lines ...string) (a, b *room) {
	t.Helper()
	a = newRoom(t, lines...)
	return a, roomOver(t, a.Journal, a.drawn, lines...)
}

// questions returns the questions that a desk lists.
func (r *room) questions() []*wire.Question {
	r.t.Helper()
	got, err := r.Pending(r.t.Context(), away(), &wire.PendingRequest{})
	if err != nil {
		r.t.Fatal(err)
	}
	return got.GetQuestions()
}

// call returns a call of a tool for which a poisoned session asks a question, or that joins a
// question.
func call(id floodmark.CallID, tool, args string) hook.Event {
	return hook.Event{Point: hook.BeforeToolCall, Call: hook.Call{ID: id, Name: tool, Args: []byte(args)}}
}

// Every node shows a question in the same words as the node that asked it, and can answer it by its
// ticket alone.
func TestAQuestionIsTheSameAtEveryNode(t *testing.T) {
	a, b := nodes(t)
	a.poisoned("s1")
	here, there := a.questions(), b.questions()
	if len(here) != 1 || len(there[0].GetCalls()) != 1 || len(there[0].GetCalls()[0].GetCard()) == 0 {
		t.Fatalf("%v", there)
	}
	if diff := cmp.Diff(here, there, protocmp.Transform()); diff != "" {
		t.Errorf("at the other node (-asked +other):\n%s", diff)
	}
	shown, err := b.Show(t.Context(), away(), &wire.ShowRequest{Session: "s1"})
	if err != nil || cmp.Diff(here, shown.GetPending(), protocmp.Transform()) != "" {
		t.Errorf("shown as %v, %v", shown.GetPending(), err)
	}
	card := a.codes.of("s1").Call.Lines() // the words when it was asked
	if diff := cmp.Diff(card, there[0].GetCalls()[0].GetCard()); diff != "" {
		t.Errorf("the card (-asked +other):\n%s", diff)
	}
	if got, err := b.Answer(t.Context(), stranger(), &wire.AnswerRequest{Verb: "approve", Ticket: there[0].GetTicket(), Calls: 1}); err == nil {
		t.Errorf("a stranger: %v", got)
	}
	got, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "approve", Ticket: there[0].GetTicket(), Calls: 1})
	if err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	if v := a.tell("s1", a.install()).Decision.Verdict; v != floodmark.Allow {
		t.Errorf("the call is %v", v)
	}
	if len(a.questions())+len(b.questions()) != 0 {
		t.Error("it is still listed")
	}
}

// Calls that different nodes ask about are separate questions. Both nodes show both, and an
// approval is for one of them.
func TestEachCallHasItsOwnWords(t *testing.T) {
	a, b := nodes(t)
	a.poisoned("s1")
	if d := b.tell("s1", call("c3", "write", `{"path":"/work/x.sh","content":"x"}`)).Decision; d.Verdict != floodmark.Confirm {
		t.Fatalf("%+v", d)
	}
	var open []*wire.Question
	toolOf := func(q *wire.Question) string { return q.GetCalls()[0].GetAction().GetTool().GetName() }
	check := func(tools ...string) []*wire.Question {
		t.Helper()
		for _, r := range []*room{a, b} {
			list := r.questions()
			if len(list) != len(tools) {
				t.Fatalf("want questions about %v: %v", tools, list)
			}
			slices.SortFunc(list, func(x, y *wire.Question) int { return strings.Compare(toolOf(x), toolOf(y)) })
			for i, q := range list {
				if c := q.GetCalls(); len(c) != 1 || toolOf(q) != tools[i] || len(c[0].GetCard()) == 0 {
					t.Errorf("question %d of %v: %v", i, tools, c)
				}
			}
			open = list
		}
		return open
	}
	list := check("exec", "write")
	got, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "approve", Ticket: list[0].GetTicket(), Calls: 1})
	if err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	check("write")
}

// The words of a question do not change if the owner says something later, or if a node asks it
// again.
func TestWordsAreThoseOfThen(t *testing.T) {
	a, b := nodes(t)
	mine := floodmark.Origin{Kind: floodmark.FromSender, Sender: "anna", IsOwner: true}
	a.tell("s1", hook.Event{Point: hook.SessionStart})
	a.tell("s1", hook.Event{Point: hook.MessageReceived, Text: "what is new?", Origin: mine})
	a.poisoned("s1")
	want := a.questions()
	if asked := want[0].GetCalls()[0].GetAsked(); asked != "what is new?" {
		t.Errorf("asked after %q", asked)
	}
	a.tell("s1", hook.Event{Point: hook.MessageReceived, Text: "and the weather?", Origin: mine})
	if n, err := b.Monitor.AskAgain(t.Context(), ""); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if diff := cmp.Diff(want, b.questions(), protocmp.Transform()); diff != "" {
		t.Errorf("later (-then +now):\n%s", diff)
	}
	b.later(time.Hour)
	if list := b.questions(); len(list) != 0 {
		t.Errorf("after its time: %v", list)
	}
}

// A greedy is a laptop that has a question with every ticket.
type greedy struct{ answered int }

func (*greedy) Asked(context.Context, httpapi.Identity) ([]*wire.Question, error) { return nil, nil }

func (g *greedy) Answer(context.Context, httpapi.Identity, *wire.AnswerRequest) (*wire.AnswerResponse, bool, error) {
	g.answered++
	return &wire.AnswerResponse{Answered: true}, true, nil
}

// A laptop whose question has the same ticket as a question of another node does not get that
// question's answer.
func TestALaptopTakesNoAnswerOfAnotherNode(t *testing.T) {
	a, b := nodes(t)
	g := &greedy{}
	b.Laptops = g
	a.poisoned("s1")
	ticket := a.questions()[0].GetTicket()
	got, err := b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "deny", Ticket: ticket})
	if err != nil || !got.GetAnswered() || g.answered != 0 {
		t.Errorf("%v, %v; the laptop got %d answers", got, err, g.answered)
	}
	if v := a.tell("s1", a.install()).Decision.Verdict; v != floodmark.Restrict {
		t.Errorf("the call is %v", v)
	}
	if got, err = b.Answer(t.Context(), away(), &wire.AnswerRequest{Verb: "deny", Ticket: "t-laptops"}); err != nil || g.answered != 1 {
		t.Errorf("its own: %v, %v", got, err)
	}
}

// Two people can approve at two nodes.
func TestTwoPeopleAtTwoNodes(t *testing.T) {
	a, b := nodes(t, `approvals: {admin: two, people: {anna: ["token:anna"], ben: ["token:ben"]}}`)
	change := call("c2", "write", `{"path":"/home/anna/.config/floodmark/policy.yaml","content":"x"}`)
	a.tell("s1", hook.Event{Point: hook.SessionStart})
	a.tell("s1", hook.Event{Point: hook.MessageReceived, Text: "hello", Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "anna", IsOwner: true}})
	if d := a.tell("s1", change).Decision; d.Verdict != floodmark.Confirm {
		t.Fatalf("%+v", d)
	}
	approve := &wire.AnswerRequest{Verb: "approve", Ticket: a.questions()[0].GetTicket(), Calls: 1}
	for range 2 {
		if got, err := b.Answer(t.Context(), away(), approve); err != nil || got.GetAnswered() {
			t.Fatalf("one of two: %v, %v", got, err)
		}
	}
	if q := a.questions()[0]; !q.GetTwo() || q.GetApprovedBy() != "anna" || len(q.GetCalls()[0].GetCard()) == 0 {
		t.Errorf("after anna: %v", q)
	}
	if got, err := a.Answer(t.Context(), httpapi.Identity{Name: "ben", Channel: httpapi.ByToken}, approve); err != nil || !got.GetAnswered() {
		t.Fatalf("ben: %v, %v", got, err)
	}
	if d := b.tell("s1", change).Decision; d.Verdict != floodmark.Allow {
		t.Errorf("%+v", d)
	}
}

// An approval by ticket is only valid for what was shown, and not if the agent read more and asked
// again.
func TestAnApprovalIsForWhatWasShown(t *testing.T) {
	a, b := nodes(t)
	a.poisoned("s1")
	old := b.questions()[0]
	a.tell("s1", hook.Event{Point: hook.MessageReceived, Text: "And now for something else.", Origin: floodmark.Origin{Kind: floodmark.FromSender, Sender: "eve"}})
	a.tell("s1", a.install())
	now := b.questions()[0]
	if now.GetTicket() != old.GetTicket() || len(now.GetCalls()) != 1 || now.GetSeen() == old.GetSeen() || now.GetSeen() == "" {
		t.Fatalf("%v, and before %v", now, old)
	}
	approve := &wire.AnswerRequest{Verb: "approve", Ticket: old.GetTicket(), Calls: 1, Seen: old.GetSeen()}
	if got, err := b.Answer(t.Context(), away(), approve); err != nil || got.GetAnswered() {
		t.Errorf("what was shown before: %v, %v", got, err)
	}
	if v := a.tell("s1", a.install()).Decision.Verdict; v != floodmark.Confirm {
		t.Errorf("the call is %v", v)
	}
	if n, err := b.Monitor.AskAgain(t.Context(), ""); n != 1 || err != nil { // with another code
		t.Fatal(n, err)
	}
	approve.Seen = now.GetSeen()
	if got, err := b.Answer(t.Context(), away(), approve); err != nil || !got.GetAnswered() {
		t.Errorf("what is shown: %v, %v", got, err)
	}
}
