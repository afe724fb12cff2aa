package mcppins

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// skeleton returns what a name looks like at a glance: without case, separators, accents and
// invisible characters, and with one letter for all letters that look alike. Two names with the
// same skeleton can be mistaken for each other.
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

// mixed reports whether a name of Latin letters also has letters of another alphabet that look like
// no Latin letter.
func mixed(name string) bool {
	plain, other := false, false
	for _, r := range tokens.Normalise(name) {
		plain = plain || r >= 'a' && r <= 'z'
		other = other || r > unicode.MaxASCII && unicode.IsLetter(r)
	}
	return plain && other
}

// builtins holds the skeletons of agents' own tools that reach files, commands and addresses, and
// the catalog, which lists the tools of known servers.
type builtins struct {
	agent map[string]string // skeleton to «Bash of claude-code»
	cat   *catalog.Catalog
}

// knownBuiltins returns a function that reads the builtins from the shipped catalog on its first
// call.
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

// reaches reports whether a tool has an argument that is a path, a patch, a command or an address,
// and sends nothing to people. Tools that send are left out because names such as send_email are
// common.
func reaches(p *catalog.Profile) bool {
	if slices.Contains(p.Effects(), floodmark.Send) {
		return false
	}
	return slices.ContainsFunc(p.ArgNames(), func(name string) bool {
		a, _ := p.Arg(name)
		return slices.Contains([]string{catalog.IsPath, catalog.IsPatch, catalog.IsCommand, catalog.IsURL}, a.Is)
	})
}

// expected reports whether the catalog lists this tool under exactly this name for the server. The
// owner named the server so, and expects its tools.
func (k builtins) expected(server, name string) bool {
	_, known := k.cat.Lookup(floodmark.ToolRef{Server: server, Name: name})
	return known && !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
}
