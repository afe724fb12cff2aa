package condition

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// overSources returns a random condition about sources, which may also look at the call.
func (r expressions) overSources(depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		return r.pick("(", "!(") + r.overSources(depth-1) + r.pick(" && ", " || ") + r.pick(r.overSources(depth-1), r.truth(1)) + ")"
	}
	one := r.ofSource(2)
	switch r.IntN(6) {
	case 5:
		return r.pick("call.tool", `"p0"`, r.argument(), `("p" + call.server)`, `call.args["to"] + agent`) + " in sources.map(s, s.place)"
	case 0:
		return "sources.exists_one(s, " + one + ")"
	case 1:
		n := r.pick("0", "1", "2", "5", "turn", `call.args["count"]`)
		if n == `call.args["count"]` { // which need not be a number
			return "(" + r.pick("sources.filter(s, "+one+").size()", "size(sources)") + " == " + n + ") == true"
		}
		return r.pick("sources.filter(s, "+one+").size()", "size(sources.filter(s, "+one+"))", "sources.size()") + r.pick(" == ", " > ", " <= ") + n
	default:
		return "sources." + r.pick("exists", "all") + "(s, " + one + ")"
	}
}

func (r expressions) ofSource(depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		return r.pick("(", "!(") + r.ofSource(depth-1) + r.pick(" && ", " || ") + r.ofSource(depth-1) + ")"
	}
	text := r.pick("s.place", "s.place", "s.tool", "s.kind")
	switch r.IntN(18) {
	case 0, 1, 2:
		return "s.trust " + r.pick("==", "!=", "<", ">=") + " " + r.pick("untrusted", "external", "local", "3")
	case 3, 4, 5:
		return text + " " + r.pick("==", "!=") + " " + r.pick(`"p0"`, `"p1"`, `"page"`, `"hub/page"`, `"tool"`, `"sender"`)
	case 6:
		return text + r.pick(".startsWith", ".endsWith", ".contains") + "(" + r.pick(`"p"`, `"age"`, `"1"`) + ")"
	case 7:
		return text + ` in ["p1", "page", "sender"]`
	case 8:
		return text + `.matches("^(p[12]|hub)")`
	case 9:
		return "s.trust <= " + r.pick("mark.trust", "trust", `arg["to"].trust`)
	case 10, 11:
		return r.sided(text, r.pick("==", "!=", "<", ">="), r.pick("call.tool", "agent", `"p1"`, `("p" + string(turn))`))
	case 12:
		return r.sided(text, r.pick("==", "!="), r.pick(r.argument(), "call.args[agent]", `call.args[["to", "count", "nope"][turn]]`))
	case 13:
		a, b := text, r.pick("call.tool", r.argument(), r.constant(), `("p" + string(turn))`, `call.args[["to", "count", "nope"][turn]]`)
		if r.IntN(2) == 0 {
			a, b = b, a
		}
		return a + r.pick(".startsWith", ".endsWith", ".contains") + "(" + b + ")"
	case 14:
		return "(call.tool.startsWith(s.place) && !s.place.startsWith(call.tool))"
	case 15, 16: // what only the library knows
		return r.pick("size(s.place) > 2", `(s.place + s.tool) == "p1page"`, `size(agent) > 4`, `["p", "1"].exists(x, s.place.endsWith(x))`, "s.trust + 1 == turn",
			"(s.tool + agent).size() == 9", `has(s.place)`, `s.place.matches("p" + "[0-9]")`, "10 / s.trust > 4", `call.args.exists(k, k == "to")`, "(s.trust > 2 ? s.kind : agent) == call.agent",
			`s.trust in [1, turn]`, "1 + 1 == 2", `s.kind.matches(call.tool)`, `(s.kind + agent) == "toolpi"`, `[agent].exists(agent, (agent + "x") == (s.place + "x"))`,
			`[agent].exists(agent, (agent + "x") == (s.tool + "x"))`, `[s].exists(x, x.place == call.tool)`)
	default:
		return r.pick("true", "false", `has(arg.to)`)
	}
}

// sided compares two texts, in one order or in the other.
func (r expressions) sided(a, op, b string) string {
	if r.IntN(2) == 0 {
		a, b = b, a
	}
	return a + " " + op + " " + b
}

