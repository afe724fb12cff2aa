package protection_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/protection"
)

// deciders are all policies that stand in one table.
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

// The monitor as it ships lets no more attacks pass than the seeds' mark does,
// on any set, and says what it decided by.
func TestMonitorReplay(t *testing.T) {
	if testing.Short() {
		t.Skip("replays 18,000 traces: not in short mode")
	}
	data := loaded(t)
	began := time.Now()
	r, err := protection.Replay(t.Context(), data, deciders(t, data), protection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("replayed in %v", time.Since(began).Round(time.Millisecond))
	if len(r.PolicyHash) != 64 || len(r.CatalogHash) != 64 {
		t.Errorf("hashes are %q and %q", r.PolicyHash, r.CatalogHash)
	}
	for _, set := range protection.Sets() {
		a, f := pooled(r, "A", set), pooled(r, "floodmark", set)
		if f.Passed > a.Passed {
			t.Errorf("%s: %d attacks pass, %d under policy A", set, f.Passed, a.Passed)
		}
		if f.Attacks != a.Attacks || f.Benign != a.Benign {
			t.Errorf("%s: policies were not measured on the same traces", set)
		}
	}
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

// Who finishes first must not show in any count, and a second run must not be
// changed by what the first one has kept.
func TestReplayIsDeterministic(t *testing.T) {
	data := *loaded(t)
	var some []protection.Trace
	for i := 0; i < len(data.Traces); i += 23 {
		some = append(some, data.Traces[i])
	}
	data.Traces = some
	m := monitor(t)
	var first *protection.Result
	for _, workers := range []int{1, 3} {
		r, err := protection.Replay(t.Context(), &data, []protection.Decider{m}, protection.Options{Workers: workers})
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
