package policy_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// said writes an answer on one line for each reason.
func said(r policy.Ruling) string {
	var b strings.Builder
	b.WriteString(r.Verdict.String())
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "\n    %s %s [%s] %s", reason.Verdict, reason.Code, reason.Rule, reason.Text)
	}
	return b.String() + "\n"
}

// The answer of a policy about every effect at every level, with its reasons.
func TestAnswers(t *testing.T) {
	type asked struct{ agent, server, tool string }
	answers := func(p *policy.Policy, calls ...asked) string {
		var b strings.Builder
		for _, c := range calls {
			for _, e := range allEffects() {
				for _, trust := range allTrusts() {
					q := ask(c.tool, e, trust)
					q.Agent, q.Tool.Server = c.agent, c.server
					fmt.Fprintf(&b, "%s %s/%s %s %s: %s", c.agent, c.server, c.tool, e, trust, said(p.Decide(q)))
				}
			}
		}
		return b.String()
	}
	for _, name := range profileNames() {
		golden(t, "testdata/answers/profile-"+name+".txt", answers(shipped(t, name), asked{"a", "", "t"}))
	}
	for _, path := range files(t, "testdata/answers/*.yaml") {
		p, problems := policy.Load(layerOf(t, path))
		got := problems.Error() + "\n" + answers(p, asked{"a", "", "t"}, asked{"a", "", "exec"}, asked{"a", "git", "log"}, asked{"a", "git", "x"})
		if filepath.Base(path) == "lifted.yaml" {
			got += answers(p, asked{"strictone", "", "t"}, asked{"strictone", "", "exec"}, asked{"strictone", "git", "log"})
		}
		golden(t, strings.TrimSuffix(path, ".yaml")+".txt", got)
	}
}

// The reason of each flow rule, and the reasons of cells that an argument decides.
func TestAnswersToFlows(t *testing.T) {
	var b strings.Builder
	for _, name := range []string{"assistant", "coding"} {
		p := shipped(t, name)
		for _, c := range flowCases() {
			r := p.Decide(c.question())
			fmt.Fprintf(&b, "%s, %s: %v %s", name, c.name, r.Flow, said(r))
		}
	}
	for _, e := range allEffects() {
		for _, trust := range allTrusts() {
			q := ask("t", e, floodmark.System)
			q.Trust = trust
			fmt.Fprintf(&b, "value, %s %s: %s", e, trust, said(shipped(t, "assistant").Decide(q)))
		}
	}
	golden(t, "testdata/answers/flows.txt", b.String())
}

