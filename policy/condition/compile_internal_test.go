package condition

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy/policyfile"
)

func conditionOf(t *testing.T, text string, cs *Set) Condition {
	t.Helper()
	r := &policyfile.Reader{Name: "x", Data: []byte(text)}
	c, ok := Compile(r, scalar(text), cs)
	if !ok {
		t.Fatalf("%s: %v", text, r.Problems)
	}
	return c
}

// distinct is a question in which no two variables have the same value.
func distinct() *Question {
	return &Question{
		Agent: "codex", Tool: floodmark.ToolRef{Agent: "pi", Server: "github", Name: "push"},
		Effects: []floodmark.Effect{floodmark.Observe, floodmark.Send, floodmark.Write}, Iteration: 7, Turn: 8,
		Mark: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Internal}, Trust: floodmark.Local,
		Leaves: []hook.Leaf{
			{Path: "to", Value: "a"},
			{Path: "n", Value: "3", Kind: hook.Number},
			{Path: "f", Value: "0.5", Kind: hook.Number},
			{Path: "big", Value: "12345678901234567890", Kind: hook.Number},
			{Path: "bad", Value: "x", Kind: hook.Number},
			{Path: "on", Value: "true", Kind: hook.Bool},
			{Path: "off", Value: "false", Kind: hook.Bool},
			{Path: "none", Value: "null", Kind: hook.Null},
			{Path: "twice", Value: "b"},
			{Path: "twice", Value: "b"},
		},
		Args: []floodmark.Argument{
			{Path: "to", Whence: floodmark.Stated, Trust: floodmark.Owner},
			{Path: "n", Whence: floodmark.Seen, Trust: floodmark.Shared},
			{Path: "f", Whence: floodmark.Nowhere},
			{Path: "twice", Whence: floodmark.Seen},
			{Path: "twice", Whence: floodmark.Seen},
		},
	}
}

