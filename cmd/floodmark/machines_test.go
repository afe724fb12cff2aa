package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/fleetcli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/cli/setup"
	"github.com/floodmark/floodmark/wire"
)

// The list says what matters about each laptop, and contains nothing that controls a terminal.
func TestMachinesText(t *testing.T) {
	now := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	text := fleetcli.MachinesText(cli.Style{}, []*wire.MachineStatus{
		{
			Id: "00112233aabbccdd", Name: "anna\x1b[31m", EnrolledBy: "setup", State: "joined", Seen: timestamppb.New(now.Add(-time.Minute)), Entries: 42, Forks: 1,
			Report: &wire.ReportMachineRequest{Version: "1.2.3", Rules: "bundle", Bundle: 7, Behind: 2, Agents: []*wire.MachineAgent{{Name: "codex", Version: "0.9", State: "open", Uncovered: []string{"x", "y"}}}},
		},
		{Id: "99", Name: "bob", EnrolledBy: "bea", State: "revoked", Report: &wire.ReportMachineRequest{Rules: "strict"}},
		{Id: "77", Name: "new", EnrolledBy: "bea", State: "joined"},
	}, now)
	for _, want := range []string{"00112233aabbccdd", "ago", "bundle 7", "42", "1.2.3", "codex 0.9 (open), 2 holes", "forked 1 time", "2 sessions are not uploaded", "revoked", "strict", "never", "by setup"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("an escape is in\n%q", text)
	}
}

// A pagedFleet lists its laptops in pages. If it lies, its list never ends.
type pagedFleet struct {
	wire.MachineServiceClient
	n    int
	lies bool
}

func (f pagedFleet) ListMachines(_ context.Context, r *wire.ListMachinesRequest) (*wire.ListMachinesResponse, error) {
	out := &wire.ListMachinesResponse{}
	for i := range f.n {
		id := fmt.Sprintf("%03d", i)
		if id <= r.GetAfter() {
			continue
		}
		if len(out.GetMachines()) == 2 {
			out.Next = out.GetMachines()[1].GetId()
			break
		}
		out.Machines = append(out.Machines, &wire.MachineStatus{
			Id: id, Seen: timestamppb.New(time.Unix(int64(i%3), 0)), Report: &wire.ReportMachineRequest{Agents: []*wire.MachineAgent{{Uncovered: []string{"a long sentence"}}}},
		})
	}
	if f.lies && out.GetNext() == "" {
		out.Next = "001"
	}
	return out, nil
}

// All pages are requested. The laptop that was in contact last comes first. A list without end is
// cut off.
func TestAllPagesOfMachines(t *testing.T) {
	var said bytes.Buffer
	c := &cli.Console{Stdout: io.Discard, Stderr: &said, StderrTerminal: true}
	for _, whole := range []bool{true, false} {
		got, err := fleetcli.Pages(t.Context(), c, &cli.Desk{Machines: pagedFleet{n: 7}}, &wire.ListMachinesRequest{}, whole)
		if err != nil {
			t.Fatal(err)
		}
		ids := ""
		for _, m := range got.GetMachines() {
			ids += m.GetId() + " "
			if u := m.GetReport().GetAgents()[0].GetUncovered(); len(u) != 1 || (u[0] != "") != whole {
				t.Errorf("whole %v: %q", whole, u)
			}
		}
		if ids != "002 005 001 004 000 003 006 " {
			t.Errorf("%s", ids)
		}
	}
	if !strings.Contains(said.String(), "4 laptops …") || !strings.HasSuffix(said.String(), "\r\x1b[K") {
		t.Errorf("%q", said.String())
	}
	if _, err := fleetcli.Pages(t.Context(), c, &cli.Desk{Machines: pagedFleet{n: 3, lies: true}}, &wire.ListMachinesRequest{}, false); err == nil || !strings.Contains(err.Error(), "without end") {
		t.Errorf("%v", err)
	}
}

// A laptop's question has no code, so the node's own terminal does not promise one.
func TestALaptopsQuestionHasNoCode(t *testing.T) {
	p := &cli.Sheet{}
	records.QuestionsText(p, []*wire.Question{{Ticket: "t-1", Session: "laptop/00112233aabbccdd/s1"}}, cli.Place{Dir: "n1"}, time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC))
	if text := p.String(); strings.Contains(text, "shown at a terminal") || !strings.Contains(text, "yes: on that laptop, or by a person who is logged in") {
		t.Error(text)
	}
}

// If the journal cannot be reached, it is not reported as changed.
func TestACheckThatStops(t *testing.T) {
	stopped := "the check could not be finished, so the rest is not known: no route"
	for want, problems := range map[string][]string{
		"The journal could not be checked: 0 sessions":             {stopped},
		"The journal was changed after it was written: 0 sessions": {"entry 2 of s1 was changed", stopped},
	} {
		if text := records.VerifyText(cli.Style{}, &wire.VerifyReport{Problems: problems}); !strings.HasPrefix(text, want) {
			t.Error(text)
		}
	}
}

// A changed membership is reported in a sentence.
func TestStatusOfAChangedMembership(t *testing.T) {
	now := time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	for fleet, want := range map[string]string{"STRICT: fleet.json is not as it was": "It is STRICT: fleet.json", "joined https://f.example as machine 1": "It joined https://f.example"} {
		p := &cli.Sheet{}
		setup.StatusText(p, &wire.StatusResponse{Started: timestamppb.New(now), Fleet: fleet}, now, "")
		if !strings.Contains(p.String(), want) {
			t.Error(p.String())
		}
	}
}
