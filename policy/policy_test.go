package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

func load(t testing.TB, layers ...policy.Layer) *policy.Policy {
	t.Helper()
	p, problems := policy.Load(layers...)
	if problems.Failed() {
		t.Fatal(problems)
	}
	return p
}

func user(lines ...string) policy.Layer {
	return policy.Layer{Name: "floodmark.yaml", Data: []byte("version: 1\n" + strings.Join(lines, "\n") + "\n")}
}

func project(lines ...string) policy.Layer {
	l := user(lines...)
	l.Name, l.Project = "project.yaml", true
	return l
}

func shipped(t testing.TB, name string) *policy.Policy {
	t.Helper()
	p, err := policy.Shipped(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(tool string, e floodmark.Effect, trust floodmark.Trust) *policy.Question {
	return &policy.Question{
		Agent: "openclaw", Tool: floodmark.ToolRef{Agent: "openclaw", Name: tool}, Effects: []floodmark.Effect{e},
		Mark: floodmark.Label{Trust: trust, Secrecy: floodmark.Public}, Trust: trust, Reach: policy.Reach{URLArg: -1},
	}
}

func allTrusts() []floodmark.Trust {
	return []floodmark.Trust{floodmark.Untrusted, floodmark.External, floodmark.Shared, floodmark.Local, floodmark.Owner, floodmark.System}
}

func allEffects() []floodmark.Effect {
	return []floodmark.Effect{
		floodmark.Admin, floodmark.Run, floodmark.Send, floodmark.Change, floodmark.Write, floodmark.Fetch, floodmark.Observe,
	}
}

func profileNames() []string { return []string{"assistant", "coding", "strict", "dry-run"} }

// The table of the design, cell by cell.
func TestAssistantTable(t *testing.T) {
	p := shipped(t, "assistant")
	rows := map[floodmark.Effect]string{ // system owner local shared external untrusted
		floodmark.Observe: "allow allow allow allow allow allow",
		floodmark.Fetch:   "allow allow allow allow allow allow",
		floodmark.Write:   "allow allow allow allow allow audit",
		floodmark.Change:  "allow allow allow audit confirm confirm",
		floodmark.Send:    "allow allow audit audit confirm confirm",
		floodmark.Run:     "allow allow allow confirm confirm confirm",
		floodmark.Admin:   "allow confirm confirm confirm restrict restrict",
	}
	for e, row := range rows {
		for i, want := range strings.Fields(row) {
			trust := floodmark.System - floodmark.Trust(i)
			got := p.Decide(ask("t", e, trust))
			if got.Verdict.String() != want {
				t.Errorf("%s at %s: %s, want %s", e, trust, got.Verdict, want)
			}
			if want != "allow" && (got.Reasons[0].Code != floodmark.TaintEscalation || got.Reasons[0].Rule != fmt.Sprintf("table.%s.%s", e, trust)) {
				t.Errorf("%s at %s: reason %+v", e, trust, got.Reasons[0])
			}
		}
	}
}

// The seed's authors collapsed six levels to four because they all behaved
// identically. Here each pair of neighbours differs by a decision, with an
// auditor and without one, in every profile.
func TestEveryLevelMatters(t *testing.T) {
	differs := map[string]map[string]floodmark.Effect{
		"assistant": {"system|owner": floodmark.Admin, "owner|local": floodmark.Send, "local|shared": floodmark.Run, "shared|external": floodmark.Admin, "external|untrusted": floodmark.Write},
		"coding":    {"system|owner": floodmark.Admin, "owner|local": floodmark.Send, "local|shared": floodmark.Change, "shared|external": floodmark.Run, "external|untrusted": floodmark.Admin},
		"strict":    {"system|owner": floodmark.Admin, "owner|local": floodmark.Run, "local|shared": floodmark.Write, "shared|external": floodmark.Run, "external|untrusted": floodmark.Send},
	}
	for name, pairs := range differs {
		p := shipped(t, name)
		for _, auditor := range []bool{true, false} {
			verdict := func(e floodmark.Effect, trust floodmark.Trust) floodmark.Verdict {
				v := p.Decide(ask("t", e, trust)).Verdict
				if v == floodmark.Audit && !auditor {
					v = floodmark.Confirm
				}
				return v
			}
			for trust := floodmark.System; trust > floodmark.Untrusted; trust-- {
				// Merging a level with its neighbour makes one of them answer
				// as the other does; the named effect then answers otherwise.
				pair := trust.String() + "|" + (trust - 1).String()
				e, ok := pairs[pair]
				if !ok {
					t.Fatalf("%s: no effect named for %s", name, pair)
				}
				if verdict(e, trust) == verdict(e, trust-1) {
					t.Errorf("%s, auditor %v: %s could be one level: %s is %s at both", name, auditor, pair, e, verdict(e, trust))
				}
			}
		}
	}
}

func TestStrictIsNowhereMorePermissive(t *testing.T) {
	strict, assistant := shipped(t, "strict"), shipped(t, "assistant")
	for q := range questions() {
		if s, a := strict.Decide(q).Verdict, assistant.Decide(q).Verdict; s > a {
			t.Fatalf("%s: strict says %s, assistant %s", describe(q), s, a)
		}
	}
}

func TestNoPolicyRestricts(t *testing.T) {
	for name, p := range map[string]*policy.Policy{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			for q := range questions() {
				if got := p.Decide(q); got.Verdict != floodmark.Restrict || got.Reasons[0].Code != floodmark.Unjudged {
					t.Fatalf("%s: %+v", describe(q), got)
				}
			}
			if r := p.BeforeModel(ask("", floodmark.Observe, floodmark.System)); r.Verdict != floodmark.Restrict || !r.BlockTurn {
				t.Errorf("a model call: %+v", r)
			}
			if _, hidden := p.Hides(ask("read", floodmark.Observe, floodmark.System)); !hidden {
				t.Error("a tool is visible")
			}
			if s := p.Settings("x"); !s.Enforce || s.Relax {
				t.Errorf("settings %+v", s)
			}
			if l := p.Classify(floodmark.Origin{Kind: floodmark.FromSystem}); l != (floodmark.Label{}) {
				t.Errorf("label %v", l)
			}
			if !p.Hash().IsZero() {
				t.Error("a hash of nothing")
			}
		})
	}
}

