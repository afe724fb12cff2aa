package fleetdesk

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// countedBook counts how often it is asked for answers.
type countedBook struct {
	machines.Book
	asked int
}

func (b *countedBook) Answers(ctx context.Context, tenant string, ids []machines.ID, since time.Time) (map[machines.ID][][]byte, error) {
	b.asked++
	return b.Book.Answers(ctx, tenant, ids, since)
}

// However many laptops ask, the book is queried only once for answers, and answered questions are
// not shown again.
func TestManyLaptopsAreOneQuestion(t *testing.T) {
	desk := deskOf()
	book := &countedBook{Book: desk.Book}
	desk.Book = book
	who := httpapi.Identity{Tenant: "acme", Name: "anna", May: httpapi.OwnerMay}
	var first *wire.Question
	for i := range 5 {
		id := machinestest.Enrolled(t, book, "acme", machines.ID(fmt.Sprint("l", i))).ID
		q := &wire.Question{Ticket: fmt.Sprint("t", i), Session: "s", Expires: timestamppb.New(now().Add(time.Hour))}
		asks := &wire.AskFleetRequest{Questions: []*wire.Question{q}}
		if _, err := desk.AskFleet(t.Context(), httpapi.Identity{Tenant: "acme", Machine: string(id), May: httpapi.MayMachine}, asks); err != nil {
			t.Fatal(err)
		}
		first = q
	}
	seen := func(want int) {
		t.Helper()
		book.asked = 0
		if list, err := desk.Asked(t.Context(), who); err != nil || len(list) != want || book.asked != 1 {
			t.Errorf("%d questions, %v, the book was asked %d times; want %d and once", len(list), err, book.asked, want)
		}
	}
	seen(5)
	if got, _, err := desk.Answer(t.Context(), who, &wire.AnswerRequest{Verb: "deny", Ticket: first.GetTicket()}); err != nil || !got.GetAnswered() {
		t.Fatalf("%v, %v", got, err)
	}
	seen(4)
}

// A laptop gets the answers to its open questions, and no more than it reads at once.
func TestALaptopHearsWhatItAsks(t *testing.T) {
	desk := deskOf()
	id := machinestest.Enrolled(t, desk.Book, "acme", "l").ID
	who := httpapi.Identity{Tenant: "acme", Machine: string(id), May: httpapi.MayMachine}
	long := strings.Repeat("x", machines.MaxAnswerBytes-100)
	for i := range machines.MaxQuestions {
		data, err := proto.Marshal(&wire.FleetAnswer{Ticket: fmt.Sprint("t", i), Session: "s", Verb: "deny", By: long})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := desk.Book.Answer(t.Context(), "acme", id, fmt.Sprint("t", i), now(), data); err != nil {
			t.Fatal(err)
		}
	}
	hears := func(questions ...*wire.Question) *wire.AskFleetResponse {
		t.Helper()
		got, err := desk.AskFleet(t.Context(), who, &wire.AskFleetRequest{Questions: questions})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := hears(); len(got.GetAnswers()) > 0 {
		t.Errorf("%d answers to nothing", len(got.GetAnswers()))
	}
	one := &wire.Question{Ticket: "t1", Session: "s"}
	if got := hears(one, &wire.Question{Ticket: "t2", Session: "another"}, &wire.Question{Ticket: "t99", Session: "s"}).GetAnswers(); len(got) != 1 || got[0].GetTicket() != "t1" {
		t.Errorf("%d answers, want that to t1", len(got))
	}
	var all []*wire.Question
	for i := range machines.MaxQuestions {
		all = append(all, &wire.Question{Ticket: fmt.Sprint("t", i), Session: "s"})
	}
	if got := hears(all...); len(got.GetAnswers()) < 30 || proto.Size(got) > machines.MaxAskedBytes {
		t.Errorf("%d answers, %d bytes", len(got.GetAnswers()), proto.Size(got))
	}
}
