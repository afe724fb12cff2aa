package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// A secret that was found under one key is known again in a session with another,
// and one that was found under a key that is not here makes all of its content one.
func TestASecretIsKnownUnderAnotherKey(t *testing.T) {
	first, second := provenance.RingKey{Key: provenance.Key{7}}, provenance.RingKey{Name: provenance.Key{8}.Name(), Key: provenance.Key{8}}
	under := func(own provenance.RingKey, others ...provenance.RingKey) *step {
		return &step{in: Input{Key: own.Key, KeyName: own.Name, Others: others}}
	}
	print := func(st *step) floodmark.SecretSpan {
		p := st.printer()
		bare := squeezed(canary)
		return floodmark.SecretSpan{Rule: "r", Print: p.print(bare), Length: len(bare), Quick: quick(p.roll(bare))}
	}
	old, fresh := print(under(first)), print(under(second, first))
	if old != printed(canary) || strings.Contains(old.Print, printSign) {
		t.Errorf("the first key prints otherwise than before: %q", old.Print)
	}
	if !strings.HasPrefix(fresh.Print, second.Name+printSign) {
		t.Errorf("a later key prints without its name: %q", fresh.Print)
	}
	for name, c := range map[string]struct {
		st     *step
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
		p := c.st.printer()
		found := slices.ContainsFunc(readings("x "+canary), func(bare string) bool { return len(p.holds(bare, []floodmark.SecretSpan{c.secret})) > 0 })
		if found != c.known || c.st.unrecognised(c.secret) == c.known {
			t.Errorf("%s: found %v, unrecognised %v", name, found, c.st.unrecognised(c.secret))
		}
	}
	if p := under(second, first).printer(); len(p.holds(squeezed("nothing of the kind stands here"), []floodmark.SecretSpan{old, fresh})) > 0 {
		t.Error("it is found where it is not")
	}
}