// changes lets sources come, arrive, die and come back, and the owner vouch for some.
func (r expressions) changes(t *testing.T, l *provenance.Ledger) {
	t.Helper()
	n := floodmark.NodeID(l.Len())
	digest := floodmark.DigestOf(fmt.Sprint(r.IntN(6)))
	switch pick := r.IntN(12); {
	case pick < 6 || n == 0:
		s := floodmark.Source{
			Node: n, Digest: digest, Label: floodmark.Label{Trust: floodmark.Trust(r.IntN(6)), Secrecy: floodmark.Public}, Whole: r.IntN(20) == 0,
			Origin: floodmark.Origin{Kind: floodmark.OriginKind(r.pick("tool", "sender")), Server: r.pick("", "hub"), Name: r.pick("page", "pi"), Place: r.pick("p0", "p1", "exec", "", "codex")},
		}
		if r.IntN(3) == 0 {
			s.Digest, s.Call = floodmark.Digest{}, floodmark.CallID(fmt.Sprint("c", n))
		}
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	case pick < 9:
		f := floodmark.ContentArrived{Node: floodmark.NodeID(r.IntN(int(n))), Digest: digest, Label: floodmark.Label{Trust: floodmark.Trust(r.IntN(6)), Secrecy: floodmark.Public}}
		if r.IntN(2) == 0 && f.Node > 0 {
			f.Inputs = []floodmark.NodeID{f.Node - 1}
		}
		_ = l.Arrive(f) // most were not announced, and nothing changes
	case pick < 10:
		l.Endorse(floodmark.Endorsed{Digest: digest, Trust: floodmark.Local})
	case pick < 11:
		l.Withdraw(digest)
	default:
		if r.IntN(6) == 0 {
			l.Clear()
		}
	}
}

// Rules about sources answer as the CEL library, which goes through all sources each time, however
// the sources came and changed since the rules last answered.
func TestLawRulesOverSourcesRememberNothingWrong(t *testing.T) {
	r := expressions{rand.New(rand.NewPCG(11, 7))}
	e := (&Set{}).environment()
	rounds, outcomes := 150, map[truth]int{}
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		var texts []string
		var ours, theirs []func(*Question) truth
		for len(ours) < 4 {
			text := r.overSources(2)
			checked, issues := e.Compile(text)
			if issues.Err() != nil {
				t.Fatalf("%s: %v", text, issues.Err())
			}
			mine, ok := compile(checked.NativeRep(), planned(e, checked.NativeRep()))
			if !ok && !strings.Contains(text, "call.args") && !strings.Contains(text, "[s]") && !strings.Contains(text, "[agent]") {
				t.Fatalf("%s: left to the library", text)
			}
			if !ok {
				continue
			}
			library, err := celEval(e, checked)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			texts, ours, theirs = append(texts, text), append(ours, mine), append(theirs, library)
		}
		sources := Sources{Ledger: &provenance.Ledger{}, Counts: &Counts{}}
		for range 60 {
			r.changes(t, sources.Ledger)
			i := r.IntN(len(ours))
			q := r.question()
			q.Sources = sources
			want := theirs[i](q)
			outcomes[want]++
			got := ours[i](q)
			q.Sources.Counts = nil
			if anew := ours[i](q); got != want || anew != want {
				t.Fatalf("%s\nours %d, anew %d, CEL %d\n%+v", texts[i], got, anew, want, q)
			}
		}
	}
	for _, o := range []truth{no, yep, failed} {
		if outcomes[o] < rounds {
			t.Errorf("outcome %d was met %d times only: the expressions are too tame", o, outcomes[o])
		}
	}
}

// The limits on the number of sources that the library is asked about, and on the list that it goes
// through for each. Beyond them the rule applies, or the library answers the whole condition.
func TestLimitsOfWhatTheLibraryIsAsked(t *testing.T) {
	asks := conditionOf(t, `sources.exists(s, size(s.tool) > 99)`, &Set{})
	q := &Question{Sources: Sources{Ledger: &provenance.Ledger{}, Counts: &Counts{}}}
	for n := range floodmark.NodeID(maxLibrary) {
		if err := q.Sources.Ledger.Add(floodmark.Source{Node: n}); err != nil {
			t.Fatal(err)
		}
	}
	if got := asks.eval(q); got != no {
		t.Errorf("%d sources: %d", maxLibrary, got)
	}
	if err := q.Sources.Ledger.Add(floodmark.Source{Node: maxLibrary}); err != nil {
		t.Fatal(err)
	}
	for _, counts := range []*Counts{{}, nil} {
		if q.Sources.Counts = counts; asks.eval(q) != failed || !asks.Holds(q) {
			t.Errorf("one source more is asked, with %v", counts)
		}
	}
	if got := conditionOf(t, `sources.exists(s, s.tool == "x")`, &Set{}).eval(q); got != no {
		t.Errorf("what we answer ourselves is bounded: %d", got)
	}
	through := func(n int) string {
		return "sources.exists(s, [" + strings.Repeat(`"a",`, n) + "].exists(x, s.place.contains(x)))"
	}
	if !conditionOf(t, through(maxThrough), &Set{}).compiled || conditionOf(t, through(maxThrough+1), &Set{}).compiled {
		t.Error("not where the bound is")
	}
}
