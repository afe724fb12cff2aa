package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/language"
	"github.com/floodmark/floodmark/provenance"
)

// Follows returns what vouches for a call that only reads a link which the owner asked to follow. Such a link is
// whole as it was posted, before the agent knew anything, so it carries nothing away but that it was followed. What
// comes back is trusted as little as any page. With private data in the context the owner is asked all the same:
// which of several links is followed can tell something.
func (s *Session) Follows(c *Call, tr *provenance.Tracer) []floodmark.Ground {
	if !slices.Equal(c.Effects, []floodmark.Effect{floodmark.Fetch}) {
		return nil
	}
	at := -1
	for i, leaf := range c.Leaves {
		switch {
		case leaf.Value == "":
		case at >= 0 || c.About[i].Is != catalog.IsURL:
			return nil
		default:
			at = i
		}
	}
	if at < 0 || !s.PointsAt(tr, c.Leaves[at].Value, c.Arguments[at], false) {
		return nil
	}
	return []floodmark.Ground{{Argument: at, By: string(byLinked)}}
}

// PointsAt reports whether a URL is one of the links that the owner asked to read: it stands, whole, in a record
// of a service of theirs that has every name they called it by. If they spoke of one link and there are two, neither
// counts, as an attacker may have put one there. If one is set, only a link counts that the owner spoke of as
// one: «all the links posted here» asks to read what anyone put there, not to pass it on.
func (s *Session) PointsAt(tr *provenance.Tracer, url string, a floodmark.Argument, one bool) bool {
	if a.Whence != floodmark.Seen || a.Pieced || tr.Index == nil {
		return false
	}
	spans := tr.Whole(url)
	if len(spans) == 0 {
		return false
	}
	for _, text := range s.thisTurn() {
		for _, r := range s.requests(text) {
			reading, ok := r.Reads()
			if ok && (reading.One || !one) && s.linksTo(tr, spans, reading) {
				return true
			}
		}
	}
	return false
}

// linksTo reports whether a reading is about a URL that was seen at these places. The first of them must be a link
// it speaks of: an attacker who brought a URL in earlier, elsewhere, must not have it read by posting it again.
func (s *Session) linksTo(tr *provenance.Tracer, spans []floodmark.Span, reading language.Reading) bool {
	links := s.linksOf(tr, reading.Names)
	if !slices.ContainsFunc(links, func(l provenance.Link) bool { return l.At == spans[0] }) {
		return false
	}
	return !reading.One || !slices.ContainsFunc(links, func(l provenance.Link) bool { return !slices.Contains(spans, l.At) })
}

// linksOf returns the links in records of the owner's services that have all of
// these names, of which there must be one.
func (s *Session) linksOf(tr *provenance.Tracer, names []string) []provenance.Link {
	links := tr.Links()
	named := false
	for _, name := range names {
		var have []provenance.Record
		for _, field := range slices.Concat(s.Words.Listed(), s.Words.Writers()) {
			have = append(have, s.own(tr.Records(field, name))...)
		}
		if len(have) == 0 {
			continue // not what a record is called by
		}
		named = true
		links = slices.DeleteFunc(links, func(l provenance.Link) bool { return !slices.Contains(have, l.Record) })
	}
	if !named {
		return nil
	}
	return links
}

// PointedAt reports whether an argument is a link that the owner asked to read.
func PointedAt(b *floodmark.Basis, argument int) bool {
	return slices.Contains(b.Grounds, floodmark.Ground{Argument: argument, By: string(byLinked)})
}
