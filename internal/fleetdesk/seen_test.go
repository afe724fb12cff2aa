package fleetdesk

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/httpapi"
	"github.com/floodmark/floodmark/internal/machines/machinestest"
	"github.com/floodmark/floodmark/wire"
)

// What a person was shown goes with the answer to the laptop: the question may change
// there after the fleet took the answer.
func TestAnApprovalSaysWhatWasSeen(t *testing.T) {
	desk := deskOf()
	id := machinestest.Enrolled(t, desk.Book, "acme", "l").ID
	laptop := httpapi.Identity{Tenant: "acme", Machine: string(id), May: httpapi.MayMachine}
	anna := httpapi.Identity{Tenant: "acme", Name: "anna", May: httpapi.OwnerMay}
	asks := &wire.AskFleetRequest{Questions: []*wire.Question{
		{Ticket: "t", Session: "s", Seen: "now", Calls: []*wire.AskedCall{{}}, Expires: timestamppb.New(time.Now().Add(time.Hour))},
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
