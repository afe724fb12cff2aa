package intent

import (
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/language"
	"github.com/floodmark/floodmark/internal/tokens"
)

// A form is what a call writes into the fields of a page. The page says what the
// fields are called; what goes into them must be the owner's: their words, or what
// stands under that very name in the place where they said their data is. So a page
// gets no password in a field for comments, and nothing that they did not offer.

// isForm reports whether an argument belongs to a form.
func isForm(about catalog.Arg) bool {
	return about.Is == catalog.IsField || about.Is == catalog.IsInput
}

// vouchForm notes that the owner stands behind one part of a form, or reports
// that they do not.
func (l *licence) vouchForm(i int, about catalog.Arg) bool {
	if l.tr == nil {
		return slices.Contains(l.known, floodmark.Ground{Argument: i, By: string(byForm)})
	}
	if !l.fills(i, about) || !l.fillsIn() {
		return false
	}
	l.grounds = append(l.grounds, floodmark.Ground{Argument: i, By: string(byForm)})
	return true
}

// Filled reports whether an argument is a part of a form that the owner stands
// behind: then its text is no free one.
func Filled(b *floodmark.Basis, i int) bool {
	return b.Licensed && slices.Contains(b.Grounds, floodmark.Ground{Argument: i, By: string(byForm)})
}

// fills reports whether the owner stands behind one part of a form.
func (l *licence) fills(i int, about catalog.Arg) bool {
	leaf := l.call.Leaves[i]
	switch {
	case leaf.Value == "" || leaf.Kind == hook.Null || leaf.Kind == hook.Bool:
		return true
	case about.Is == catalog.IsField:
		return l.onPage(leaf.Value)
	case l.typed(leaf), tiny(leaf.Value):
		return true
	}
	return l.offered(leaf, l.fieldOf(leaf))
}

// typed reports whether the owner typed a value in this turn.
func (l *licence) typed(leaf hook.Leaf) bool { return l.turn.Has(leaf.Value, leaf.Kind, leaf.Top) }

// fillsIn reports whether a form says something of the owner's at all.
func (l *licence) fillsIn() bool {
	for i, leaf := range l.call.Leaves {
		if l.call.About[i].Is == catalog.IsInput && leaf.Value != "" && !tiny(leaf.Value) && (l.typed(leaf) || l.offered(leaf, l.fieldOf(leaf))) {
			return true
		}
	}
	return false
}

// onPage reports whether a field is one that the page has which gets the form.
func (l *licence) onPage(name string) bool {
	for i, leaf := range l.call.Leaves {
		if l.call.About[i].Is == catalog.IsURL {
			return SeenAt(l.s.Ledger, tokens.URLHost(leaf.Value), l.tr.Whole(name))
		}
	}
	return false
}

// fieldOf is the name of the field that a value goes into.
func (l *licence) fieldOf(value hook.Leaf) string {
	_, at, found := strings.Cut(value.Path, "[")
	if !found {
		return ""
	}
	for i, leaf := range l.call.Leaves {
		_, other, _ := strings.Cut(leaf.Path, "[")
		if l.call.About[i].Is == catalog.IsField && other == at {
			return leaf.Value
		}
	}
	return ""
}

// offered reports whether a value stands, under the name of the field, where the
// owner said that their data is.
func (l *licence) offered(leaf hook.Leaf, field string) bool {
	words := strings.FieldsFunc(strings.ToLower(field), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(l.tr.Labelled(word, leaf.Value), func(sp floodmark.Span) bool {
			return l.holds(sp.Node) == language.Mine
		})
	})
}

// holds is about whom the owner said that the place of a source is. Only what
// was read there counts, and nothing a page gave.
func (l *licence) holds(n floodmark.NodeID) language.Whose {
	src, ok := l.s.Ledger.Source(n)
	if !ok || src.Origin.Kind != floodmark.FromTool || src.Origin.Place == "" {
		return language.Nobodys
	}
	return l.s.Words.Holds(l.said, src.Origin.Place)
}

// SmallNumber is the length of a number that can carry nothing worth having.
const SmallNumber = 4

// tiny reports whether a value can carry nothing worth having: a small number,
// an hour, a day, or both.
func tiny(value string) bool {
	const day = len("2006-01-02")
	if len(value) >= day && value[4] == '-' && value[7] == '-' && digits(value[:4]+value[5:7]+value[8:day]) {
		if value = strings.TrimLeft(value[day:], " T"); value == "" {
			return true
		}
	}
	if hour, minute, ok := strings.Cut(value, ":"); ok && len(hour) <= 2 && len(minute) == 2 {
		value = hour + minute
	}
	return len(value) <= SmallNumber && digits(value)
}

func digits(value string) bool { return value != "" && strings.Trim(value, "0123456789") == "" }
