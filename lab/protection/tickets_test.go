package protection

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/approval"
)

var (
	ticketsFile = flag.String("tickets", "", "write questions of attacks and of honest runs to this file, to be read by people")
	ticketsEach = flag.Int("tickets-each", 20, "how many of each")
	ticketsSeed = flag.Uint64("tickets-seed", 1, "which ones are drawn")
)

// A readable is one question, and what the right answer is.
type readable struct {
	Attack bool
	Ticket approval.Ticket
}

// TestTickets draws questions of both kinds for the trial in
// docs/guide/asking.md. Data of others is not kept here: without -tickets it
// writes nothing.
func TestTickets(t *testing.T) {
	if *ticketsFile == "" {
		t.Skip("without -tickets nobody wants to read questions")
	}
	data, err := Load(os.Getenv("FLOODMARK_PROTECTION_DATA"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := Rules("assistant")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Monitor("floodmark", rules)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(*ticketsSeed, 0))
	left := map[bool]int{true: *ticketsEach, false: *ticketsEach}
	seen := map[string]bool{} // one question of each task
	var list []readable
	for _, i := range random.Perm(len(data.Traces)) {
		trace := &data.Traces[i]
		name := trace.Suite + trace.Task + trace.Injection
		attack := trace.Kind == Attack
		if trace.Source != "agentdojo" || trace.TextOnly || left[attack] == 0 || seen[name] || attack && !trace.Replayed {
			continue
		}
		if ticket, ok := firstTicket(t, d, trace); ok {
			seen[name] = true
			left[attack]--
			list = append(list, readable{attack, ticket})
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*ticketsFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d questions, of attacks and honest runs alike", len(list))
}

// firstTicket plays a trace up to the question that decides it: for an attack
// about a call it needs, else about any.
func firstTicket(t *testing.T, d Decider, trace *Trace) (found approval.Ticket, ok bool) {
	t.Helper()
	run, err := d.Begin(trace)
	if err != nil {
		t.Fatal(err)
	}
	r, isMonitor := run.(*monitorRun)
	if !isMonitor {
		t.Fatal("not a monitor")
	}
	for i := range trace.Steps {
		s := &trace.Steps[i]
		if err := r.Propose(s); err != nil {
			return found, false
		}
		for j := range s.Calls {
			c := &s.Calls[j]
			r.newest = nil
			asked, err := r.Ask(c)
			if err != nil {
				return found, false
			}
			decisive := trace.Kind != Attack || slices.ContainsFunc(trace.Cuts, func(cut []int) bool { return slices.Contains(cut, c.Index) })
			if asked && decisive && r.newest != nil && r.newest.Calls == 1 {
				return *r.newest, true
			}
		}
		for j := range s.Calls {
			if c := &s.Calls[j]; c.Fed {
				if err := r.Feed(c, false); err != nil {
					return found, false
				}
			}
		}
	}
	return found, false
}
