package policy

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy/condition"
	"github.com/floodmark/floodmark/policy/policyfile"
	"github.com/floodmark/floodmark/verify"
)

// A rule is a condition and what follows from it. Rules only tighten.
type rule struct {
	ruled
	cond condition.Condition
	// tools are the tools the rule is for. If everything is set it is for all tools.
	tools      []toolName
	everything bool
	hides      bool // takes the tools out of the model's sight
	blockTurn  bool
}

// readRules reads a list of rules. A rule with several actions becomes one rule
// for each set of tools.
func readRules(r *policyfile.Reader, n *yaml.Node, where string, in policyfile.Scope, cs *condition.Set) []*rule {
	var out []*rule
	names := map[string]*yaml.Node{}
	for _, c := range policyfile.Items(n) {
		name := policyfile.Value(c, "name")
		if first := names[name.Value]; first != nil {
			r.Fault(name, "duplicate-name", fmt.Sprintf("there are two rules named %q", name.Value), fmt.Sprintf("the first one is on line %d; give each a name of its own", first.Line))
		}
		names[name.Value] = name
		for _, list := range []*yaml.Node{policyfile.Value(c, "tools"), policyfile.Value(policyfile.Value(c, "action"), "remove_tools"), policyfile.Value(policyfile.Value(c, "action"), "block_tools")} {
			r.Mention(false, policyfile.Items(list)...)
		}
		if in == policyfile.InProject {
			checkStricter(r, policyfile.Value(c, "action"))
		}
		cond, ok := condition.Compile(r, policyfile.Value(c, "when"), cs)
		if ok {
			out = append(out, readActions(r, c, where+"rules."+name.Value, cond)...)
		}
	}
	return out
}

// checkStricter refuses the one thing that a project is not allowed to ask for: that records are
// kept.
func checkStricter(r *policyfile.Reader, action *yaml.Node) {
	keys, _ := policyfile.Pairs(action)
	for _, k := range keys {
		if k.Value == "persist_graph" {
			r.Fault(k, "not-here", fmt.Sprintf("%q may not stand in a project's file", k.Value), "a project's rules may only tighten; move this rule to the user's own file")
		}
	}
}

// readActions turns one written rule into a rule for each of its actions.
func readActions(r *policyfile.Reader, n *yaml.Node, where string, cond condition.Condition) []*rule {
	action := policyfile.Value(n, "action")
	given := ""
	for _, at := range []*yaml.Node{policyfile.Value(n, "reason"), policyfile.Value(action, "reason")} {
		if at != nil {
			given = at.Value
		}
	}
	newRule := func(says answer, what string) *rule {
		text := given
		if text == "" {
			text = fmt.Sprintf("the rule %q %s", policyfile.Value(n, "name").Value, what)
		}
		return &rule{cond: cond, ruled: *newRuled(says, floodmark.RuleMatched, where, true, func(floodmark.Verdict) string { return text })}
	}
	only := toolNames(policyfile.Value(n, "tools"))
	var out []*rule
	for _, key := range []string{"remove_tools", "block_tools"} {
		if at := policyfile.Value(action, key); at != nil {
			x := newRule(plainly(floodmark.Restrict), "takes this tool away")
			x.setTools(toolsOfBoth(r, at, toolNames(at), only))
			x.hides = key == "remove_tools"
			out = append(out, x)
		}
	}
	if at := policyfile.Value(action, "verdict"); at != nil {
		x := newRule(parseAnswer(at.Value), "asks for "+at.Value)
		x.setTools(only)
		out = append(out, x)
	}
	if yes(policyfile.Value(action, "block_turn"), "true") {
		x := newRule(plainly(floodmark.Restrict), "ends this turn")
		x.setTools(only)
		x.blockTurn = true
		out = append(out, x)
	}
	if at := policyfile.Value(action, "log_full_context"); yes(at, "true") {
		r.Fault(at, "not-kept", "the whole context is written down nowhere: the journal holds where content came from, and no content of others", "take it out; the agent's own transcript has the context, and «floodmark journal graph» shows where it came from")
	}
	// persist_graph needs no rule: the journal keeps the graph of every turn.
	if len(out) == 0 && !yes(policyfile.Value(action, "persist_graph"), "true") && !yes(policyfile.Value(action, "log_full_context"), "true") {
		r.Fault(action, "empty", "the action does nothing", "write remove_tools, block_tools, verdict or block_turn: true")
	}
	return out
}

// toolsOfBoth returns the tools that are in both lists; no second list means all.
func toolsOfBoth(r *policyfile.Reader, at *yaml.Node, named, only []toolName) []toolName {
	if only == nil {
		return named
	}
	kept := slices.DeleteFunc(named, func(t toolName) bool { return !slices.Contains(only, t) })
	if len(kept) == 0 {
		r.Fault(at, "conflict", "none of these tools is among the rule's tools", "remove the key tools, or name the same tools in both")
	}
	return kept
}

func toolNames(n *yaml.Node) []toolName {
	var out []toolName
	for _, s := range policyfile.Strings(n) {
		t := parseTool(s)
		out = append(out, toolName{t.server, verify.Normal(t.name)})
	}
	return out
}

func (x *rule) setTools(tools []toolName) {
	x.tools = tools
	x.everything = tools == nil || slices.Contains(tools, toolName{name: "*"})
}

// A ruleIndex finds the rules that concern a tool. A rule can only tighten, so a bare
// name also concerns a server's tool of that name, and names are those of [verify.Normal].
type ruleIndex struct {
	all      []*rule
	byName   map[string][]*rule
	byServer map[string][]*rule // «server/*»
	byTool   map[toolName][]*rule
	model    []*rule // those that speak about model calls
}

func newRuleIndex(rules []*rule) ruleIndex {
	x := ruleIndex{byName: map[string][]*rule{}, byServer: map[string][]*rule{}, byTool: map[toolName][]*rule{}}
	for _, r := range rules {
		if r.blockTurn && r.everything && !r.cond.NeedsCall {
			x.model = append(x.model, r)
		}
		if r.everything {
			x.all = append(x.all, r)
			continue
		}
		for _, t := range r.tools {
			switch {
			case t.server == "":
				x.byName[t.name] = append(x.byName[t.name], r)
			case t.name == "*":
				x.byServer[t.server] = append(x.byServer[t.server], r)
			default:
				x.byTool[t] = append(x.byTool[t], r)
			}
		}
	}
	return x
}

// lists returns the rules for a tool, in up to four lists.
func (x *ruleIndex) lists(t floodmark.ToolRef) [4][]*rule {
	t.Name = verify.Normal(t.Name)
	found := [4][]*rule{x.all, x.byName[t.Name]}
	if t.Server != "" {
		found[2], found[3] = x.byServer[t.Server], x.byTool[toolName{t.Server, t.Name}]
	}
	return found
}
