package policy_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// questions yields every combination of what a decision depends on, with one
// effect and with some pairs; in a short run one of 29.
func questions() iter.Seq[*policy.Question] {
	if testing.Short() {
		return everyNth(29, 0)
	}
	return everyNth(1, 0)
}

// everyNth yields one of n questions. Each from selects other questions.
func everyNth(n, from int) iter.Seq[*policy.Question] {
	sets := [][]floodmark.Effect{nil, {floodmark.Write, floodmark.Admin}, {floodmark.Fetch, floodmark.Send}}
	for _, e := range allEffects() {
		sets = append(sets, []floodmark.Effect{e})
	}
	return func(yield func(*policy.Question) bool) {
		i := from
		for _, effects := range sets {
			for _, mark := range allTrusts() {
				for _, trust := range allTrusts() {
					for bits := range 1 << 7 {
						if bits&1 == 0 && trust > mark {
							continue // only relaxing raises trust
						}
						for secrecy := floodmark.Secret; secrecy <= floodmark.Public; secrecy++ {
							if i++; i%n != 0 {
								continue
							}
							q := ask("exec", floodmark.Run, mark)
							q.Effects, q.Trust, q.Mark.Secrecy = effects, trust, secrecy
							variant(q, bits)
							if !yield(q) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// variant sets what the bits say.
func variant(q *policy.Question, bits int) {
	on := func(i int) bool { return bits>>i&1 == 1 }
	q.Relaxed, q.SelfProtected = on(0), on(1)
	q.Reach.Network, q.Reach.SecretInArgs, q.Reach.ActiveContent = on(2), on(3), on(4)
	q.Reach.FreeContent = q.Reach.ActiveContent
	q.Levels = provenance.LevelsOf(q.Mark.Trust)
	whence := floodmark.Seen
	if on(5) {
		whence = floodmark.Stated
	}
	q.Args = []floodmark.Argument{{Path: "to", Role: floodmark.Critical, Whence: whence, Trust: q.Mark.Trust}}
	q.Leaves = []hook.Leaf{{Path: "to", Top: "to", Value: "a@example.com"}}
	q.Reach.Destinations = []int{0}
	if on(6) {
		q.Reach.URLArg = 0
	}
}

func describe(q *policy.Question) string {
	return fmt.Sprintf("effects %v mark %v trust %v relaxed %v self %v args %v reach %+v", q.Effects, q.Mark, q.Trust, q.Relaxed, q.SelfProtected, q.Args, q.Reach)
}

// Less believed or more secret content never gets a more permissive answer.
func TestLawMonotone(t *testing.T) {
	policies := map[string]*policy.Policy{
		"loose":     load(t, user("taintPolicy: {shared: allow, external: allow, untrusted: confirm}", "toolOverrides: {exec: {untrusted: allow}}", "flows: {off: [flow-private]}")),
		"corrected": load(t, user("taintPolicy: {system: confirm, owner: allow, untrusted: allow}", "table: {observe: {local: confirm}}")),
		"project":   load(t, user("profile: coding"), project("taintPolicy: {external: restrict}", "toolOverrides: {exec: {shared: confirm}}")),
	}
	for _, name := range profileNames() {
		policies[name] = shipped(t, name)
	}
	for name, p := range policies {
		for q := range questions() {
			v := p.Decide(q).Verdict
			if q.Mark.Trust > floodmark.Untrusted {
				less := *q
				less.Mark.Trust--
				less.Trust = min(less.Trust, max(less.Mark.Trust, less.Trust-1))
				if !q.Relaxed {
					less.Trust = min(q.Trust, less.Mark.Trust)
				}
				if got := p.Decide(&less).Verdict; got > v {
					t.Fatalf("%s: %s\nis %s, but with less trust %s", name, describe(q), v, got)
				}
			}
			if q.Mark.Secrecy > floodmark.Secret {
				secret := *q
				secret.Mark.Secrecy--
				if got := p.Decide(&secret).Verdict; got > v {
					t.Fatalf("%s: %s\nis %s, but with more secrecy %s", name, describe(q), v, got)
				}
			}
			if q.Trust > floodmark.Untrusted {
				tightened := *q
				tightened.Trust--
				if got := p.Decide(&tightened).Verdict; got > v {
					t.Fatalf("%s: %s\nis %s, but tightened %s", name, describe(q), v, got)
				}
			}
		}
	}
}

// A project, and the section of an agent, never yield a more permissive
// verdict, whatever they say.
func TestLawStricterLayersOnlyTighten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		base := user(randomUser(rng)...)
		tight := randomTight(rng)
		p := load(t, base)
		withProject := load(t, base, project(tight...))
		withAgent := load(t, user(append(randomLines(base), "agents: {openclaw: {"+strings.Join(tight, ", ")+"}}")...))
		for q := range everyNth(37, round) { // each round another part, all of them together
			v := p.Decide(q).Verdict
			if got := withProject.Decide(q).Verdict; got > v {
				t.Fatalf("%s\n+ project %v\n%s: %s, without the project %s", base.Data, tight, describe(q), got, v)
			}
			if got := withAgent.Decide(q).Verdict; got > v {
				t.Fatalf("%s\n+ agent %v\n%s: %s, without the section %s", base.Data, tight, describe(q), got, v)
			}
		}
	}
}

func randomLines(l policy.Layer) []string {
	return strings.Split(strings.TrimSpace(strings.TrimPrefix(string(l.Data), "version: 1\n")), "\n")
}

func randomUser(rng *rand.Rand) []string {
	lines := []string{"profile: " + profileNames()[rng.IntN(4)], "relax: " + fmt.Sprint(rng.IntN(2) == 0)}
	if rng.IntN(2) == 0 {
		lines = append(lines, "table: {"+allEffects()[rng.IntN(7)].String()+": "+randomLevels(rng, false)+"}")
	}
	if rng.IntN(2) == 0 {
		lines = append(lines, "auditor: {on: true}", "flows: {off: [active-content]}")
	}
	return append(lines, randomTight(rng)...)
}

func randomTight(rng *rand.Rand) []string {
	lines := []string{"taintPolicy: " + randomLevels(rng, false), "toolOverrides: {exec: " + randomLevels(rng, true) + "}"}
	if rng.IntN(2) == 0 {
		verdict := []string{"confirm", "audit", "restrict"}[rng.IntN(3)]
		lines = append(lines, "rules: [{name: r, when: {context_taint_includes: [external, untrusted]}, action: {verdict: "+verdict+"}}]")
	}
	return lines
}

func randomLevels(rng *rand.Rand, star bool) string {
	var cells []string
	for _, trust := range allTrusts() {
		if rng.IntN(2) == 0 {
			cells = append(cells, trust.String()+": "+floodmark.Verdict(rng.IntN(4)).String())
		}
	}
	if star && rng.IntN(3) == 0 {
		cells = append(cells, `"*": `+floodmark.Verdict(rng.IntN(4)).String())
	}
	return "{" + strings.Join(cells, ", ") + "}"
}
