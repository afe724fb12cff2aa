package replay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/factjson"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/replay"
	"github.com/floodmark/floodmark/policy"
)

// olderSession is a session that was recorded when each finding was a field of its own.
func olderSession(t *testing.T) (facts []replay.Recorded) {
	t.Helper()
	data, err := os.ReadFile("testdata/before-findings.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var entry struct {
			At   time.Time
			Kind string
			Fact json.RawMessage
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		f, err := factjson.Decode(entry.Kind, entry.Fact)
		if err != nil {
			t.Fatal(err)
		}
		if _, again, err := factjson.Encode(f); err != nil || !bytes.Equal(again, entry.Fact) {
			t.Errorf("written again as %s, %v; it was %s", again, err, entry.Fact)
		}
		facts = append(facts, replay.Recorded{At: entry.At, Fact: f})
	}
	return facts
}

// judgedAgain returns what would be decided about a session.
func judgedAgain(t *testing.T, facts []replay.Recorded) []replay.Rejudged {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\nprofile: coding\n")})
	shipped, err := catalog.Shipped()
	if problems.Failed() || err != nil {
		t.Fatal(problems, err)
	}
	rules := kernel.NewRules(p, catalog.New(p.Tools(), shipped))
	got, err := (replay.Retrial{Now: rules, Then: &rules}).Session(facts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got.Decisions
}

// With each of its findings, a session from before they were a list is judged as it was: by the old
// fields, and by the words that stand for them now. A word that nobody knows is refused.
func TestAnOlderSessionIsJudgedTheSame(t *testing.T) {
	facts, asked := olderSession(t), map[string]int{}
	for _, d := range judgedAgain(t, facts) {
		if d.Outcome != replay.Unchanged || !cmp.Equal(d.Was, d.Would) {
			t.Errorf("fact %d: %s %s %s", d.Index, d.Outcome, d.Why, cmp.Diff(d.Was, d.Would))
		}
		for _, r := range d.Was.Reasons {
			asked[r.Rule]++
		}
	}
	if asked["folders"] != 2 || asked["flows.flow-fetch"] != 2 || asked["interactive"] != 2 {
		t.Errorf("not every finding is in it: %v", asked)
	}
	found := 0
	for i := range facts {
		d, ok := facts[i].Fact.(floodmark.ActionDecided)
		if !ok {
			continue
		}
		b := *d.Basis
		b.Findings, b.Interactive, b.Strange, b.Wipes = b.Found(), false, false, false
		found += len(b.Findings)
		d.Basis = &b
		facts[i].Fact = d
	}
	for _, d := range judgedAgain(t, facts) {
		if d.Outcome != replay.Unchanged || !cmp.Equal(d.Was, d.Would) {
			t.Errorf("fact %d as a list: %s %s %s", d.Index, d.Outcome, d.Why, cmp.Diff(d.Was, d.Would))
		}
	}
	if found != 6 {
		t.Errorf("%d findings, not 6", found)
	}
}

// A finding of a version to come is refused, whatever else allows the call.
func TestAFindingOfTomorrowIsRefused(t *testing.T) {
	facts := olderSession(t)
	at := slices.IndexFunc(facts, func(f replay.Recorded) bool {
		d, ok := f.Fact.(floodmark.ActionDecided)
		return ok && d.Decision.Verdict == floodmark.Allow
	})
	d := facts[at].Fact.(floodmark.ActionDecided) //nolint:forcetypeassert // as was looked for
	b := *d.Basis
	b.Findings = []floodmark.Finding{"of-tomorrow"}
	d.Basis = &b
	facts[at].Fact = d
	all := judgedAgain(t, facts)
	again := all[slices.IndexFunc(all, func(r replay.Rejudged) bool { return r.Index == at })]
	if again.Would.Verdict != floodmark.Restrict || again.Would.Reasons[0].Code != floodmark.Unjudged {
		t.Errorf("%+v", again.Would)
	}
}
