package language

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// Whose says whose personal data is in a place, by the owner's words.
type Whose uint8

// Whose data it can be.
const (
	Nobodys Whose = iota // the owner did not say
	Theirs               // «her address is in …»
	Mine                 // «my account information is in …»
)

// maxHolding bounds the words between the words for personal data and the place of the data.
const maxHolding = 12

// Holds returns whose personal data the owner said is in a file, or in the folder
// of the file: «you can find my email in /home/ada/me.txt». Only then does a
// label such as «email» in the file say whose email it is.
func (l *Lexicon) Holds(said []string, place string) Whose {
	g := l.grammar()
	for _, text := range said {
		items := readItems(typed(text))
		for i, it := range items {
			if it.Kind != tokens.Path || !it.clean || !within(it.raw, place) {
				continue
			}
			if w := g.holding(items[:i]); w != Nobodys {
				return w
			}
		}
	}
	return Nobodys
}

// within reports whether a place is this folder or is below it.
func within(folder, place string) bool {
	folder = strings.TrimSuffix(folder, "/")
	if len(folder) < 2 || folder[0] != '/' && folder[0] != '~' {
		return false
	}
	place = path.Clean(place)
	return place == folder || strings.HasPrefix(place, folder+"/")
}

// holding looks back from a place for the words that say whose data is there.
func (g *grammar) holding(items []item) Whose {
	data, found := false, Nobodys
	for i, it := range slices.Backward(items) {
		if i+1 < len(items) && items[i+1].sentence {
			break
		}
		word := wordOf(it)
		switch {
		case g.denies(word):
			return Nobodys
		case found != Nobodys || i < len(items)-maxHolding:
		case g.Personal.has(word):
			data = true
		case !data:
		case g.Mine.has(word):
			found = Mine
		case g.Theirs.has(word):
			found = Theirs
		}
	}
	return found
}

// denies reports whether a word may turn what is said into its opposite.
func (g *grammar) denies(word string) bool {
	return g.Denies.has(word) || word == "not" || word == "no" || word == "except" || strings.HasSuffix(word, "n't")
}
