package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// TestCell returns the words of a policy's table, and restricts without one.
func TestCell(t *testing.T) {
	p, problems := policy.Load(policy.Layer{Name: "policy.yaml", Data: []byte("version: 1\nprofile: coding\ntable:\n  send: {external: restrict}\n")})
	if problems.Failed() {
		t.Fatal(problems)
	}
	for _, c := range []struct {
		effect floodmark.Effect
		trust  floodmark.Trust
		want   string
	}{
		{floodmark.Observe, floodmark.Owner, "allow"},
		{floodmark.Run, floodmark.Untrusted, "contain"},
		{floodmark.Send, floodmark.External, "restrict"},
		{floodmark.Effect(99), floodmark.Owner, "restrict"},
		{floodmark.Observe, floodmark.Trust(99), "restrict"},
	} {
		if got := p.Cell(c.effect, c.trust); got != c.want {
			t.Errorf("%v at %v: %q, want %q", c.effect, c.trust, got, c.want)
		}
	}
	p, problems = policy.Load(policy.Layer{Name: "policy.yaml", Data: []byte("version: 1\nprofile: coding\ntable:\n  write: {untrusted: audit}\n")})
	if problems.Failed() {
		t.Fatal(problems)
	}
	if got := p.Cell(floodmark.Write, floodmark.Untrusted); got != "confirm" {
		t.Errorf("audit without an auditor: %q", got)
	}
	if got := (*policy.Policy)(nil).Cell(floodmark.Observe, floodmark.Owner); got != "restrict" {
		t.Errorf("no policy: %q", got)
	}
}
