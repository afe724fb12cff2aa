package policy_test

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
)

// A rule that looks at a value that was not recorded answers as Assume says. Every
// other rule is evaluated.
func TestUnkeptValuesAreAssumed(t *testing.T) {
	p, problems := policy.Load(policy.Layer{Name: "user", Data: []byte(`
version: 1
rules:
  - {name: body, when: 'has(call.args.body) && call.args.body == "x"', action: {verdict: restrict}}
  - {name: key, when: 'call.args["body"] == "x"', action: {verdict: restrict}}
  - {name: all, when: 'call.args.exists(k, call.args[k] == "x")', action: {verdict: restrict}}
  - {name: size, when: 'size(call.args) > 9', action: {verdict: restrict}}
  - {name: to, when: 'call.args.to == "x"', action: {verdict: restrict}}
  - {name: whence, when: 'arg["body"].stated', action: {verdict: restrict}}
  - {name: short, when: {iteration_gte: 9}, action: {verdict: restrict}}
`)})
	if problems.Failed() {
		t.Fatal(problems)
	}
	for _, yes := range []bool{false, true} {
		var asked []string
		q := &policy.Question{
			Tool: floodmark.ToolRef{Agent: "a", Name: "t"}, Effects: []floodmark.Effect{floodmark.Observe},
			Mark: floodmark.Clean(), Trust: floodmark.System,
			Args:   []floodmark.Argument{{Path: "to"}, {Path: "body"}},
			Leaves: []hook.Leaf{{Path: "to", Top: "to", Value: "y"}, {Path: "body", Top: "body"}},
			Unkept: []string{"body"},
			Assume: func(rule string) bool { asked = append(asked, rule); return yes },
		}
		want := []string{"rules.body", "rules.key", "rules.all", "rules.size"}
		r := p.Decide(q)
		if !slices.Equal(asked, want) || (r.Verdict == floodmark.Restrict) != yes || yes && len(r.Reasons) != len(want) {
			t.Errorf("assuming %v: asked %v, %v %v", yes, asked, r.Verdict, r.Reasons)
		}
		// What was kept is looked at.
		if q.Unkept, asked = nil, nil; p.Decide(q).Verdict != floodmark.Allow || asked != nil {
			t.Errorf("nothing is unkept, and %v was asked", asked)
		}
	}
}
