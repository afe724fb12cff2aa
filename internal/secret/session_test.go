package secret

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/provenance"
)

const canary = "floodmark-canary-4k7q1z9m3x8v5c2b6n0w7r1t"

// printed is a secret as a fact keeps it.
func printed(secret string) floodmark.SecretSpan {
	p := redact.NewPrinter(provenance.RingKey{Key: provenance.Key{7}}, nil)
	return p.Span(redact.Span{Rule: "r"}, secret)
}

// A secret that was printed under one key is recognised in a session that has this key
// among its others. A secret that was printed under a missing key is not, so that all of
// its content is secret.
func TestASecretIsKnownUnderAnotherKey(t *testing.T) {
	first, second := provenance.RingKey{Key: provenance.Key{7}}, provenance.RingKey{Name: provenance.Key{8}.Name(), Key: provenance.Key{8}}
	under := func(own provenance.RingKey, others ...provenance.RingKey) *Session {
		return &Session{Key: own, Others: others}
	}
	print := func(s *Session) floodmark.SecretSpan {
		p := s.Printer()
		return p.Span(redact.Span{Rule: "r"}, canary)
	}
	old, fresh := print(under(first)), print(under(second, first))
	if old != printed(canary) || strings.Contains(old.Print, ":") {
		t.Errorf("the first key prints otherwise than before: %q", old.Print)
	}
	if !strings.HasPrefix(fresh.Print, second.Name+":") {
		t.Errorf("a later key prints without its name: %q", fresh.Print)
	}
	for name, c := range map[string]struct {
		s      *Session
		secret floodmark.SecretSpan
		known  bool
	}{
		"an old one, by the first key":          {under(first, second), old, true},
		"an old one, by the second key":         {under(second, first), old, true},
		"a new one, by the second key":          {under(second, first), fresh, true},
		"a new one, by the first key":           {under(first, second), fresh, true},
		"a new one, where only the first is":    {under(first), fresh, false},
		"an old one, where only the second is":  {under(second), old, false},
		"a new one, by a third without the two": {under(provenance.RingKey{Name: "x", Key: provenance.Key{9}}), fresh, false},
	} {
		p := c.s.Printer()
		found := slices.ContainsFunc(redact.Readings("x "+canary), func(bare string) bool { return len(p.Holds(bare, []floodmark.SecretSpan{c.secret})) > 0 })
		if found != c.known || c.s.unrecognised(c.secret) == c.known {
			t.Errorf("%s: found %v, unrecognised %v", name, found, c.s.unrecognised(c.secret))
		}
	}
	if p := under(second, first).Printer(); len(p.Holds(redact.Squeezed("nothing of the kind stands here"), []floodmark.SecretSpan{old, fresh})) > 0 {
		t.Error("it is found where it is not")
	}
}

func TestFoundSecretsAreBounded(t *testing.T) {
	s := &Session{Rules: NewRules(), Key: provenance.RingKey{Key: provenance.Key{7}}}
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s%04d\n", canary[:len(canary)-4], i)
		}
		return b.String()
	}
	if got := s.Find(many(MaxFound)); len(got) != MaxFound || slices.ContainsFunc(got, unprinted) {
		t.Errorf("%d secrets at the limit: %v", len(got), got[0])
	}
	got := s.Find(many(MaxFound + 1))
	if len(got) != 1 || got[0].Rule != "many" || got[0].Start != 0 || got[0].End != (MaxFound+1)*(len(canary)+1)-1 || !unprinted(got[0]) {
		t.Errorf("one more: %v", got)
	}
	if got := s.Find("nothing to see"); got != nil {
		t.Errorf("found %v", got)
	}
	if got := s.Find("x " + canary); len(got) != 1 || got[0].Start != 2 || got[0].End != 2+len(canary) || got[0].Length != len(canary)-2 ||
		got[0] != func() floodmark.SecretSpan {
			want := printed(canary)
			want.Rule, want.Start, want.End = "floodmark-canary", 2, 2+len(canary)
			return want
		}() {
		t.Errorf("found %+v", got)
	}
	// Without rules of ours everything is secret; too little of it to print.
	blind := &Session{}
	if got := blind.Find("abc1234"); len(got) != 1 || !unprinted(got[0]) || got[0].End != 7 {
		t.Errorf("%v", got)
	}
	if got := blind.Find("abc12345"); len(got) != 1 || unprinted(got[0]) {
		t.Errorf("%v", got)
	}
}
