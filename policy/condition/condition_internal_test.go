package condition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy/policyfile"
	"github.com/floodmark/floodmark/provenance"
)

// expressions makes random conditions of the common part of CEL.
type expressions struct{ *rand.Rand }

func (r expressions) pick(words ...string) string { return words[r.IntN(len(words))] }

func (r expressions) truth(depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		switch r.IntN(3) {
		case 0:
			return "!(" + r.truth(depth-1) + ")"
		case 1:
			return "(" + r.truth(depth-1) + " && " + r.truth(depth-1) + ")"
		default:
			return "(" + r.truth(depth-1) + " || " + r.truth(depth-1) + ")"
		}
	}
	switch r.IntN(9) {
	case 0:
		return r.number() + " " + r.pick("==", "!=", "<", "<=", ">", ">=") + " " + r.number()
	case 1:
		return r.text() + " " + r.pick("==", "!=", "<", "<=", ">", ">=") + " " + r.text()
	case 2:
		return r.argument() + " " + r.pick("==", "!=") + " " + r.text()
	case 3:
		return r.pick(r.text(), r.argument()) + "." + r.pick("startsWith", "endsWith", "contains") + "(" + r.pick(r.constant(), r.text(), r.argument()) + ")"
	case 4:
		return r.pick(r.text(), r.argument()) + ".matches(" + r.pick(`"^e"`, `"x.c"`, `"[0-9]+$"`, `"(?i)EXEC"`) + ")"
	case 5:
		return r.text() + " in [" + r.constant() + ", " + r.constant() + "]"
	case 6:
		return r.number() + " in [" + r.pick("0", "1", "external") + ", " + r.pick("3", "local") + "]"
	case 7:
		return r.pick(`has(call.args.to)`, `has(arg.to)`, `"to" in arg`, `"count" in call.args`, `has(call.args.nope)`, `"twice" in call.args`)
	default:
		return r.pick(`arg["to"].stated`, `arg.to.seen`, `arg["nope"].stated`, `arg["twice"].seen`, "true", "false")
	}
}

func (r expressions) number() string {
	return r.pick(slices.Concat(numberVariables(), []string{"0", "1", "3", "-1", "untrusted", "external", "owner", "secret", "public", `arg["to"].trust`, `arg.nope.trust`})...)
}

func (r expressions) text() string { return r.pick(append(textVariables(), r.constant())...) }

func (r expressions) constant() string {
	return r.pick(`"exec"`, `"ex"`, `""`, `"codex"`, `"run"`, `"a@example.com"`, `"é"`)
}

func (r expressions) argument() string {
	return r.pick(`call.args["to"]`, `call.args.to`, `call.args.count`, `call.args["nope"]`, `call.args.on`, `call.args.none`, `call.args["twice"]`, `call.args["half"]`)
}

func (r expressions) question() *Question {
	q := &Question{
		Agent: r.pick("codex", "pi"), Tool: floodmark.ToolRef{Agent: "codex", Server: r.pick("", "github"), Name: r.pick("exec", "read", "e", "é")},
		Effects: []floodmark.Effect{floodmark.Effect(r.IntN(7))}, Trust: floodmark.Trust(r.IntN(6)), Iteration: r.IntN(5), Turn: r.IntN(3),
		Mark: floodmark.Label{Trust: floodmark.Trust(r.IntN(6)), Secrecy: floodmark.Secrecy(r.IntN(4))},
	}
	leaves := []hook.Leaf{
		{Path: "to", Value: r.pick("a@example.com", "exec", "", "x1c")},
		{Path: "count", Value: r.pick("1", "3", "12345678901234567890"), Kind: hook.Number},
		{Path: "on", Value: "true", Kind: hook.Bool},
		{Path: "none", Value: "null", Kind: hook.Null},
		{Path: "half", Value: "0.5", Kind: hook.Number},
		{Path: "twice", Value: "exec"},
		{Path: "twice", Value: "exec"},
	}
	for _, l := range leaves {
		if r.IntN(4) > 0 {
			q.Leaves = append(q.Leaves, l)
			q.Args = append(q.Args, floodmark.Argument{Path: l.Path, Whence: floodmark.Whence(r.IntN(3)), Trust: floodmark.Trust(r.IntN(6))})
		}
	}
	q.Levels = provenance.LevelsOf(q.Mark.Trust)
	return q
}

// What we compile ourselves answers exactly as the CEL library does, errors
// included.
func TestLawCompiledConditionsAgreeWithCEL(t *testing.T) {
	r := expressions{rand.New(rand.NewPCG(7, 7))}
	cs := &Set{}
	e := cs.environment()
	rounds, outcomes := 1500, map[truth]int{}
	if testing.Short() {
		rounds = 500
	}
	for range rounds {
		text := r.truth(3)
		checked, issues := e.Compile(text)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", text, issues.Err())
		}
		ours, ok := compile(checked.NativeRep(), nil)
		if !ok {
			t.Fatalf("%s: left to the library", text)
		}
		theirs, err := celEval(e, checked)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for range 8 {
			q := r.question()
			got, want := ours(q), theirs(q)
			outcomes[got]++
			if got != want {
				t.Fatalf("%s\nours %d, CEL %d\n%+v", text, got, want, q)
			}
		}
	}
	for _, o := range []truth{no, yep, failed} {
		if outcomes[o] < rounds/3 {
			t.Errorf("outcome %d was met %d times only: the expressions are too tame", o, outcomes[o])
		}
	}
}