func TestUnsoundQuestionsRestrict(t *testing.T) {
	p := shipped(t, "assistant")
	for name, q := range map[string]*policy.Question{
		"no question":     nil,
		"invalid mark":    {Mark: floodmark.Label{Trust: 9, Secrecy: floodmark.Public}, Effects: []floodmark.Effect{floodmark.Observe}},
		"invalid secrecy": {Mark: floodmark.Label{Trust: floodmark.System, Secrecy: 9}, Effects: []floodmark.Effect{floodmark.Observe}},
		"invalid trust":   {Mark: floodmark.Clean(), Trust: 9, Effects: []floodmark.Effect{floodmark.Observe}},
		"invalid effect":  {Mark: floodmark.Clean(), Trust: floodmark.System, Effects: []floodmark.Effect{floodmark.Observe, 7}},
		"zero":            {},
	} {
		if got := p.Decide(q); got.Verdict != floodmark.Restrict {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestSettings(t *testing.T) {
	if s := shipped(t, "dry-run").Settings("any"); s.Enforce || s.Profile != "dry-run" {
		t.Errorf("dry-run: %+v", s)
	}
	if s := shipped(t, "coding").Settings("any"); !s.Enforce || s.MaxIterations != 200 || s.FetchSteered != floodmark.Audit || s.FreeContent != policy.InertAllows {
		t.Errorf("coding: %+v", s)
	}
	if s := shipped(t, "strict").Settings("any"); s.FreeContent != policy.CapAudit || s.FetchSteered != floodmark.Confirm {
		t.Errorf("strict: %+v", s)
	}
	p := load(t, user("approvals: {ttl: 5m, toolWide: true, maxTries: 2}", "relax: false", "maxIterations: 20", "auditor: {on: true}", "agents: {codex: {maxIterations: 7}, pi: {maxIterations: 70}}"))
	s := p.Settings("any")
	if s.TicketTTL.String() != "5m0s" || !s.ToolWide || s.MaxTries != 2 || s.Relax || s.MaxIterations != 20 || !s.AuditorOn || s.AuditorFailMode != policy.FailBlock {
		t.Errorf("%+v", s)
	}
	if n := p.Settings("codex").MaxIterations; n != 7 {
		t.Errorf("codex may go round %d times", n)
	}
	if n := p.Settings("pi").MaxIterations; n != 20 {
		t.Errorf("an agent's section loosened the limit to %d", n)
	}
}

func TestHash(t *testing.T) {
	seen := map[floodmark.Digest]string{}
	for name, layers := range map[string][]policy.Layer{
		"none": nil, "user": {user("relax: false")}, "other user": {user("relax: true")},
		"project": {project("taintPolicy: {untrusted: restrict}")}, "same as user": {user("taintPolicy: {untrusted: restrict}")},
		"coding": {user("profile: coding")},
	} {
		h := load(t, layers...).Hash()
		if other, twice := seen[h]; twice || h.IsZero() {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
	if load(t, user("relax: false")).Hash() != load(t, policy.Layer{Name: "other name", Data: user("relax: false").Data}).Hash() {
		t.Error("the hash depends on the file's name")
	}
}
