package intent

import (
	"slices"
	"strings"
	"unicode"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/language"
)

// A form is what a call writes into the fields of a page. The page names the fields. The values must
// be the owner's: words that they typed, or values that have the name of the field as a label in the
// place where they said their data is. So a page gets no password in a field for comments, and
// nothing that the owner did not offer.

// isForm reports whether an argument belongs to a form.
func isForm(about catalog.Arg) bool {
	return about.Is == catalog.IsField || about.Is == catalog.IsInput
}

// vouchForm adds the ground for one part of a form, or returns false if the part is not the owner's.
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

// Filled reports whether an argument is a part of a form that the owner's words cover, so that it is
// not free text.
func Filled(b *floodmark.Basis, i int) bool {
	return b.Licensed && slices.Contains(b.Grounds, floodmark.Ground{Argument: i, By: string(byForm)})
}

// fills reports whether a part of a form is a field of the page, or a value that the owner typed or
// offered, or that says nothing.
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

// fillsIn reports whether at least one value of a form is the owner's and says something.
func (l *licence) fillsIn() bool {
	for i, leaf := range l.call.Leaves {
		if l.call.About[i].Is == catalog.IsInput && leaf.Value != "" && !tiny(leaf.Value) && (l.typed(leaf) || l.offered(leaf, l.fieldOf(leaf))) {
			return true
		}
	}
	return false
}

// onPage reports whether the name of a field was seen on the host that gets the form.
func (l *licence) onPage(name string) bool {
	for i, leaf := range l.call.Leaves {
		if l.call.About[i].Is == catalog.IsURL {
			return SeenAt(l.s.Ledger, tokens.URLHost(leaf.Value), l.tr.Whole(name))
		}
	}
	return false
}

// fieldOf returns the name of the field that a value is for.
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

// offered reports whether a value is labelled with a word of the field's name in a place where the
// owner said that their data is.
func (l *licence) offered(leaf hook.Leaf, field string) bool {
	words := strings.FieldsFunc(strings.ToLower(field), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(l.tr.Labelled(word, leaf.Value), func(sp floodmark.Span) bool {
			return l.holds(sp.Node) == language.Mine
		})
	})
}

// holds returns whose data is in the place of a source, according to the owner's words. It returns
// Nobodys if the source is not the result of a tool.
func (l *licence) holds(n floodmark.NodeID) language.Whose {
	src, ok := l.s.Ledger.Source(n)
	if !ok || src.Origin.Kind != floodmark.FromTool || src.Origin.Place == "" {
		return language.Nobodys
	}
	return l.s.Words.Holds(l.said, src.Origin.Place)
}

// SmallNumber is the most digits of a number that is too small to contain private data.
const SmallNumber = 4

// tiny reports whether a value is too small to carry private data: a small number, a
// time of day, a date, or a date with a number or a time.
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
