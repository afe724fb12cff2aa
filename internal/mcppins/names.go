package mcppins

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/tokens"
)

// skeleton returns what a name looks like at a glance: without case, separators, accents and
// invisible characters, with one letter for those that look alike. Two names with one skeleton can
// be mistaken for each other.
func skeleton(name string) string {
	var b strings.Builder
	for _, r := range tokens.Normalise(name) {
		switch {
		case r == '0':
			b.WriteByte('o')
		case r == '1' || r == 'i' || r == '|' || r == 'ı':
			b.WriteByte('l')
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("rn", "m", "vv", "w").Replace(b.String())
}

// mixed reports a name of Latin letters with letters of another alphabet among them that look like
// none of them.
func mixed(name string) bool {
	plain, other := false, false
	for _, r := range tokens.Normalise(name) {
		plain = plain || r >= 'a' && r <= 'z'
		other = other || r > unicode.MaxASCII && unicode.IsLetter(r)
	}
	return plain && other
}

// builtins are the skeletons of agents' tools that reach files, commands and addresses, and the
// tools that known servers are known for.
type builtins struct {
	agent map[string]string // skeleton to «Bash of claude-code»
	cat   *catalog.Catalog
}

// knownBuiltins reads them from the shipped catalog when first asked.
func knownBuiltins() func() (builtins, error) {
	return sync.OnceValues(func() (builtins, error) {
		cat, err := catalog.Shipped()
		if err != nil {
			return builtins{}, err
		}
		known := builtins{agent: map[string]string{}, cat: cat}
		for _, p := range cat.Profiles() {
			if len(p.Agents()) == 0 || !reaches(p) {
				continue
			}
			for _, name := range p.Tools() {
				if k := skeleton(name); known.agent[k] == "" && !strings.HasSuffix(name, "*") {
					known.agent[k] = name + " of " + p.Agents()[0]
				}
			}
		}
		return known, nil
	})
}

// reaches reports a tool whose arguments are a path, a patch, a command or an address, and that
// sends nothing to people: names such as send_email are common.
func reaches(p *catalog.Profile) bool {
	if slices.Contains(p.Effects(), floodmark.Send) {
		return false
	}
	return slices.ContainsFunc(p.ArgNames(), func(name string) bool {
		a, _ := p.Arg(name)
		return slices.Contains([]string{catalog.IsPath, catalog.IsPatch, catalog.IsCommand, catalog.IsURL}, a.Is)
	})
}

// expected reports a tool that a known server is known for, under exactly this name: the owner who
// named the server so expects it.
func (k builtins) expected(server, name string) bool {
	_, known := k.cat.Lookup(floodmark.ToolRef{Server: server, Name: name})
	return known && !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
}
