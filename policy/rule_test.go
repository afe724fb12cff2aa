package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// The RFC's own example, word for word.
const rfc = `
rules:
  - name: no-exec-when-tainted
    when:
      context_taint_includes: [external, untrusted]
    action:
      remove_tools: [exec]
  - name: no-send-when-untrusted
    when:
      context_taint_includes: [untrusted]
    action:
      block_tools: [message]
  - name: max-recursion
    when:
      iteration_gte: 5
    action:
      block_turn: true
      reason: "Max recursion depth exceeded"
  - name: audit-external
    when:
      context_taint_includes: [external]
    action:
      persist_graph: true
`

func TestRFCRules(t *testing.T) {
	p := load(t, user(rfc))
	q := ask("exec", floodmark.Observe, floodmark.External)
	got := p.Decide(q)
	if got.Verdict != floodmark.Restrict || got.Reasons[0].Rule != "rules.no-exec-when-tainted" || got.Reasons[0].Code != floodmark.RuleMatched {
		t.Errorf("exec at external: %+v", got)
	}
	if got.BlockTurn {
		t.Errorf("records: %+v", got)
	}
	if r, hidden := p.Hides(q); !hidden || r.Rule != "rules.no-exec-when-tainted" {
		t.Errorf("exec is visible: %+v", r)
	}
	if v := p.Decide(ask("exec", floodmark.Observe, floodmark.Local)).Verdict; v != floodmark.Allow {
		t.Errorf("exec at local: %s", v)
	}
	q = ask("message", floodmark.Observe, floodmark.Untrusted)
	if got := p.Decide(q); got.Verdict != floodmark.Restrict {
		t.Errorf("message at untrusted: %+v", got)
	}
	if _, hidden := p.Hides(q); hidden {
		t.Error("block_tools hides; only remove_tools should")
	}
	// A level matters if it is anywhere in the context, not only as the mark.
	mails := load(t, user("rules:", "  - {name: mail, when: {context_taint_includes: [external]}, action: {block_tools: [exec]}}"))
	q = ask("exec", floodmark.Observe, floodmark.Untrusted)
	if got := mails.Decide(q); got.Verdict != floodmark.Allow {
		t.Errorf("a rule on external content holds with a page alone: %+v", got)
	}
	q.Levels = provenance.LevelsOf(floodmark.Untrusted, floodmark.External)
	if got := mails.Decide(q); got.Verdict != floodmark.Restrict {
		t.Error("external content was not seen beside untrusted")
	}
	q = ask("read", floodmark.Observe, floodmark.Owner)
	q.Iteration = 5
	if got := p.Decide(q); got.Verdict != floodmark.Restrict || !got.BlockTurn || got.Reasons[0].Text != "Max recursion depth exceeded" {
		t.Errorf("a call in the fifth round: %+v", got)
	}
	if got := p.BeforeModel(q); got.Verdict != floodmark.Restrict || !got.BlockTurn {
		t.Errorf("a model call in the fifth round: %+v", got)
	}
	q.Iteration = 4
	if got := p.BeforeModel(q); got.Verdict != floodmark.Allow || got.BlockTurn {
		t.Errorf("a model call in the fourth round: %+v", got)
	}
}

func TestMaxIterations(t *testing.T) {
	for name, most := range map[string]int{"assistant": 25, "coding": 200, "strict": 25} {
		p := shipped(t, name)
		q := ask("", floodmark.Observe, floodmark.Owner)
		q.Iteration = most - 1
		if got := p.BeforeModel(q); got.Verdict != floodmark.Allow {
			t.Errorf("%s, round %d: %+v", name, q.Iteration, got)
		}
		q.Iteration++
		if got := p.BeforeModel(q); got.Verdict != floodmark.Restrict || !got.BlockTurn || got.Reasons[0].Code != floodmark.Iterations {
			t.Errorf("%s, round %d: %+v", name, q.Iteration, got)
		}
	}
}

func TestRuleTools(t *testing.T) {
	p := load(t, user(`
rules:
  - {name: bare, when: 'true', action: {block_tools: [deploy]}}
  - {name: full, when: 'true', action: {block_tools: [github/push]}}
  - {name: server, when: 'true', action: {verdict: confirm}, tools: ["jira/*"]}
  - {name: some, when: 'true', action: {block_tools: [a, b]}, tools: [b, c]}
`))
	for _, c := range []struct{ server, tool, want string }{
		{"", "deploy", "restrict"},
		{"any", "deploy", "restrict"}, // rules only tighten, so a bare name is enough
		{"github", "push", "restrict"},
		{"", "push", "allow"},
		{"gitlab", "push", "allow"},
		{"jira", "anything", "confirm"},
		{"", "jira", "allow"},
		{"", "a", "allow"},
		{"", "b", "restrict"},
		{"", "c", "allow"},
	} {
		q := ask(c.tool, floodmark.Observe, floodmark.Owner)
		q.Tool.Server = c.server
		if got := p.Decide(q).Verdict.String(); got != c.want {
			t.Errorf("%s/%s: %s, want %s", c.server, c.tool, got, c.want)
		}
	}
}

