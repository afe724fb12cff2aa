package transcript

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	cleanRuns = flag.Int("clean", 10, "made-up clean runs for each agent")
	evidence  = flag.String("evidence", "", "a file for the figures")
)

// figures are the published results.
type figures struct {
	Commit   string             `json:"commit"`
	Recorded map[string]int     `json:"recordedCleanRuns"` // by agent
	Made     int                `json:"madeCleanRuns"`
	Calls    int                `json:"callsInCleanRuns"`
	Reported int                `json:"reportedInCleanRuns"`
	Planted  map[string]planted `json:"planted"` // by kind
	Note     string             `json:"note"`
}

type planted struct {
	Agents  []string `json:"agents"`
	Planted int      `json:"planted"`
	Found   int      `json:"found"`
}

// TestCoverageLaw: what was judged is never reported, and what ran unseen
// always is.
func TestCoverageLaw(t *testing.T) {
	f := figures{
		Recorded: map[string]int{}, Planted: map[string]planted{},
		Note: "recorded: real agents against a scripted model; made: written in each agent's form; claude-code is not run, its form is the one others describe",
	}
	for name, r := range recorded(t) {
		got := r.cover(t)
		f.Recorded[r.agent]++
		f.Calls += got.ran()
		if list := got.findings(); len(list) > 0 || got.unread() > 0 {
			f.Reported += len(list)
			t.Errorf("%s: %v, %d not read", name, list, got.unread())
		}
	}
	for _, agent := range Agents() {
		for seed := range *cleanRuns {
			f.Made++
			f.clean(t, agent, uint64(seed))
		}
		for kind, plant := range plantings() {
			for seed := range max(5, *cleanRuns/5) {
				f.plant(t, agent, kind, plant, uint64(seed))
			}
		}
	}
	if len(f.Planted) < 6 {
		t.Errorf("%d kinds were planted", len(f.Planted))
	}
	t.Logf("%+v", f)
	if *evidence != "" && !t.Failed() {
		f.Commit = ourCommit(t)
		data, err := json.MarshalIndent(f, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(*evidence, append(data, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *figures) clean(t *testing.T, agent string, seed uint64) {
	got := clean(agent, seed).run().cover(t)
	f.Calls += got.ran()
	if list := got.findings(); len(list) > 0 || got.unread() > 0 || len(got.Reports) == 0 {
		f.Reported += len(list)
		t.Errorf("%s %d: %v, %d not read, %d sessions", agent, seed, list, got.unread(), len(got.Reports))
	}
}

func (f *figures) plant(t *testing.T, agent, kind string, plant planting, seed uint64) {
	s := clean(agent, seed)
	want := plant(s)
	if want == "" {
		return
	}
	p := f.Planted[kind]
	if p.Planted++; !slices.Contains(p.Agents, agent) {
		p.Agents = append(p.Agents, agent)
	}
	got := s.run().cover(t).findings()
	if wrong := slices.DeleteFunc(slices.Clone(got), func(g string) bool { return g == want }); len(got) == 0 || len(wrong) > 0 {
		t.Errorf("%s, %s, %d: found %v, want only %q", agent, kind, seed, got, want)
	} else {
		p.Found++
	}
	f.Planted[kind] = p
}

// If a decision is removed from a recorded run, or turned into a refusal, its call is found.
func TestRecordedRunsWithoutADecision(t *testing.T) {
	for name, r := range recorded(t) {
		for id, k := range r.records {
			ran := r.cover(t).ran()
			if len(k.Decisions) < 2 || ran == 0 {
				continue
			}
			silent, refused := r.clone(), r.clone()
			for i := range refused.records[id].Decisions {
				refused.records[id].Decisions[i].Allowed = false
			}
			delete(silent.records, id)
			for want, changed := range map[string]run{RefusedRan: refused, Unseen: silent} {
				got := changed.cover(t).findings()
				child := want == Unseen && len(r.records) > 1 // its parent was seen
				if len(got) == 0 || !strings.HasPrefix(got[0], want) && (!child || !strings.HasPrefix(got[0], Unmediated)) {
					t.Errorf("%s, %s: found %v", name, want, got)
				}
			}
		}
	}
}

// Calls that could not have been seen are only counted.
func TestBeforeAndErased(t *testing.T) {
	call := Call{ID: "c", Tool: "bash", At: base(), Outcome: Ran}
	s := Session{Agent: piName, Names: []string{"s"}, Calls: []Call{call}}
	later, earlier := base().Add(time.Second), base().Add(-time.Second)
	decided := []Decision{{Call: "other"}}
	for name, c := range map[string]struct {
		known                   *Record
		began                   time.Time
		before, erased, finding int
	}{
		"never watched":            {nil, time.Time{}, 1, 0, 0},
		"watched later":            {nil, later, 1, 0, 0},
		"watched":                  {nil, earlier, 0, 0, 1},
		"watched from that moment": {nil, base(), 0, 0, 1},
		"session joined later":     {&Record{Opened: later, Decisions: decided}, earlier, 1, 0, 0},
		"session seen":             {&Record{Opened: earlier, Decisions: decided}, earlier, 0, 0, 1},
		"erased":                   {&Record{Opened: earlier, Erased: base()}, earlier, 0, 1, 0},
		"after what was erased":    {&Record{Opened: earlier, Erased: earlier}, earlier, 0, 0, 1},
	} {
		r := Match(s, []*Record{c.known}, c.began)
		if r.Before != c.before || r.Erased != c.erased || len(r.Findings) != c.finding {
			t.Errorf("%s: %d before, %d erased, %v", name, r.Before, r.Erased, r.Findings)
		}
	}
}
