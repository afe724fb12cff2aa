package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// reachPolicies are random policies that together have every word for an answer.
func reachPolicies(t *testing.T, each func(text string, r *rand.Rand)) {
	t.Helper()
	words := []string{"restrict", "confirm", "audit", "contain-else-audit", "contain", "allow"}
	r := rand.New(rand.NewPCG(59, 1))
	levels := func() string {
		var cells []string
		for _, trust := range allTrusts() {
			if r.IntN(3) > 0 {
				cells = append(cells, trust.String()+": "+words[r.IntN(len(words))])
			}
		}
		return "{" + strings.Join(cells, ", ") + "}"
	}
	for range 40 {
		profile := []string{"coding", "assistant", "strict"}[r.IntN(3)]
		text := "version: 1\nprofile: " + profile + "\ntable:\n  run: " + levels() + "\n  change: " + levels() + "\n  write: " + levels() + "\n"
		if r.IntN(2) == 0 {
			text += "taintPolicy: " + levels() + "\n"
		}
		if r.IntN(2) == 0 {
			text += "toolOverrides:\n  exec: " + levels() + "\n"
		}
		if r.IntN(2) == 0 {
			text += fmt.Sprintf("rules:\n  - {name: a, when: 'call.effect == \"run\"', action: {verdict: %s}}\n", words[r.IntN(len(words)-1)])
		}
		each(text, r)
	}
}

// reachQuestions are calls at every trust that a door can box, or not.
func reachQuestions(boxable bool, each func(q *policy.Question)) {
	for _, effects := range [][]floodmark.Effect{{floodmark.Run}, {floodmark.Change}, {floodmark.Write, floodmark.Run}} {
		for _, trust := range allTrusts() {
			for _, secrecy := range []floodmark.Secrecy{floodmark.Secret, floodmark.Private, floodmark.Public} {
				q := ask("exec", floodmark.Run, trust)
				q.Effects, q.Boxable, q.Mark.Secrecy = effects, boxable, secrecy
				q.Reach.Network = slices.Contains(effects, floodmark.Run)
				each(q)
			}
		}
	}
}

// Without a box no answer differs from that of the same policy without the words for one.
func TestLawContainIsConfirmWithoutABox(t *testing.T) {
	reachPolicies(t, func(text string, _ *rand.Rand) {
		plain := strings.ReplaceAll(strings.ReplaceAll(text, "contain-else-audit", "audit"), "contain", "confirm")
		a, b := loadUser(t, text), loadUser(t, plain)
		reachQuestions(false, func(q *policy.Question) {
			got, want := a.Decide(q), b.Decide(q)
			if got.Verdict != want.Verdict || got.Reach != floodmark.Free || want.Reach != floodmark.Free {
				t.Fatalf("%s\n%v at %v: %v %v, without the words %v", text, q.Effects, q.Mark, got.Verdict, got.Reach, want.Verdict)
			}
		})
	})
}

// Neither verdict nor reach is more permissive if the context is believed less. A refused call is
// not run, so its reach is ignored.
func TestLawReachIsMonotone(t *testing.T) {
	reachPolicies(t, func(text string, _ *rand.Rand) {
		p := loadUser(t, text)
		for _, boxable := range []bool{false, true} {
			reachQuestions(boxable, func(q *policy.Question) {
				if q.Mark.Trust == floodmark.System {
					return
				}
				above := *q
				above.Mark.Trust, above.Trust = q.Mark.Trust+1, q.Mark.Trust+1
				low, high := p.Decide(q), p.Decide(&above)
				if low.Verdict > high.Verdict || low.Verdict > floodmark.Restrict && low.Reach > high.Reach {
					t.Fatalf("%s\n%v at %v, boxable %v: %v %v, but only %v %v above", text, q.Effects, q.Mark, boxable, low.Verdict, low.Reach, high.Verdict, high.Reach)
				}
			})
		}
	})
}

// What a project adds makes neither verdict nor reach more permissive, because answers are joined
// by the minimum.
func TestLawAProjectOnlyTightensBoth(t *testing.T) {
	reachPolicies(t, func(text string, r *rand.Rand) {
		word := []string{"restrict", "confirm", "audit", "contain-else-audit", "contain"}[r.IntN(5)]
		project := fmt.Sprintf("version: 1\ntaintPolicy: {owner: %s}\nrules:\n  - {name: p, when: 'mark.trust <= shared', action: {verdict: %s}}\n", word, word)
		a := loadUser(t, text)
		b, problems := policy.Load(policy.Layer{Name: "u.yaml", Data: []byte(text)}, policy.Layer{Name: "p.yaml", Project: true, Data: []byte(project)})
		if b == nil {
			t.Fatal(problems)
		}
		for _, boxable := range []bool{false, true} {
			reachQuestions(boxable, func(q *policy.Question) {
				with, without := b.Decide(q), a.Decide(q)
				if with.Reach > without.Reach || with.Verdict > without.Verdict && without.Reach == with.Reach {
					t.Fatalf("%s%s\n%v at %v, boxable %v: %v %v, before %v %v", text, project, q.Effects, q.Mark, boxable, with.Verdict, with.Reach, without.Verdict, without.Reach)
				}
			})
		}
	})
}

// A call that runs in a box without a question has a reason for it.
func TestLawABoxIsExplained(t *testing.T) {
	reachPolicies(t, func(text string, _ *rand.Rand) {
		p := loadUser(t, text)
		reachQuestions(true, func(q *policy.Question) {
			if boxed := p.Decide(q); boxed.Reach == floodmark.Boxed && boxed.Verdict == floodmark.Allow && len(boxed.Reasons) == 0 {
				t.Fatalf("%s: nothing says why it is boxed", text)
			}
		})
	})
}

func loadUser(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, problems := policy.Load(policy.Layer{Name: "u.yaml", Data: []byte(text)})
	if p == nil {
		t.Fatalf("%s\n%v", text, problems)
	}
	return p
}
