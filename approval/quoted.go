package approval

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// A Quoted is a value of a call that stands word for word in a source of little trust. Of what was
// read, the monitor keeps a keyed index and no text. So the only words of a source that can be
// quoted are those that came back in a call, and a quote shows no more of them than a card does.
// Nothing is kept for it. It was chosen by others, who may write to whoever decides: a display has
// to set it apart from our words, below what is known.
type Quoted struct {
	// Words are on one line, with hidden characters named.
	Words string
	// Of says where the words are, and who can write there.
	Of string
	// Argument names the argument that has them.
	Argument string
	Trust    floodmark.Trust
	// At is the byte of the source at which they begin, from 1. It is 0 if they are there in
	// pieces, or in more than one place.
	At int
	// Pieced says that they are there in pieces.
	Pieced bool
}

// The limits of quotes. A page can contain shorter values by chance.
const (
	maxQuotes      = 3
	maxQuotedWords = 300 // characters
	minQuotedWords = 6   // characters
)

// Quoted returns the values of the call that others wrote, the least trusted first. Values that a
// person must choose from are hidden in them, as everywhere on a card.
func (q Question) Quoted() (list []Quoted) {
	q = q.unpicked()
	for i, a := range q.Action.Arguments {
		value, from := q.value(i), q.note(i).From
		if a.Whence != floodmark.Seen || a.Trust >= floodmark.Local || !from.known() || q.chosen(i) || !Telling(value) || utf8.RuneCountInString(value) < minQuotedWords {
			continue
		}
		one := Quoted{
			Words: Phrase{}.quote(value, maxQuotedWords)[0].Text, Of: from.String(),
			Argument: floodmark.Shorten(floodmark.Visible(q.name(i).one), maxShownName), Trust: a.Trust, Pieced: a.Pieced,
		}
		if len(a.Spans) == 1 && !a.Pieced {
			one.At = a.Spans[0].Offset + 1
		}
		if !slices.ContainsFunc(list, func(o Quoted) bool { return o.Words == one.Words && o.Of == one.Of }) {
			list = append(list, one)
		}
	}
	slices.SortStableFunc(list, func(a, b Quoted) int { return cmp.Compare(a.Trust, b.Trust) })
	return list[:min(len(list), maxQuotes)]
}