// A condition with an error is taken for true.
func TestConditionErrorsTighten(t *testing.T) {
	p := load(t, user(`
rules:
  - {name: compiled, tools: [a], when: 'call.args["missing"].startsWith("x")', action: {verdict: confirm}}
  - {name: library, tools: [b], when: 'call.args["missing"] > 3', action: {verdict: confirm}}
  - {name: other-type, tools: [c], when: 'call.args["n"].startsWith("x")', action: {verdict: confirm}}
`))
	for _, tool := range []string{"a", "b", "c"} {
		q := ask(tool, floodmark.Observe, floodmark.Owner)
		q.Leaves = []hook.Leaf{{Path: "n", Value: "1", Kind: hook.Number}}
		if got := p.Decide(q); got.Verdict != floodmark.Confirm {
			t.Errorf("%s: %+v", tool, got)
		}
	}
}

func TestHides(t *testing.T) {
	p := load(t, user(`
toolOverrides: {gone: {"*": restrict}, half: {untrusted: restrict}}
rules:
  - {name: by-args, when: 'call.args["x"] == "y"', action: {remove_tools: [byargs]}}
  - {name: by-agent, when: 'call.agent == "openclaw" && mark.trust < owner', action: {remove_tools: [byagent]}}
`))
	for _, c := range []struct {
		tool    string
		effects []floodmark.Effect
		trust   floodmark.Trust
		want    bool
	}{
		{"t", []floodmark.Effect{floodmark.Admin}, floodmark.Untrusted, true},
		{"t", []floodmark.Effect{floodmark.Admin}, floodmark.Shared, false},
		{"t", []floodmark.Effect{floodmark.Admin, floodmark.Observe}, floodmark.Untrusted, false}, // some arguments would do
		{"t", nil, floodmark.Untrusted, true},
		{"t", []floodmark.Effect{floodmark.Send}, floodmark.Untrusted, false},
		{"gone", []floodmark.Effect{floodmark.Observe}, floodmark.System, true},
		{"half", []floodmark.Effect{floodmark.Send}, floodmark.Untrusted, false}, // the owner might state all of it
		{"half", []floodmark.Effect{floodmark.Run}, floodmark.Untrusted, true},
		{"byargs", []floodmark.Effect{floodmark.Observe}, floodmark.Untrusted, false},
		{"byagent", []floodmark.Effect{floodmark.Observe}, floodmark.Local, true},
		{"byagent", []floodmark.Effect{floodmark.Observe}, floodmark.Owner, false},
	} {
		q := ask(c.tool, 0, c.trust)
		q.Effects = c.effects
		r, got := p.Hides(q)
		if got != c.want || got && (r.Verdict != floodmark.Restrict || r.Text == "") {
			t.Errorf("%s %v at %s: hidden %v (%+v), want %v", c.tool, c.effects, c.trust, got, r, c.want)
		}
	}
}

func TestOverrides(t *testing.T) {
	p := load(t, user(`
toolOverrides:
  exec: {"*": allow, untrusted: confirm}
  github/push: {external: allow, untrusted: allow}
  jira/*: {"*": restrict}
  jira/read: {"*": allow}
`))
	for _, c := range []struct {
		server, tool string
		trust        floodmark.Trust
		want, rule   string
	}{
		{"", "exec", floodmark.External, "allow", ""},
		{"", "exec", floodmark.Untrusted, "confirm", "toolOverrides.exec.untrusted"},
		{"mcp", "exec", floodmark.External, "confirm", "table.run.external"},                    // a name alone is no tool
		{"github", "push", floodmark.External, "confirm", "toolOverrides.github/push.external"}, // shared asks already
		{"jira", "anything", floodmark.System, "restrict", "toolOverrides.jira/*.system"},
		{"jira", "read", floodmark.Untrusted, "allow", ""},
	} {
		q := ask(c.tool, floodmark.Run, c.trust)
		q.Tool.Server = c.server
		got := p.Decide(q)
		if got.Verdict.String() != c.want || c.rule != "" && got.Reasons[0].Rule != c.rule {
			t.Errorf("%s/%s at %s: %+v, want %s by %s", c.server, c.tool, c.trust, got, c.want, c.rule)
		}
	}
	q := ask("exec", floodmark.Run, floodmark.System)
	q.SelfProtected = true
	if got := p.Decide(q); got.Verdict != floodmark.Confirm || got.Reasons[0].Code != floodmark.SelfProtection {
		t.Errorf("an override went below the floor: %+v", got)
	}
}