// Who speaks, and how much of it others may see.
func TestWhoSpeaksInSecret(t *testing.T) {
	p := load(t, user(`groups: {"slack:eng": shared}`, `workspace: [/home/me/**]`))
	for _, c := range []struct {
		name string
		o    floodmark.Origin
		want floodmark.Label
	}{
		{"system", floodmark.Origin{Kind: floodmark.FromSystem}, floodmark.Clean()},
		{"owner", floodmark.Origin{Kind: floodmark.FromSender, IsOwner: true}, mark(floodmark.Owner, floodmark.Internal)},
		{"group", floodmark.Origin{Kind: floodmark.FromHistory, Name: "slack", Group: "eng"}, mark(floodmark.Shared, floodmark.Internal)},
		{"history without a group", floodmark.Origin{Kind: floodmark.FromHistory, Name: "slack"}, mark(floodmark.External, floodmark.Private)},
		{"quote", floodmark.Origin{Kind: floodmark.FromQuote, Sender: "x"}, mark(floodmark.External, floodmark.Private)},
		{"quote of nobody", floodmark.Origin{Kind: floodmark.FromQuote}, mark(floodmark.Untrusted, floodmark.Private)},
		{"paste", floodmark.Origin{Kind: floodmark.FromPaste}, mark(floodmark.External, floodmark.Private)},
		{"model", floodmark.Origin{Kind: floodmark.FromModel}, mark(floodmark.External, floodmark.Private)},
		{"parent", floodmark.Origin{Kind: floodmark.FromParent}, mark(floodmark.External, floodmark.Private)},
		{"child", floodmark.Origin{Kind: floodmark.FromChild}, mark(floodmark.External, floodmark.Private)},
		{"file", floodmark.Origin{Kind: floodmark.FromFile, Place: "/home/me/x"}, mark(floodmark.Local, floodmark.Internal)},
		{"file without a place", floodmark.Origin{Kind: floodmark.FromFile}, mark(floodmark.External, floodmark.Internal)},
		{"the root is no file", floodmark.Origin{Kind: floodmark.FromFile, Place: "/"}, mark(floodmark.External, floodmark.Internal)},
		{"definition", floodmark.Origin{Kind: floodmark.FromDefinition}, mark(floodmark.External, floodmark.Public)},
		{"unknown", floodmark.Origin{Kind: floodmark.FromUnknown}, mark(floodmark.Untrusted, floodmark.Private)},
		{"tool", floodmark.Origin{Kind: floodmark.FromTool}, floodmark.Label{}},
		{"oracle", floodmark.Origin{Kind: "oracle"}, mark(floodmark.Untrusted, floodmark.Private)},
	} {
		if got := p.Classify(c.o); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A tool has the names in a policy that it has in the settings of the program.
func TestVerifiersOfAToolByAnotherName(t *testing.T) {
	p := load(t, user("verifiers: [{name: v, include: [Bash]}, {name: w, exclude: [exec]}]"))
	for tool, want := range map[string]string{"exec": "v", "bash": "v", "Exec": "v", "read": "w"} {
		if got := strings.Join(p.Decide(ask(tool, floodmark.Observe, floodmark.Owner)).Verifiers, " "); got != want {
			t.Errorf("%s is verified by %q, want %q", tool, got, want)
		}
	}
}

// Rules know the same names for a tool as scopes do, and whose server it is as written.
func TestRulesOfAToolByAnotherName(t *testing.T) {
	p := load(t, user("rules: [{name: r, when: {iteration_gte: 0}, tools: [exec, bash, Apply-Patch, git/Push], action: {verdict: restrict}}]"))
	for _, c := range []struct {
		server, tool string
		want         floodmark.Verdict
	}{
		{"", "exec", floodmark.Restrict},
		{"", "Bash", floodmark.Restrict},
		{"", "apply_patch", floodmark.Restrict},
		{"shop", "BASH", floodmark.Restrict},
		{"git", "push", floodmark.Restrict},
		{"Git", "push", floodmark.Allow},
		{"", "push", floodmark.Allow},
		{"", "read", floodmark.Allow},
	} {
		q := ask(c.tool, floodmark.Observe, floodmark.Owner)
		q.Tool.Server = c.server
		out := p.Decide(q)
		if out.Verdict != c.want || c.want == floodmark.Restrict && len(out.Reasons) != 1 {
			t.Errorf("%s/%s: %+v", c.server, c.tool, out)
		}
	}
}

// The same verifier named twice fails as the stricter one does.
func TestVerifiersAreJoined(t *testing.T) {
	p := load(t, user(
		"verifiers: [{name: phone, failMode: allow}, {name: hook, failMode: allow, timeout: 5s, exclude: [read, git/*]}]",
		"agents: {a: {verifiers: [{name: phone, failMode: deny, timeout: 7s}, {name: hook, failMode: allow, timeout: 9s, include: [read]}, {name: own, include: [git/log]}]}}",
	))
	for agent, want := range map[string]string{"": "phone allow 0s, hook allow 5s", "a": "phone block 7s, hook allow 5s, own block 0s"} {
		var got []string
		for _, v := range p.Verifiers(agent) {
			got = append(got, fmt.Sprint(v.Name, " ", v.FailMode, " ", v.Timeout))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %v, want %s", agent, got, want)
		}
	}
	for _, c := range []struct{ agent, server, tool, want string }{
		{"", "", "exec", "phone hook"},
		{"", "", "read", "phone"},
		{"", "mcp", "read", "phone hook"},
		{"", "git", "log", "phone"},
		{"a", "", "read", "phone hook"},
		{"a", "mcp", "read", "phone hook"},
		{"a", "git", "log", "phone own"},
		{"a", "", "log", "phone hook"},
		{"", "", "READ", "phone"}, // names are those of the program's settings: whatever their letters
		{"a", "", "Read", "phone hook"},
		{"a", "git", "Log", "phone own"},
	} {
		q := ask(c.tool, floodmark.Observe, floodmark.Owner)
		q.Agent, q.Tool.Server = c.agent, c.server
		if got := strings.Join(p.Decide(q).Verifiers, " "); got != c.want {
			t.Errorf("%s: %s/%s is verified by %q, want %q", c.agent, c.server, c.tool, got, c.want)
		}
	}
	if (*policy.Policy)(nil).Verifiers("") != nil || (*policy.Policy)(nil).Tools() != nil || (*policy.Policy)(nil).Caution(floodmark.ToolRef{Name: "x"}) || (*policy.Policy)(nil).ListsHost("x") {
		t.Error("no policy says something")
	}
	if s := fmt.Sprint(policy.FailBlock, policy.FailWarn, policy.FailAllow); s != "block warn allow" {
		t.Error(s)
	}
	tools := load(t, user("tools: [{agent: a, tool: b, effect: run, returns: {trust: local, secrecy: internal}}]"))
	if got := tools.Tools(); len(got) != 1 || !slices.Equal(got, tools.Tools()) {
		t.Error(got)
	}
}

// The rules that are asked at a model call: rules for every tool that end turns or
// keep records, and do not mention the tool call.
func TestBeforeModelRules(t *testing.T) {
	p := load(t, user(`
maxIterations: 3
rules:
  - {name: ends, when: 'turn == 2', action: {block_turn: true, reason: enough}, reason: never shown}
  - {name: keeps, when: 'turn == 3', action: {persist_graph: true}}
  - {name: some, when: 'turn == 5', action: {block_turn: true}, tools: [exec]}
  - {name: every, when: 'turn == 6', action: {block_turn: true}, tools: ["*"]}
  - {name: call, when: 'turn == 7 && call.tool != "x"', action: {block_turn: true}}
  - {name: verdict, when: 'turn == 8', action: {verdict: restrict}}
`))
	for _, c := range []struct {
		turn, round int
		want        string
	}{
		{1, 2, "allow\n false"},
		{2, 0, "restrict\n    restrict rule [rules.ends] enough\n true"},
		{3, 0, "allow\n false"},
		{5, 0, "allow\n false"},
		{6, 0, "restrict\n    restrict rule [rules.every] the rule \"every\" ends this turn\n true"},
		{7, 0, "allow\n false"},
		{8, 0, "allow\n false"},
		{1, 3, "restrict\n    restrict max-iterations [maxIterations] the agent has gone round 3 times in this turn, which is all the policy gives it\n true"},
	} {
		q := ask("", floodmark.Observe, floodmark.Owner)
		q.Turn, q.Iteration = c.turn, c.round
		r := p.BeforeModel(q)
		if got := said(r) + fmt.Sprint(" ", r.BlockTurn); got != c.want {
			t.Errorf("turn %d, round %d: %s\nwant %s", c.turn, c.round, got, c.want)
		}
	}
	bad := ask("t", floodmark.Observe, floodmark.Owner)
	bad.Mark.Trust = 9
	const unknown = "restrict\n    restrict unjudged [] what the conversation holds is not known\n"
	if r := p.BeforeModel(bad); !r.BlockTurn || said(r) != unknown {
		t.Errorf("%+v", r)
	}
	if r, hidden := p.Hides(bad); !hidden || r.Code != floodmark.Unjudged || r.Text != "what the conversation holds is not known" {
		t.Errorf("%+v", r)
	}
	if r := p.Decide(bad); said(r) != unknown {
		t.Errorf("%+v", r)
	}
	if got := said(p.Decide(nil)); got != "restrict\n    restrict unjudged [] nothing was asked\n" {
		t.Error(got)
	}
	if got := said((*policy.Policy)(nil).Decide(bad)); got != "restrict\n    restrict unjudged [] no policy is loaded\n" {
		t.Error(got)
	}
	bad.Mark.Trust, bad.Effects = floodmark.Owner, []floodmark.Effect{7}
	if got := said(p.Decide(bad)); got != "restrict\n    restrict unjudged [] what the call does is not known\n" {
		t.Error(got)
	}
}