// What we do not compile is answered by the library.
func TestOtherConditions(t *testing.T) {
	q := &Question{
		Tool: floodmark.ToolRef{Name: "transfer"}, Mark: floodmark.Label{Trust: floodmark.External}, Iteration: 2,
		Leaves:  []hook.Leaf{{Path: "amount", Value: "150.5", Kind: hook.Number}, {Path: "items[2].url", Value: "https://a.example"}, {Path: "n", Value: "10", Kind: hook.Number}},
		Args:    []floodmark.Argument{{Path: "amount", Whence: floodmark.Seen, Trust: floodmark.External}},
		Sources: Sources{Ledger: &provenance.Ledger{}},
	}
	if err := q.Sources.Ledger.Add(floodmark.Source{Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "web_fetch", Place: "evil.example"}}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]truth{
		`sources.exists(s, s.tool == "web_fetch" && s.trust <= external && s.place.endsWith(".example"))`: yep,
		`sources.all(s, s.kind == "sender")`:                         no,
		`sources.exists_one(s, s.trust == untrusted)`:                yep,
		`sources.exists(a, sources.all(b, a.place == b.place))`:      yep,
		`sources.exists(arg, arg.place == "evil.example")`:           yep,
		`sources[0].tool + "2" == "web_fetch2" && size(sources) < 2`: yep,
		`call.args["amount"] > 100`:                                  yep,
		`call.args["items[2].url"].startsWith("https")`:              yep,
		`arg.exists(p, arg[p].seen && arg[p].trust < shared)`:        yep,
		`iteration + 1 == 3 ? true : false`:                          yep,
		`call.args["missing"] > 1`:                                   failed,
		`size(call.args) == 3`:                                       yep,
		`call.args["n"] == 10`:                                       yep,
		`arg["amount"].trust == external && call.tool == "transfer"`: yep,
	} {
		r := &policyfile.Reader{Name: "x", Data: []byte("x")}
		c, ok := Compile(r, scalar(text), &Set{})
		if !ok {
			t.Errorf("%s: %v", text, r.Problems)
			continue
		}
		if got := c.eval(q); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
		if holds := c.Holds(q); holds != (want != no) {
			t.Errorf("%s holds: %v", text, holds)
		}
	}
}

// A condition that costs too much is taken for true.
func TestCostLimit(t *testing.T) {
	q := &Question{}
	for i := range 60 { // to the third power this is over the limit
		q.Leaves = append(q.Leaves, hook.Leaf{Path: fmt.Sprint("k", i), Value: strings.Repeat("x", 500)})
	}
	r := &policyfile.Reader{Name: "x", Data: []byte("x")}
	c, ok := Compile(r, scalar(`call.args.all(a, call.args.all(b, call.args.all(c, a != "z")))  && false`), &Set{})
	if !ok {
		t.Fatal(r.Problems)
	}
	if got := c.eval(q); got != no && got != failed {
		t.Errorf("%d", got)
	}
	c, ok = Compile(r, scalar(`call.args.all(a, call.args.all(b, call.args.all(c, call.args[a].contains("x")))) == false`), &Set{})
	if !ok {
		t.Fatal(r.Problems)
	}
	if got := c.eval(q); got != failed || !c.Holds(q) {
		t.Errorf("two hundred thousand steps ended with %d", got)
	}
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{
		`mark.trust <= external && call.tool == "exec"`, `arg["to"].stated || sources.exists(s, s.trust == 0)`,
		`call.args.url.matches("^https://")`, `1 in [1, 2`, `has(call.args.to)`, `"\u00e9" + "x" == agent`,
	} {
		f.Add(s)
	}
	cs := &Set{}
	questions := expressions{rand.New(rand.NewPCG(3, 3))}
	q := questions.question()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > policyfile.MaxCondition || strings.TrimSpace(text) == "" {
			t.Skip()
		}
		r := &policyfile.Reader{Name: "x", Data: []byte(text)}
		n := scalar(text)
		cs.patterns, cs.bytes = 0, 0 // each text is a policy of its own
		c, ok := Compile(r, n, cs)
		if ok == r.Problems.Failed() {
			t.Fatalf("%q: ok %v with problems %v", text, ok, r.Problems)
		}
		if !ok || !c.compiled {
			return
		}
		e := cs.environment()
		checked, _ := e.Compile(text)
		theirs, err := celEval(e, checked)
		if err != nil {
			t.Skip() // the library itself cannot run it
		}
		if got, want := c.eval(q), theirs(q); got != want {
			t.Fatalf("%q: ours %d, CEL %d", text, got, want)
		}
	})
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: 1, Column: 1}
}
