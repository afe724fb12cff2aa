package policy

import (
	"testing"

	"github.com/floodmark/floodmark/policy/policyfile"
)

// Joining is the minimum in every part, so it does not matter what is joined first.
func TestAnswersJoinByTheMinimum(t *testing.T) {
	var all []answer
	for _, word := range []string{"restrict", "confirm", "audit", policyfile.ElseAudit, "contain", "allow"} {
		a := parseAnswer(word)
		if a.String() != word {
			t.Errorf("%s is written as %s", word, a)
		}
		all = append(all, a)
	}
	for _, a := range all {
		for _, b := range all {
			j := a.join(b)
			if j != b.join(a) || a.join(a) != a || j.verdict > a.verdict || j.inside > a.inside || j.reach > a.reach {
				t.Errorf("%v and %v make %v", a, b, j)
			}
			for _, c := range all {
				if j.join(c) != a.join(b.join(c)) {
					t.Errorf("%v, %v and %v depend on the order", a, b, c)
				}
			}
		}
	}
	if parseAnswer("anything") != plainly(0) {
		t.Error("a word that is none does not restrict")
	}
	if got := parseAnswer("contain").join(parseAnswer("audit")).String(); got != "confirm, or audit in a box" {
		t.Error(got)
	}
}
