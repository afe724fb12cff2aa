package policy_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/policy"
)

// Every place that names a tool is listed, and says whether a bare name is narrow.
func TestNamedTools(t *testing.T) {
	user := policy.Layer{Name: "user", Data: []byte(`version: 1
toolOverrides: {a: {"*": confirm}}
rules:
  - {name: r, when: 'call.tool == "b" || "c" == call.tool || call.tool in ["d"]', action: {remove_tools: [e], block_tools: [f]}}
  - {name: s, when: {iteration_gte: 1}, action: {verdict: audit}, tools: [s/g]}
verifiers: [{name: v, include: [h]}, {name: w, exclude: [i]}]
caution: {j: true}
agents: {x: {toolOverrides: {k: {"*": confirm}}}}
`)}
	project := policy.Layer{Name: "project", Project: true, Data: []byte("version: 1\ntoolOverrides: {l: {'*': confirm}}\n")}
	p, problems := policy.Load(user, project)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for _, n := range p.NamedTools() {
		text := fmt.Sprintf("%s %s:%d:%d", n.Tool, n.File, n.Line, n.Column)
		if n.Narrow {
			text += " narrow"
		}
		got = append(got, text)
	}
	slices.Sort(got)
	want := []string{
		"a user:2:17 narrow", "b user:4:35", "c user:4:42", "d user:4:76", "e user:4:107", "f user:4:125", "h user:6:33",
		"i user:6:58 narrow", "j user:7:11", "k user:8:30 narrow", "l project:2:17 narrow", "s/g user:5:75",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if (*policy.Policy)(nil).NamedTools() != nil {
		t.Error("no policy names tools")
	}
}

// An unknown effect is never equal to what a call does.
func TestEffectsNobodyKnows(t *testing.T) {
	for condition, want := range map[string]int{
		`call.effect == "sned"`: 1, `"sned" != call.effect`: 1, `call.effect in ["send", "x", "y"]`: 2,
		`call.effect == "send"`: 0, `call.tool == "sned"`: 0, `call.effect == call.tool`: 0, `call.effect.startsWith("x")`: 0,
	} {
		_, problems := policy.Load(policy.Layer{Name: "user", Data: []byte("version: 1\nrules: [{name: r, when: '" + condition + "', action: {verdict: audit}}]\n")})
		if len(problems) != want || problems.Failed() {
			t.Errorf("%s: %v, want %d warnings", condition, problems, want)
		}
	}
}
