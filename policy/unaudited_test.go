package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// Unaudited is the verdict without an auditor. It is not set if a person is asked
// anyway when the auditor does not answer.
func TestUnaudited(t *testing.T) {
	stated := func() *policy.Question { // the owner named where it goes, the text is harmless
		q := ask("t", floodmark.Send, floodmark.External)
		q.Mark.Secrecy = floodmark.Internal
		q.Trust, q.Relaxed, q.Reach.FreeContent, q.Reach.ContentLicensed = floodmark.Owner, true, true, true
		return q
	}
	table := func() *policy.Question { return ask("t", floodmark.Write, floodmark.Untrusted) }
	for name, c := range map[string]struct {
		policy  string
		ask     func() *policy.Question
		verdict floodmark.Verdict
		alone   floodmark.Verdict
	}{
		"block":               {"auditor: {on: true}", stated, floodmark.Audit, floodmark.Restrict},
		"warn":                {"auditor: {on: true, failMode: warn}", stated, floodmark.Audit, floodmark.Allow},
		"allow":               {"auditor: {on: true, failMode: allow}", stated, floodmark.Audit, floodmark.Allow},
		"allow, by the table": {"auditor: {on: true, failMode: allow}", table, floodmark.Audit, floodmark.Audit},
		"no auditor":          {"auditor: {failMode: allow}", stated, floodmark.Allow, floodmark.Restrict},
		"no auditor, table":   {"auditor: {failMode: allow}", table, floodmark.Audit, floodmark.Restrict},
		"strict":              {"profile: strict\nauditor: {on: true, failMode: allow}", stated, floodmark.Audit, floodmark.Audit},
	} {
		got := load(t, user(c.policy)).Decide(c.ask())
		if got.Verdict != c.verdict || got.Unaudited != c.alone {
			t.Errorf("%s: %v, alone %v; want %v, %v", name, got.Verdict, got.Unaudited, c.verdict, c.alone)
		}
	}
}
