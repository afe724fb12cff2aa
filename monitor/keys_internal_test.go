package monitor

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/provenance"
)

// The names and the key under which a session's artifacts are stored: a node without that key finds
// one under a name it knows, unless all nodes have the key.
func TestWhereWordsLie(t *testing.T) {
	key := func(n byte, former bool) provenance.RingKey {
		k := provenance.RingKey{Key: provenance.Key{n}, Former: former}
		if n > 1 {
			k.Name = k.Key.Name()
		}
		return k
	}
	spell := func(list ...provenance.RingKey) string {
		var b strings.Builder
		for _, k := range list {
			b.WriteByte('0' + k.Key[0])
		}
		return b.String()
	}
	for what, c := range map[string]struct {
		former  string
		own     byte
		current int
		sealed  string
		places  string
	}{
		"the first of two":                   {"", 1, 1, "1", "1"},
		"the second of two":                  {"", 2, 1, "2", "21"},
		"the second, not current here":       {"", 2, 0, "2", "21"},
		"the second, the first is former":    {"1", 2, 1, "2", "2"},
		"born with a former one":             {"1", 1, 1, "2", "2"},
		"the third of three":                 {"", 3, 2, "3", "312"},
		"the third, the first is former":     {"1", 3, 2, "3", "32"},
		"the second of three":                {"", 2, 2, "2", "21"},
		"born with the first of two former":  {"12", 1, 2, "3", "3"},
		"born with the second of two former": {"12", 2, 2, "3", "3"},
	} {
		ring := provenance.Ring{Current: c.current}
		for n := byte(1); n <= 3; n++ {
			ring.Keys = append(ring.Keys, key(n, strings.Contains(c.former, string(rune('0'+n)))))
		}
		own, _ := ring.Find(key(c.own, false).Name)
		k, err := keysOf(ring, &kernel.State{Opened: true, Key: own.Name})
		if err != nil {
			t.Fatal(err)
		}
		if got := k.seals(); spell(got) != c.sealed || spell(k.places(got)...) != c.places {
			t.Errorf("%s: sealed with %s, under %s; want %s, %s", what, spell(got), spell(k.places(got)...), c.sealed, c.places)
		}
	}
}

func TestIndexesOfTwoKeysLieApart(t *testing.T) {
	d := floodmark.DigestOf("a page")
	if postingsName(provenance.RingKey{Key: provenance.Key{1}}, d) != d {
		t.Error("the first key's lie elsewhere than before")
	}
	names := map[floodmark.Digest]bool{}
	for _, name := range []string{"", "a", "b"} {
		key := provenance.RingKey{Name: name, Key: provenance.Key{byte(len(names))}}
		for _, text := range []string{"a page", "another"} {
			names[postingsName(key, floodmark.DigestOf(text))] = true
		}
	}
	if len(names) != 6 {
		t.Errorf("%d names for 6 indexes", len(names))
	}
}
