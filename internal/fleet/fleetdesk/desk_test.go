package fleetdesk

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// now is the time in these tests.
func now() time.Time { return time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC) }

// deskOf is a desk that admits every caller, and records nothing.
func deskOf() Desk {
	return Desk{
		Book: machines.NewMemory(), Now: now, Keys: func(string) []string { return nil }, HasTenant: func(string) bool { return true },
		Enter: func(context.Context, httpapi.Identity, int64) (func(), error) { return func() {}, nil },
		Note:  func(context.Context, journal.Session, floodmark.IncidentSeen) error { return nil },
	}
}

// A fleet keeps no more of a laptop's questions than it can show, and no code.
func TestLaptopsAskWithinLimits(t *testing.T) {
	desk := deskOf()
	id := machinestest.Enrolled(t, desk.Book, "acme", "l").ID
	who := httpapi.Identity{Tenant: "acme", Machine: string(id), May: httpapi.MayMachine}
	ask := func(n, bytes int) error {
		r := &wire.AskFleetRequest{}
		for range n {
			r.Questions = append(r.Questions, &wire.Question{Ticket: "t", Code: "c0deface", Expires: timestamppb.New(now().Add(time.Minute)), Calls: []*wire.AskedCall{{Line: strings.Repeat("x", bytes)}}})
		}
		_, err := desk.AskFleet(t.Context(), who, r)
		return err
	}
	if err := ask(machines.MaxQuestions, 10); err != nil {
		t.Error(err)
	}
	if ask(machines.MaxQuestions+1, 1) == nil || ask(1, machines.MaxAskedBytes) == nil {
		t.Error("there is no limit")
	}
	list, err := desk.Book.Asked(t.Context(), "acme", time.Time{})
	if err != nil || len(list) != 1 || strings.Contains(string(list[0].Open), "c0deface") {
		t.Errorf("%v, %v", list, err)
	}
}
