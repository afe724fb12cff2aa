package secret

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// withCanary is a session that has read a secret.
func withCanary(t *testing.T) *Session {
	t.Helper()
	s := &Session{Rules: NewRules(), Ledger: &provenance.Ledger{}, Key: provenance.RingKey{Key: provenance.Key{7}}}
	seen := floodmark.ContentSeen{Source: floodmark.Source{
		Kind: floodmark.NodeToolResult, Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "vault"}, Label: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public},
	}}
	s.Guard(&seen, "the key is "+canary)
	if len(seen.Secrets) != 1 {
		t.Fatalf("the key is not found: %+v", seen.Secrets)
	}
	if err := s.Ledger.Add(seen.Source); err != nil {
		t.Fatal(err)
	}
	return s
}

// Inner values are searched for secrets together with the values around them, and are
// never a line of their own.
func TestInnerValuesAreNoLines(t *testing.T) {
	args := json.RawMessage(`{"a":"` + canary[:20] + `","b":"x"}`)
	call := Call{Tool: "look", Args: args, Leaves: []hook.Leaf{{Path: "a", Top: "a", Value: canary[:20]}, {Path: "b", Top: "b", Value: "x"}}}
	if got := withCanary(t).View(call).Lines(); !slices.Equal(got, []string{"a: " + canary[:20], "b: x"}) {
		t.Errorf("apart: %q", got)
	}
	call.Leaves = call.Leaves[:1]
	call.Inner = []hook.Leaf{{Path: "url", Top: "url", Value: canary[20:]}}
	got := withCanary(t).View(call).Lines()
	if len(got) != 1 || strings.Contains(got[0], canary[:20]) {
		t.Errorf("the two make up a secret: %q", got)
	}
}

// Carried finds a secret that was read, even in pieces, and says where it was found.
func TestCarried(t *testing.T) {
	s := withCanary(t)
	want := []floodmark.Carried{{Rule: "floodmark-canary", Seen: true, Start: 11, End: 11 + len(canary)}}
	for _, texts := range [][]string{{canary}, {"x " + canary + " y"}, {canary[:20], canary[20:]}} {
		if got := s.Carried(texts); !slices.Equal(got, want) {
			t.Errorf("%q: %+v", texts, got)
		}
	}
	if got := s.Carried([]string{"nothing"}); got != nil {
		t.Errorf("nothing is carried: %+v", got)
	}
	refused := []floodmark.Reason{{Code: floodmark.FlowSecret, Verdict: floodmark.Restrict, Text: "it carries a secret"}}
	named := s.NameCarried(refused, want)
	if !strings.HasPrefix(named[0].Text, "it carries a secret: floodmark-canary at 11-") || refused[0].Text != "it carries a secret" {
		t.Errorf("%+v", named)
	}
}

// Files that keep secrets are looked at for a text, and not for an empty one.
func TestKeptSecrets(t *testing.T) {
	looked := 0
	s := &Session{Rules: NewRules(), Ledger: &provenance.Ledger{}, Key: provenance.RingKey{Key: provenance.Key{7}}}
	s.Kept = func() []floodmark.SecretSpan {
		looked++
		return []floodmark.SecretSpan{printed("correct-horse-battery")}
	}
	if s.Find("") != nil || s.HoldsKept("") || looked != 0 {
		t.Errorf("%d looks for nothing", looked)
	}
	if got := s.Find("say correct-horse-battery now"); len(got) != 1 || got[0].Start != 4 {
		t.Errorf("found %+v", got)
	}
	if !s.HoldsKept("say correct-horse-battery") || s.HoldsKept("say nothing") {
		t.Error("what files keep is not known again")
	}
}
