package protection_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/lab/protection"
)

// deciders returns all policies of the table.
func deciders(t testing.TB, data *protection.Data) []protection.Decider {
	t.Helper()
	return []protection.Decider{protection.None(), protection.HighWater(data), protection.Verbatim(data), monitor(t)}
}

func monitor(t testing.TB) protection.Decider {
	t.Helper()
	rules, err := protection.Rules("assistant")
	if err != nil {
		t.Fatal(err)
	}
	m, err := protection.Monitor("floodmark", rules)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// some returns data with one in so many of the traces.
func some(t testing.TB, one int) *protection.Data {
	t.Helper()
	data := *loaded(t)
	var traces []protection.Trace
	for i := 0; i < len(data.Traces); i += one {
		traces = append(traces, data.Traces[i])
	}
	data.Traces = traces
	return &data
}

// The shipped monitor lets no more attacks pass than the mark of the seeds, on any set, and gives
// reasons. «.ci/run protection» replays all traces and compares the figures with the published
// ones.
func TestMonitorReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 1,600 traces: not in short mode")
	}
	data := some(t, 11)
	r, err := protection.Replay(t.Context(), data, deciders(t, data), protection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.PolicyHash) != 64 || len(r.CatalogHash) != 64 {
		t.Errorf("hashes are %q and %q", r.PolicyHash, r.CatalogHash)
	}
	beatsTheMark(t, r, protection.Sets()...)
	for _, s := range r.Sets {
		if s.Set.HeldOut() && (s.PassedIDs != nil || s.AskedIDs != nil || s.Why != nil) {
			t.Errorf("%s: details of a held-out set were kept", s.Set)
		}
	}
	if testing.Verbose() {
		r.WriteTable(t.Output())
		r.WriteWhy(t.Output())
	}
}

// beatsTheMark checks that on none of these sets more attacks pass than with the mark of the seeds.
func beatsTheMark(t *testing.T, r *protection.Result, sets ...protection.Set) {
	t.Helper()
	for _, set := range sets {
		a, f := pooled(r, "A", set), pooled(r, "floodmark", set)
		if f.Passed > a.Passed {
			t.Errorf("%s: %d attacks pass, %d under policy A", set, f.Passed, a.Passed)
		}
		if f.Attacks == 0 || f.Attacks != a.Attacks || f.Benign != a.Benign {
			t.Errorf("%s: policies were not measured on the same traces", set)
		}
	}
}

// By the published figures of all traces, no more attacks pass than with the mark of the seeds.
func TestPublishedFiguresBeatTheMark(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "evidence", "protection.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r protection.Result
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	sets := protection.Sets()
	for _, s := range r.Sets {
		if !slices.Contains(sets, s.Set) {
			sets = append(sets, s.Set)
		}
	}
	beatsTheMark(t, &r, sets...)
}

// The counts must not depend on which worker finishes first, nor on what an earlier run has kept.
func TestReplayIsDeterministic(t *testing.T) {
	data := some(t, 23)
	m := monitor(t)
	var first *protection.Result
	for _, workers := range []int{1, 3} {
		r, err := protection.Replay(t.Context(), data, []protection.Decider{m}, protection.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Sets {
			r.Sets[i].P50, r.Sets[i].P99 = 0, 0
		}
		if first == nil {
			first = r
		} else if !reflect.DeepEqual(first, r) {
			t.Errorf("with %d workers:\n%+v\nbefore:\n%+v", workers, r, first)
		}
	}
	if !slices.ContainsFunc(first.Sets, func(s protection.Score) bool {
		return len(s.Why) > 0 && strings.Contains(s.Why[0].Text, "confirm")
	}) {
		t.Error("no question says why")
	}
}

func BenchmarkReplay(b *testing.B) {
	data := loaded(b)
	for b.Loop() {
		if _, err := protection.Replay(b.Context(), data, deciders(b, data), protection.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
