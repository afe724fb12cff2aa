package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// fifty is a policy with fifty rules, ten of which concern exec.
func fifty(t testing.TB) *policy.Policy {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 50 {
		tool, when := fmt.Sprint("tool", i), `mark.trust <= external && call.args["command"].startsWith("curl") && iteration >= 2`
		switch {
		case i < 5:
			tool, when = "exec", fmt.Sprintf(`mark.trust <= external && call.args["command"].contains("curl%d") && arg["command"].trust < owner`, i)
		case i < 10:
			tool, when = "exec", fmt.Sprintf(`call.agent == "openclaw" && mark.secrecy <= private && call.args["command"].startsWith("rm%d")`, i)
		}
		fmt.Fprintf(&b, "  - {name: r%d, tools: [%s], when: '%s', action: {verdict: confirm}}\n", i, tool, when)
	}
	return load(t, user(b.String()))
}

func BenchmarkDecide(b *testing.B) {
	q := ask("exec", floodmark.Run, floodmark.External)
	q.Leaves = []hook.Leaf{{Path: "command", Top: "command", Value: "go test ./..."}, {Path: "timeout", Top: "timeout", Value: "30", Kind: hook.Number}}
	q.Args = []floodmark.Argument{{Path: "command", Role: floodmark.Critical}, {Path: "timeout", Role: floodmark.Critical}}
	q.Reach.Network = true
	for name, p := range map[string]*policy.Policy{"plain": shipped(b, "assistant"), "fifty rules": fifty(b)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p.Decide(q).Verdict != floodmark.Confirm {
					b.Fatal("not asked")
				}
			}
		})
	}
}

// kinds are rules over sources, by how they are answered.
func kinds() map[string]string {
	return map[string]string{
		"of each alone":   `sources.exists(s, s.place == "https://evil%d.example")`,
		"of all of them":  `sources.exists(s, s.trust == system) || !sources.all(s, s.place != "https://evil%d.example")`,
		"beside the call": `sources.exists(s, s.place == call.args["command"] || s.place == "https://evil%d.example")`,

		"in the call":    `sources.exists(s, call.args["command"].contains(s.place) && s.kind != "evil%d")`,
		"how many":       `sources.exists_one(s, s.place == "https://evil%d.example") || sources.filter(s, s.place == call.args["command"]).size() > 3`,
		"by the library": `sources.exists(s, s.place.size() == 100%d || s.kind + agent == call.tool)`,
	}
}

// BenchmarkSources is one call, ten rules that ask about the sources, and 10,000 of those.
func BenchmarkSources(b *testing.B) {
	q := ask("exec", floodmark.Run, floodmark.External)
	q.Leaves = []hook.Leaf{{Path: "command", Top: "command", Value: "go test ./..."}}
	q.Sources = policy.Sources{Ledger: &provenance.Ledger{}, Counts: &policy.Counts{}}
	for n := range floodmark.NodeID(10_000) {
		if err := q.Sources.Ledger.Add(floodmark.Source{Node: n, Label: q.Mark, Origin: floodmark.Origin{Place: fmt.Sprint("https://p", n, ".example")}}); err != nil {
			b.Fatal(err)
		}
	}
	for name, when := range kinds() {

		var rules strings.Builder
		rules.WriteString("rules:\n")
		for i := range 10 {
			fmt.Fprintf(&rules, "  - {name: r%d, tools: [exec], when: '%s', action: {verdict: restrict}}\n", i, fmt.Sprintf(when, i))
		}
		p := load(b, user(rules.String()))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := p.Decide(q); got.Verdict != floodmark.Confirm {
					b.Fatal(got)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	data := user("profile: coding", "taintPolicy: {untrusted: restrict}", `rules: [{name: r, when: 'mark.trust <= external', action: {verdict: confirm}}]`)
	for b.Loop() {
		load(b, data)
	}
}

// Deciding is on the path of every tool call.
func TestDecideAllocatesLittle(t *testing.T) {
	p := fifty(t)
	q := ask("exec", floodmark.Run, floodmark.External)
	q.Leaves = []hook.Leaf{{Path: "command", Top: "command", Value: "go test ./..."}}
	q.Args = []floodmark.Argument{{Path: "command", Role: floodmark.Critical}}
	if n := testing.AllocsPerRun(100, func() { p.Decide(q) }); n > 3 {
		t.Errorf("%v allocations, at most 3", n)
	}
}