// Every variable means what the language says, in conditions that we compile and in
// those that the library answers.
func TestVariables(t *testing.T) {
	cs := &Set{}
	for _, text := range []string{
		`agent == "codex"`, `call.agent == "pi"`, `call.server == "github"`, `call.tool == "push"`, `call.effect == "send"`,
		`mark.trust == external`, `mark.secrecy == internal`, `trust == local`, `iteration == 7`, `turn == 8`,
		`untrusted == 0 && external == 1 && shared == 2 && local == 3 && owner == 4 && system == 5`, `secret == 0 && private == 1 && internal == 2 && public == 3`,
		`call.args["to"] == "a"`, `call.args.n == 3`, `call.args.f == 0.5`, `call.args.big > 1e18`, `!(call.args.bad == call.args.bad)`,
		`call.args.on == true`, `call.args.off == false`, `call.args.none == null`, `size(call.args) == 9`, `size(arg) == 4`, `size(sources) == 0`,
		`arg.to.stated && !arg.to.seen && arg.to.trust == owner`, `arg.n.seen && !arg.n.stated && arg.n.trust == shared`, `!arg.f.seen && !arg.f.stated`,
		`has(call.args.to) && has(arg.to) && "n" in arg && "n" in call.args`, `!has(call.args.zz) && !("zz" in arg)`,
	} {
		if got := conditionOf(t, text, cs).eval(distinct()); got != yep {
			t.Errorf("%s: %d", text, got)
		}
		if got := conditionOf(t, "[true].all(x, x && "+text+")", cs).eval(distinct()); got != yep {
			t.Errorf("%s, by the library: %d", text, got)
		}
	}
	for _, text := range []string{`call.args["twice"] == "b"`, `arg["twice"].seen`, `arg.twice.trust == 0`, `call.args.zz == "a"`, `call.args["to"].stated`, `call.args.on`} {
		want := failed
		if text == `call.args.on` {
			want = yep
		}
		if got := conditionOf(t, text, cs).eval(distinct()); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if v, ok := (variables{q: distinct()}).ResolveName("nothing"); v != nil || ok {
		t.Error("a variable nobody declared has a value")
	}
	none := &Question{}
	if got := conditionOf(t, `call.effect == "admin"`, cs).eval(none); got != yep {
		t.Error("a call without effects is not the most guarded one")
	}
}

// A rule about an effect applies to every call with this effect, whatever else the call does.
func TestEachEffectIsAskedAbout(t *testing.T) {
	cs := &Set{}
	for text, want := range map[string]bool{
		`call.effect == "send"`: true, `call.effect == "write"`: true, `call.effect == "observe" && turn == 8`: true,
		`call.effect == "run"`: false, `call.effect == "write" && turn == 9`: false, `turn == 9`: false,
		`call.effect == "send" && call.effect == "write"`: false,
	} {
		q := distinct()
		c := conditionOf(t, text, cs)
		if got := c.Holds(q); got != want || len(q.Effects) != 3 {
			t.Errorf("%s: %v, %v", text, got, q.Effects)
		}
	}
}

// What is compiled and what is left to the library; what mentions the call and
// what its arguments.
func TestWhatConditionsNeed(t *testing.T) {
	cs := &Set{}
	for text, want := range map[string]string{
		`true`: "compiled", `!(agent == "a") || turn > 1`: "compiled", `iteration in [1, external]`: "compiled", `call.tool in []`: "compiled call",
		`iteration in []`: "compiled", `sources.exists(s, s.trust < 1)`: "compiled", `sources.all(s, s.trust < trust)`: "compiled call args", `sources.exists_one(s, s.trust < 1)`: "compiled", `sources[0].trust < 1`: "", `sources.map(s, s.trust) == [1]`: "", `mark.trust <= external`: "compiled", `turn + 1 > iteration`: "",
		`call.tool == "x"`: "compiled call", `call.server != agent`: "compiled call", `call.agent < "x"`: "compiled call",
		`call.effect == "run"`: "compiled call args", `trust < owner`: "compiled call args", `arg["to"].stated`: "compiled call args",
		`call.args.to == "x"`: "compiled call args", `"x" == call.args["to"]`: "compiled call args", `call.args.to < "x"`: "call args", `"x" < call.args.to`: "call args",
		`call.args.n == 1`: "call args", `1 == call.args.n`: "call args", `call.args.n > 1`: "call args", `call.args[agent] == "x"`: "call args",
		`call.args.a.b == "x"`: "call args", `has(call.args.a.b)`: "call args", `call.args["to"].stated`: "call args", `call.args.to.trust == 1`: "call args",
		`"to" in arg`: "compiled call args", `agent in arg`: "call args", `agent in ["a", agent]`: "", `turn in [1, turn]`: "", `agent in [["a"]][0]`: "",
		`agent.matches("^a")`: "compiled", `agent.matches(agent)`: "", `matches(agent, "^a")`: "", `agent.startsWith(call.args.to)`: "compiled call args",
		`(agent + "x").contains("x")`: "", `agent.contains("x" + agent)`: "", `(agent + "x") == "x"`: "", `true == (turn > 1)`: "", `turn > 1 ? true : false`: "",
		`!(turn + 1 > 1)`: "", `turn > 1 && turn + 1 > 1`: "", `call.args.to in ["a"]`: "call args", `agent.size() > 1`: "", `arg.to == arg.to`: "call args",
	} {
		c := conditionOf(t, text, cs)
		var got []string
		for word, on := range map[string]bool{"1compiled": c.compiled, "2call": c.NeedsCall, "3args": c.NeedsArgs} {
			if on {
				got = append(got, word)
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); strings.NewReplacer("1", "", "2", "", "3", "").Replace(s) != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// A pattern is at most as large as the limit, no matter what it is matched with.
func TestPatternTooLarge(t *testing.T) {
	const within = "a{999}a{999}" // and two instructions around it
	for _, who := range []string{"agent", `(agent + "x")`} {
		conditionOf(t, who+`.matches("`+within+`")`, &Set{})
		text := who + `.matches("` + within + `a")`
		r := &policyfile.Reader{Name: "x", Data: []byte(text)}
		if _, ok := Compile(r, scalar(text), &Set{}); ok || !strings.Contains(r.Problems.Error(), "regex program size 2001 exceeds limit of 2000") {
			t.Errorf("%s: %v", text, r.Problems)
		}
	}
}