func TestCorrectionsAreTold(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"taintPolicy: {shared: confirm, external: allow}", "floodmark.yaml:2:42: warning: external content would get more (allow) than more believed content has (confirm)"},
		{"table: {write: {local: restrict, shared: allow}}", "floodmark.yaml:2:42: warning: shared"},
		{"table: {send: {external: allow}}", "floodmark.yaml:2:26: warning: external content would get more (allow) than more believed content has (audit)"},
		{"toolOverrides: {exec: {owner: confirm, local: allow}}", "floodmark.yaml:2:47: warning: local"},
		{"caution: {read: false}", "changes nothing"},
		{"taintPolicy: {untrusted: allow}", "floodmark.yaml:2:26: warning: allow for untrusted content also holds for all content that is believed more, where nothing is said of it"},
	} {
		p, problems := policy.Load(user(c.line))
		if p == nil || problems.Failed() || !strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.line, problems, c.want)
		}
	}
	if _, problems := policy.Load(user("taintPolicy: {external: restrict}")); len(problems) > 0 {
		t.Errorf("what nobody wrote needs no warning: %v", problems)
	}
}

// A taintPolicy is not named as the reason if the table says the same of admin.
func TestReasonOfTheTable(t *testing.T) {
	for _, c := range []struct {
		line string
		want string
	}{
		{"taintPolicy: {untrusted: restrict}", "table.admin.untrusted"},
		{"taintPolicy: {untrusted: allow}", "table.admin.untrusted"},
		{"taintPolicy: {shared: restrict}", "table.admin.untrusted"},
	} {
		if got := load(t, user(c.line)).Decide(ask("t", floodmark.Admin, floodmark.Untrusted)); got.Reasons[0].Rule != c.want {
			t.Errorf("%s: %+v", c.line, got.Reasons)
		}
	}
	if got := load(t, user("taintPolicy: {shared: restrict}")).Decide(ask("t", floodmark.Admin, floodmark.Shared)); got.Reasons[0].Rule != "taintPolicy.shared" {
		t.Errorf("%+v", got.Reasons)
	}
}

// A verifier is for some tools, or for all but some.
func TestVerifierForAndNotFor(t *testing.T) {
	_, problems := policy.Load(user("verifiers: [{name: v, include: [a], exclude: [b]}]"))
	if !problems.Failed() || !strings.Contains(problems.Error(), "include and exclude are both given") {
		t.Errorf("%v", problems)
	}
}

func TestReasonsDecidingFirst(t *testing.T) {
	p := load(t, user("rules: [{name: a, when: 'true', action: {verdict: audit}}, {name: b, when: 'true', action: {verdict: restrict}}]"))
	got := p.Decide(ask("t", floodmark.Run, floodmark.External))
	if !slices.IsSortedFunc(got.Reasons, func(a, b floodmark.Reason) int { return int(a.Verdict) - int(b.Verdict) }) || len(got.Reasons) != 3 {
		t.Errorf("%+v", got.Reasons)
	}
	// More reasons than there is room for: the strictest is never lost.
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 60 {
		fmt.Fprintf(&b, "  - {name: r%d, when: 'true', action: {verdict: audit}}\n", i)
	}
	b.WriteString("  - {name: last, when: 'true', action: {verdict: restrict}}\n")
	if got := load(t, user(b.String())).Decide(ask("t", floodmark.Observe, floodmark.Owner)); got.Verdict != floodmark.Restrict || got.Reasons[0].Rule != "rules.last" {
		t.Errorf("%+v", got)
	}
}

// A value from outside is told apart from a context with outside text.
func TestTightenedText(t *testing.T) {
	q := ask("t", floodmark.Send, floodmark.Local)
	q.Trust = floodmark.External
	got := shipped(t, "assistant").Decide(q)
	if got.Verdict != floodmark.Confirm || !strings.Contains(got.Reasons[0].Text, "a value that decides") {
		t.Errorf("%+v", got)
	}
}
