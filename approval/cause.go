package approval

import (
	"strings"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/meaning"
)

// A Cause is the source that best explains a question. Foreign text explains more than the output
// of a local program, and what this session read more than what an earlier session read. The zero
// Cause is unknown.
type Cause struct {
	Origin
	rank int
}

// maxRank is the best rank.
const maxRank = 4

// Take replaces the cause by a source if the source explains more.
func (c *Cause) Take(s floodmark.Source, t floodmark.Trust) {
	o := OriginOf(s, t)
	rank := 1
	if !o.Ran {
		rank += 2
	}
	if !o.Earlier {
		rank++
	}
	if rank > c.rank && o.known() {
		c.Origin, c.rank = o, rank
	}
}

// Found reports whether no other source could explain more.
func (c *Cause) Found() bool { return c.rank == maxRank }

// OriginOf returns the origin of a source as a card names it.
func OriginOf(s floodmark.Source, t floodmark.Trust) Origin {
	name := s.Origin.Name
	if s.Origin.Kind == floodmark.FromModel { // its name contains what the model read before
		return Origin{}
	}
	if s.Origin.Kind != floodmark.FromTool {
		s.Origin.Place = ""
		name, _, _ = strings.Cut(meaning.Source(s, t), " ("+t.String()+")")
	}
	o := Origin{Name: floodmark.Inert(name, maxQuotedName), Place: floodmark.Inert(s.Origin.Place, maxQuotedName), Trust: t, Earlier: len(s.Via) > 0}
	if !strings.Contains(s.Origin.Place, ".") || strings.HasPrefix(s.Origin.Place, "~") || strings.HasPrefix(s.Origin.Place, "/") {
		o.Said = floodmark.Inert(s.Said, maxQuotedName) // a folder does not name what was read in it
	}
	// The output of a program of this machine is labelled private, but a page or an issue is not.
	o.Ran = s.Said != "" && s.Label.Secrecy <= floodmark.Private && t < floodmark.Local
	return o
}

// maxQuotedName bounds a foreign name.
const maxQuotedName = 80

// Telling reports whether a value is too specific to match by chance, unlike «git push».
func Telling(value string) bool {
	return !strings.Contains(value, " ") || utf8.RuneCountInString(value) >= telling
}

// telling is the length from which a text with spaces is unlikely to match by chance.
const telling = 24
