package policy

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy/condition"
	"github.com/floodmark/floodmark/policy/policyfile"
)

// Each limit allows its number and refuses one more.
func TestLimits(t *testing.T) {
	list := func(n int) string {
		return "workspace: [" + strings.TrimSuffix(strings.Repeat("/a/b, ", n), ", ") + "]\n"
	}
	rule := func(when string) string {
		return "rules: [{name: a, when: '" + when + "', action: {verdict: audit}}]\n"
	}
	pad := func(n int) string { return "#" + strings.Repeat("x", n-len("version: 1\n#\n")) + "\n" }
	for _, c := range []struct{ name, within, beyond, says string }{
		{"bytes", pad(policyfile.MaxBytes), pad(policyfile.MaxBytes + 1), "the file has"},
		{"items", list(policyfile.MaxItems), list(policyfile.MaxItems + 1), "too long"},
		{"text", "rules: [{name: " + strings.Repeat("a", policyfile.MaxText) + ", when: 'true', action: {verdict: audit}}]\n", "rules: [{name: " + strings.Repeat("a", policyfile.MaxText+1) + ", when: 'true', action: {verdict: audit}}]\n", "too long"},
		{"condition", rule("true" + strings.Repeat(" ", policyfile.MaxCondition-5) + " "), rule("true" + strings.Repeat(" ", policyfile.MaxCondition-3)), "too long"},
		{"rounds", "maxIterations: 10000\n", "maxIterations: 10001\n", "whole number"},
		{"ttl", "approvals: {ttl: 10s}\n", "approvals: {ttl: 9s}\n", "from 10s to 24h"},
	} {
		if p, problems := Load(Layer{Name: "f", Data: []byte("version: 1\n" + c.within)}); p == nil {
			t.Errorf("%s: refused at the limit: %.200s", c.name, problems.Error())
		}
		if p, problems := Load(Layer{Name: "f", Data: []byte("version: 1\n" + c.beyond)}); p != nil || !strings.Contains(problems.Error(), c.says) {
			t.Errorf("%s: beyond the limit: %.200s", c.name, problems.Error())
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\n")
	for i := range policyfile.MaxErrors + 1 {
		fmt.Fprintf(&b, "wrong%d: 1\n", i)
	}
	if _, problems := Load(Layer{Name: "f", Data: []byte(b.String())}); len(problems) != policyfile.MaxErrors {
		t.Errorf("%d problems", len(problems))
	}
}

// Deep nesting costs little and is told with its place.
func TestHostileNesting(t *testing.T) {
	for _, text := range []string{
		"version: 1\nworkspace: " + strings.Repeat("[", 100_000),
		"version: 1\nworkspace: " + strings.Repeat("{a: ", 100_000),
		"version: 1\n" + strings.Repeat("- ", 50_000),
		"version: 1\nrules: [{name: a, when: '" + strings.Repeat("(", 2000) + "', action: {verdict: audit}}]\n",
		"version: 1\nrules: [{name: a, when: '" + "call.args" + strings.Repeat(".x", 1500) + "', action: {verdict: audit}}]\n",
	} {
		if p, problems := Load(Layer{Name: "f", Data: []byte(text)}); p != nil || !problems.Failed() {
			t.Errorf("%.40s was accepted", text)
		}
	}
}

// Patterns that are too large together are refused before they are compiled: a
// policy may come from an author who means harm to others on the same node.
func TestPatternsAreBoundedTogether(t *testing.T) {
	rules := func(n, each int, also string) string {
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")
		for i := range n {
			when := strings.Repeat(`call.tool.matches("(a{10}){95}") || `, each) + also
			fmt.Fprintf(&b, "  - {name: r%d, when: '%s', action: {verdict: restrict}}\n", i, when)
		}
		return b.String()
	}
	if p, problems := Load(Layer{Name: "p", Data: []byte(rules(40, 1, "false"))}); p == nil {
		t.Errorf("forty large patterns: %v", problems)
	}
	for what, text := range map[string]string{"good": rules(900, 14, "false"), "bad": rules(900, 14, `call.tool.matches("(")`)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, problems := Load(Layer{Name: "p", Data: []byte(text)})
		if p != nil || !strings.Contains(problems.Error(), "too large together") {
			t.Errorf("%s: %d bytes of patterns were taken", what, len(text))
		}
		// Forty that are compiled take 25 MB, all of them a GB.
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
			t.Errorf("%s: it took %d bytes to refuse them", what, took)
		}
	}
}

// Conditions that are too long together are refused before they are compiled, at the
// first one that is too many.
func TestConditionsAreBoundedTogether(t *testing.T) {
	rules := func(conditions ...string) string {
		var b strings.Builder
		b.WriteString("version: 1\nrules:\n")
		for i, when := range conditions {
			fmt.Fprintf(&b, "  - {name: r%d, when: '%s', action: {verdict: restrict}}\n", i, when)
		}
		return b.String()
	}
	var full []string
	for range condition.MaxConditions / policyfile.MaxCondition {
		full = append(full, strings.Repeat(" ", policyfile.MaxCondition-len("true"))+"true")
	}
	if p, problems := Load(Layer{Name: "p", Data: []byte(rules(full...))}); p == nil {
		t.Errorf("at the limit: %v", problems)
	}
	within := Layer{Name: "p", Data: []byte(rules(full...))}
	for what, layers := range map[string][]Layer{
		"one beyond":          {{Name: "p", Data: []byte(rules(append(full, "true")...))}},
		"many beyond":         {{Name: "p", Data: []byte(rules(append(full, "true", "true", "what is this", "true")...))}},
		"in a second layer":   {within, {Name: "q", Project: true, Data: []byte(rules("true"))}},
		"in an agent's part":  {{Name: "p", Data: []byte(rules(full...) + "agents: {codex: {rules: [{name: a, when: 'true', action: {verdict: restrict}}]}}\n")}},
		"with nothing in CEL": {{Name: "p", Data: []byte(rules(full...) + "agents: {codex: {rules: [{name: a, when: {iteration_gte: 3}, action: {verdict: restrict}}]}}\n")}},
	} {
		p, problems := Load(layers...)
		if what == "with nothing in CEL" {
			if p == nil {
				t.Errorf("%s: %v", what, problems)
			}
			continue
		}
		if p != nil || len(problems) != 1 || !strings.Contains(problems[0].Text, "conditions of this policy have more than 65536 bytes together") || problems[0].Line < 3 || problems[0].Hint == "" {
			t.Errorf("%s: %v", what, problems)
		}
	}
}

// The short form: the round and the levels must both fit.
func TestShortForm(t *testing.T) {
	p, problems := Load(Layer{Name: "f", Data: []byte("version: 1\nrules: [{name: a, when: {iteration_gte: 2, context_taint_includes: [external, shared]}, action: {verdict: restrict}}]\n")})
	if p == nil {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		round int
		trust floodmark.Trust
		want  floodmark.Verdict
	}{
		{1, floodmark.External, floodmark.Allow}, {2, floodmark.External, floodmark.Restrict}, {3, floodmark.Shared, floodmark.Restrict}, {2, floodmark.Local, floodmark.Allow}, {2, floodmark.Untrusted, floodmark.Allow},
	} {
		q := &Question{Iteration: c.round, Mark: floodmark.Label{Trust: c.trust, Secrecy: floodmark.Public}, Trust: c.trust, Effects: []floodmark.Effect{floodmark.Observe}, Reach: Reach{URLArg: -1}}
		if got := p.Decide(q).Verdict; got != c.want {
			t.Errorf("round %d at %s: %s", c.round, c.trust, got)
		}
	}
}
