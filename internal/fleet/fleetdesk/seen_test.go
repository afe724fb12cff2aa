package fleetdesk

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// An answer contains what the person was shown, because the question may change on the laptop after
// the fleet accepted the answer.
func TestAnApprovalSaysWhatWasSeen(t *testing.T) {
	desk := deskOf()
	id := machinestest.Enrolled(t, desk.Book, "acme", "l").ID
	laptop := httpapi.Identity{Tenant: "acme", Machine: string(id), May: httpapi.MayMachine}
	anna := httpapi.Identity{Tenant: "acme", Name: "anna", May: httpapi.OwnerMay}
	asks := &wire.AskFleetRequest{Questions: []*wire.Question{
		{Ticket: "t", Session: "s", Seen: "now", Calls: []*wire.AskedCall{{}}, Expires: timestamppb.New(now().Add(time.Hour))},
	}}
	if _, err := desk.AskFleet(t.Context(), laptop, asks); err != nil {
		t.Fatal(err)
	}
	for _, seen := range []string{"before", "now"} {
		got, is, err := desk.Answer(t.Context(), anna, &wire.AnswerRequest{Verb: "approve", Ticket: "t", Calls: 1, Seen: seen})
		if err != nil || !is || got.GetAnswered() != (seen == "now") {
			t.Errorf("seen %s: %v, %v, %v", seen, got, is, err)
		}
	}
	got, err := desk.AskFleet(t.Context(), laptop, asks)
	if err != nil || len(got.GetAnswers()) != 1 || got.GetAnswers()[0].GetSeen() != "now" {
		t.Errorf("%v, %v", got, err)
	}
}

// A laptop's question that changed after it was approved is shown again, and can be approved in its
// new form. A denial is valid for every form of the question.
func TestAQuestionThatChangedIsShownAgain(t *testing.T) {
	desk := deskOf()
	id := machinestest.Enrolled(t, desk.Book, "acme", "l").ID
	laptop := httpapi.Identity{Tenant: "acme", Machine: string(id), May: httpapi.MayMachine}
	anna := httpapi.Identity{Tenant: "acme", Name: "anna", May: httpapi.OwnerMay}
	asks := func(ticket, seen string, calls int) *wire.AskFleetResponse {
		t.Helper()
		q := &wire.Question{Ticket: ticket, Session: "s", Seen: seen, Calls: make([]*wire.AskedCall, calls), Expires: timestamppb.New(now().Add(time.Hour))}
		for i := range q.Calls {
			q.Calls[i] = &wire.AskedCall{}
		}
		got, err := desk.AskFleet(t.Context(), laptop, &wire.AskFleetRequest{Questions: []*wire.Question{q}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	answers := func(verb, ticket, seen string, calls int32, want bool) {
		t.Helper()
		got, _, err := desk.Answer(t.Context(), anna, &wire.AnswerRequest{Verb: verb, Ticket: ticket, Calls: calls, Seen: seen})
		if err != nil || got.GetAnswered() != want {
			t.Errorf("%s of %s: %v, %v", verb, seen, got, err)
		}
	}
	shown := func(want int) {
		t.Helper()
		if list, err := desk.Asked(t.Context(), anna); err != nil || len(list) != want {
			t.Errorf("%d questions are shown, want %d: %v", len(list), want, err)
		}
	}
	for _, c := range []struct {
		ticket string
		seen   [2]string
		calls  [2]int
	}{
		{"t", [2]string{"before", "now"}, [2]int{1, 1}},
		{"old", [2]string{"", ""}, [2]int{2, 1}}, // a laptop that says only how many
	} {
		asks(c.ticket, c.seen[0], c.calls[0])
		answers("approve", c.ticket, c.seen[0], int32(c.calls[0]), true)
		answers("approve", c.ticket, c.seen[0], int32(c.calls[0]), false)
		shown(0)
		if got := asks(c.ticket, c.seen[1], c.calls[1]).GetAnswers(); len(got) != 0 {
			t.Errorf("it hears %v", got)
		}
		shown(1)
		answers("approve", c.ticket, c.seen[1], int32(c.calls[1]), true)
		shown(0)
		if got := asks(c.ticket, c.seen[1], c.calls[1]).GetAnswers(); len(got) != 1 || got[0].GetSeen() != c.seen[1] {
			t.Errorf("it hears %v", got)
		}
	}
	asks("no", "before", 1)
	answers("deny", "no", "", 0, true)
	if got := asks("no", "now", 1).GetAnswers(); len(got) != 1 || got[0].GetVerb() != "deny" {
		t.Errorf("it hears %v", got)
	}
	shown(0)
	answers("approve", "no", "now", 1, false)
}

// If two nodes store an approval and a denial at the same time, the laptop gets the denial.
func TestANoBeatsAYes(t *testing.T) {
	q := &wire.Question{Ticket: "t", Session: "s", Calls: []*wire.AskedCall{{}}}
	yes, no := &wire.FleetAnswer{Ticket: "t", Session: "s", Verb: "approve", Calls: 1}, &wire.FleetAnswer{Ticket: "t", Session: "s", Verb: "deny"}
	for _, kept := range [][]*wire.FleetAnswer{{yes, no}, {no, yes}} {
		if got := fitting(kept, []*wire.Question{q}); len(got) != 1 || got[0] != no {
			t.Errorf("%v", got)
		}
	}
}
