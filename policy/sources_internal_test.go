package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// overSources is a random condition over sources; what it asks of each may also look at the call.
func (r expressions) overSources(depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		return r.pick("(", "!(") + r.overSources(depth-1) + r.pick(" && ", " || ") + r.pick(r.overSources(depth-1), r.truth(1)) + ")"
	}
	return "sources." + r.pick("exists", "all") + "(s, " + r.ofSource(2) + ")"
}

func (r expressions) ofSource(depth int) string {
	if depth > 0 && r.IntN(2) == 0 {
		return r.pick("(", "!(") + r.ofSource(depth-1) + r.pick(" && ", " || ") + r.ofSource(depth-1) + ")"
	}
	text := r.pick("s.place", "s.tool", "s.kind")
	switch r.IntN(12) {
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
	case 10:
		return "s.place == " + r.pick("call.tool", "agent", `call.args["to"]`)
	default:
		return r.pick("true", "false", `has(arg.to)`)
	}
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
			Origin: floodmark.Origin{Kind: floodmark.OriginKind(r.pick("tool", "sender")), Server: r.pick("", "hub"), Name: "page", Place: r.pick("p0", "p1", "exec", "")},
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

// Rules over sources answer as the CEL library does that looks at all of them anew, however
// the sources came and changed since they last answered.
func TestLawRulesOverSourcesRememberNothingWrong(t *testing.T) {
	r := expressions{rand.New(rand.NewPCG(11, 7))}
	e := (&conditions{}).environment()
	rounds, outcomes := 150, map[truth]int{}
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		var texts []string
		var ours, theirs []func(*Question) truth
		for range 4 {
			text := r.overSources(2)
			checked, issues := e.Compile(text)
			if issues.Err() != nil {
				t.Fatalf("%s: %v", text, issues.Err())
			}
			mine, ok := compile(checked.NativeRep())
			if !ok {
				t.Fatalf("%s: left to the library", text)
			}
			library, err := celEval(e, checked)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			texts, ours, theirs = append(texts, text), append(ours, mine), append(theirs, library)
		}
		sources := Sources{Ledger: &provenance.Ledger{}, Counts: &provenance.Counts{}}
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

// What was answered of a source is not asked again, unless it changed.
func TestRulesAskEachSourceOnce(t *testing.T) {
	l, counts := &provenance.Ledger{}, &provenance.Counts{}
	asked := 0
	count := func() int {
		return Sources{Ledger: l, Counts: counts}.count("key", func(s *floodmark.Source, _ floodmark.Trust) bool {
			asked++
			return s.Origin.Place == "x"
		})
	}
	const n = 2000
	for i := range floodmark.NodeID(n) {
		s := floodmark.Source{Node: i, Label: floodmark.Label{Trust: floodmark.Local}, Origin: floodmark.Origin{Place: "x"}}
		if i == 700 {
			s.Call = "c"
		}
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != int(i)+1 {
			t.Fatalf("%d of %d", got, i+1)
		}
	}
	if asked != n {
		t.Errorf("%d sources were asked %d times", n, asked)
	}
	if err := l.Arrive(floodmark.ContentArrived{Node: 700}); err != nil {
		t.Fatal(err)
	}
	if count() != n || asked != n+1 {
		t.Errorf("of one that changed %d were asked again", asked-n)
	}
	if l.Clear(); count() != 0 {
		t.Error("what is dead counts")
	}
}
