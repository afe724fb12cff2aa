package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/rules/finding"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/report"
)

// shelf has the records that sessions left behind, in their order.
type shelf []artifact.Kept

func (s shelf) Find(refs []floodmark.ArtifactRef) []artifact.Kept {
	return slices.DeleteFunc(slices.Clone(s), func(k artifact.Kept) bool { return !slices.Contains(refs, k.Ref) })
}

// checkedStep is a step of the session s under a profile.
func checkedStep(t *testing.T, rules string) *step {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\n" + rules)})
	if problems.Failed() {
		t.Fatal(problems)
	}
	return newStep(NewState(), NewRules(p, nil), Input{Event: hook.Event{Agent: "a", Session: "s"}})
}

func TestRaise(t *testing.T) {
	st, strict := checkedStep(t, "profile: coding"), checkedStep(t, "profile: coding\nrelax: false")
	old := policy.Question{Effects: []floodmark.Effect{floodmark.Run}, Reach: policy.Reach{Network: true}}
	if st.raise(&old, &floodmark.Basis{Bound: true, Check: &floodmark.Check{Name: "go test"}}); old.Raised != nil || !old.Reach.Network {
		t.Errorf("what an older journal calls a check: %+v", old)
	}
	push := policy.Raised{Effect: floodmark.Send, Trust: floodmark.Owner}
	var yes, no, off policy.Question
	st.raise(&yes, &floodmark.Basis{Pushed: true})
	st.raise(&no, &floodmark.Basis{})
	strict.raise(&off, &floodmark.Basis{Pushed: true})
	if !slices.Equal(yes.Raised, []policy.Raised{push}) || no.Raised != nil || off.Raised != nil {
		t.Errorf("a push: %v, none %v, not relaxed %v", yes.Raised, no.Raised, off.Raised)
	}
	effects := []floodmark.Effect{floodmark.Change, floodmark.Run}
	for tidies, want := range map[bool]floodmark.Effect{true: floodmark.Write, false: floodmark.Change} {
		q := policy.Question{Effects: effects}
		st.raise(&q, &floodmark.Basis{Tidies: tidies})
		if !slices.Equal(q.Effects, []floodmark.Effect{want, floodmark.Run}) || effects[0] != floodmark.Change {
			t.Errorf("tidies %v: %v of %v", tidies, q.Effects, effects)
		}
	}
}

// Why no question was asked, in words.
func TestSpared(t *testing.T) {
	decided := func(e floodmark.Effect, b *floodmark.Basis, trust floodmark.Trust) floodmark.ActionDecided {
		return floodmark.ActionDecided{
			Action: floodmark.Action{Effects: []floodmark.Effect{e}}, Basis: b,
			Mark: floodmark.Label{Trust: trust}, Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free},
		}
	}
	all := &floodmark.Basis{Bound: true, Pushed: true, Tidies: true} // bound is of an older journal
	for e, want := range map[floodmark.Effect]string{floodmark.Run: "", floodmark.Send: "push", floodmark.Change: "deletes", floodmark.Write: ""} {
		got := report.Spared(decided(e, all, floodmark.Untrusted))
		if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, ";") {
			t.Errorf("%s: %q", e, got)
		}
		none, local := report.Spared(decided(e, &floodmark.Basis{}, floodmark.Untrusted)), report.Spared(decided(e, all, floodmark.Local))
		asked, granted := decided(e, all, floodmark.Untrusted), decided(e, all, floodmark.Untrusted)
		asked.Decision.Verdict, granted.Decision.Reasons = floodmark.Confirm, []floodmark.Reason{{}}
		if none+local+report.Spared(asked)+report.Spared(granted)+report.Spared(decided(e, nil, floodmark.Untrusted)) != "" {
			t.Errorf("%s: a reason where there is none", e)
		}
	}
	if e := report.Retell(&NewState().Ledger, decided(floodmark.Send, all, floodmark.Untrusted)); !slices.ContainsFunc(e.Reasons, func(r string) bool { return strings.HasPrefix(r, "allow: you asked for a push") }) {
		t.Errorf("retold: %q", e.Reasons)
	}
}

// Every package has to be one that the owner named.
func TestFetchesPackage(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	st.s.stated.Add(`Install "left-pad"`)
	for _, c := range []struct {
		names []string
		want  bool
	}{{nil, false}, {[]string{"left-pad"}, false}, {[]string{"right-pad"}, true}, {[]string{"left-pad", "right-pad"}, true}, {[]string{"…"}, true}} {
		found := finding.List{}.With(floodmark.FetchesPackage, c.names...)
		if got := st.r.Policy.Findings().Unsettled(found, "/p", st.said); len(got) > 0 != c.want {
			t.Errorf("%q: %v", c.names, got)
		}
	}
}
