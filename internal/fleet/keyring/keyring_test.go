package keyring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/fleetbooks"
	"github.com/floodmark/floodmark/provenance"
)

// acme are keys of the tenant acme as its lines say: a digit for each key, behind it
// c for current and f for former; 0 follows from index.key.
func acme(lines string) config.Keys {
	var list config.TenantKeys
	for _, word := range strings.Fields(lines) {
		k := config.TenantKey{ID: "k" + word[:1], Key: provenance.Key{word[0] - '0'}, Derived: word[0] == '0'}
		if k.Derived {
			k.Key = provenance.Key{}
		}
		switch word[1:] {
		case "c":
			k.Use = config.CurrentKey
		case "f":
			k.Use = config.FormerKey
		}
		list = append(list, k)
	}
	keys := config.Keys{Index: provenance.Key{99}}
	if len(list) > 0 {
		keys.Tenants = map[string]config.TenantKeys{"acme": list}
	}
	return keys
}

// spelled is a ring in letters: each key with f for former, c for current, and a
// star for the one that has no name.
func spelled(r provenance.Ring) string {
	var words []string
	for i, k := range r.Keys {
		word := fmt.Sprint(k.Key[0])
		if k.Key[1] != 0 || k.Key[2] != 0 {
			word = "0"
		}
		if k.Former {
			word += "f"
		}
		if i == r.Current {
			word += "c"
		}
		if k.Name == "" {
			word += "*"
		} else if k.Name != k.Key.Name() {
			word += "?"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// Nodes are started one after the other over one database, each with the lines that
// are given; of each it is said which ring it has, or why it refuses the tenant.
func TestKeysOfATenantChange(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][][2]string{
		"step by step": {
			{"1", "1c*"}, {"1c 2", "1c* 2"}, {"1 2c", "1* 2c"}, {"1c 2", "1c* 2"}, {"1f 2c", "1f* 2c"}, {"1f 2c 3", "1f* 2c 3"}, {"1f 2 3c", "1f* 2 3c"}, {"1f 2f 3c", "1f* 2f 3c"},
		},
		"from the one that follows from index.key": {
			{"", "0c*"}, {"0c 1", "0c* 1"}, {"1c", "0* 1c"}, {"0f 1c", "0f* 1c"}, {"", `"k1", which is not in tenants.keys`},
		},
		"a line that says nothing changes no key": {{"", "0c*"}, {"1", "index.key"}, {"1c", "0* 1c"}},
		"a new database":                      {{"1 2c", "1 2c*"}, {"2", "2c*"}, {"2 3c", "2* 3c"}},
		"a node that has not got the new key": {{"1", "1c*"}, {"1 2c", "1* 2c"}, {"1", `"k2", which is not in tenants.keys`}, {"1 2c", "1* 2c"}},
		"one that was never used may go":      {{"1", "1c*"}, {"1c 2", "1c* 2"}, {"1", "1c*"}},
		"the first is taken out":              {{"1", "1c*"}, {"1 2c", "1* 2c"}, {"2", `"k1", which is not in tenants.keys`}, {"2 3c", `"k1", which`}},
		"in the wrong order":                  {{"1", "1c*"}, {"2c 1", "put the oldest first"}, {"1 2c", "1* 2c"}, {"2 1c", "put the oldest first"}, {"1 3c 2", "put the oldest first"}},
		"another one behind it":               {{"1", "1c*"}, {"3 2c", `"k1", which`}},
	} {
		book := &pageOfPrints{}
		for i, step := range steps {
			d := nodeWith(book, acme(step[0]), "acme", "other")
			if err := d.Agree(t.Context()); err != nil {
				t.Fatal(err)
			}
			ring, err := d.Ring("acme")
			got := spelled(ring)
			if err != nil {
				got = err.Error()
			}
			if got != step[1] && (err == nil || !strings.Contains(got, step[1])) {
				t.Errorf("%s, step %d, lines %q: %s, want %s", name, i, step[0], got, step[1])
			}
			if _, err := d.Key("other"); err != nil {
				t.Errorf("%s, step %d: another tenant: %v", name, i, err)
			}
			if said := d.Refusals(); (said == "") != (err == nil) {
				t.Errorf("%s, step %d: a load balancer is told %q", name, i, said)
			}
		}
	}
}

// A tenant's first key stays what it is: it draws who has which bundle.
func TestTheFirstKeyStays(t *testing.T) {
	book := &pageOfPrints{}
	for _, lines := range []string{"1", "1c 2", "1 2c", "1f 2c"} {
		d := nodeWith(book, acme(lines), "acme")
		if err := d.Agree(t.Context()); err != nil {
			t.Fatal(err)
		}
		if key, err := d.Key("acme"); err != nil || key != (provenance.Key{1}) {
			t.Errorf("%s: %v", lines, err)
		}
	}
}

// A running node refuses a tenant once another node uses a key that it lacks, says so, and answers
// all other tenants.
func TestANodeThatRunsHearsOfANewKey(t *testing.T) {
	book := &pageOfPrints{}
	behind, ahead, held := nodeWith(book, acme("1"), "acme", "other"), nodeWith(book, acme("1 2c"), "acme"), nodeWith(book, acme("1c 2"), "acme")
	for _, d := range []*node{behind, held, ahead} {
		if err := d.Agree(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := behind.Key("acme"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, d := range []*node{behind, held, ahead} {
			d.Look(t.Context())
		}
	}
	if _, err := behind.Ring("acme"); err == nil || !strings.Contains(err.Error(), `"k2"`) {
		t.Errorf("it goes on: %v", err)
	}
	if lines := behind.said; len(lines) != 1 || !strings.Contains(lines[0], `"k2"`) {
		t.Errorf("it says %q", lines)
	}
	if text := behind.Refusals(); text != "but 1 tenant is refused here: a key of it is missing" {
		t.Errorf("a load balancer is told %q", text)
	}
	for _, d := range []*node{held, ahead} {
		if _, err := d.Ring("acme"); err != nil {
			t.Errorf("a node with both keys refuses: %v", err)
		}
	}
	if _, err := behind.Ring("other"); err != nil {
		t.Error(err)
	}
}

// What is written down of a tenant's keys is whole, or the tenant is refused.
func TestFingerprintsThatAreDamaged(t *testing.T) {
	whole := func() *pageOfPrints {
		book := &pageOfPrints{}
		for _, lines := range []string{"1", "1 2c"} {
			if err := nodeWith(book, acme(lines), "acme").Agree(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		return book
	}
	for name, c := range map[string]struct {
		damage func(*pageOfPrints)
		want   string
	}{
		"the first is gone": {func(b *pageOfPrints) { b.rows = b.rows[3:] }, "first key of tenant \"acme\" is gone"},
		"two first ones":    {func(b *pageOfPrints) { b.rows = append(b.rows, fleetbooks.Print{Name: "tenant acme"}) }, "different first keys"},
		"a third that is not here": {func(b *pageOfPrints) {
			b.rows = append(b.rows, fleetbooks.Print{Name: "tenant acme key 0123456789abcdef", ID: "k9", Print: [32]byte{9}})
		}, `"k9"`},
	} {
		book := whole()
		c.damage(book)
		d := nodeWith(book, acme("1 2c"), "acme")
		_ = d.Agree(t.Context())
		if _, err := d.Ring("acme"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := whole()
	other.rows = append(other.rows, fleetbooks.Print{Name: "tenant acmeltd key 0123456789abcdef", ID: "k9", Print: [32]byte{9}})
	d := nodeWith(other, acme("1 2c"), "acme")
	if err := d.Agree(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Ring("acme"); err != nil {
		t.Errorf("keys of another tenant count: %v", err)
	}
}

// A database that does not answer changes nothing: it takes no writes either.
func TestKeysThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := nodeWith(unreadable{}, acme("1"), "acme")
	d.Look(t.Context())
	if _, err := d.Ring("acme"); err != nil {
		t.Error(err)
	}
	if err := d.Agree(t.Context()); err == nil {
		t.Error("a node started without having compared its keys")
	}
}

type unreadable struct{}

func (unreadable) Agree(context.Context, []fleetbooks.Print) ([]fleetbooks.Print, error) {
	return nil, nil
}

func (unreadable) Recorded(context.Context, string) ([]fleetbooks.Print, error) {
	return nil, errors.New("no answer")
}
