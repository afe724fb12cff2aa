package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/provenance"
)

// Follows returns the ground for a call that only reads a link which the owner asked to follow. The
// link is exactly as it was posted, so its host only learns that it was followed. The page is
// trusted as little as any other. If there is private data in the context, the owner is asked
// nevertheless, because the choice between several links can leak something.
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

// PointsAt reports whether a URL is one of the links that the owner asked to read: a record of
// their own service has the whole URL and every name by which they called the link. If they spoke
// of one link and there are two, it returns false for both, because an attacker may have put one
// there. If the argument one is set, they must have spoken of a single link: «all the links posted
// here» asks to read what anyone put there, and not to pass it on.
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

// linksTo reports whether a reading is about a URL that was seen at these places. The first place must be one of the
// links that the reading is about. Otherwise an attacker who brought in a URL elsewhere could have it read by posting
// it again.
func (s *Session) linksTo(tr *provenance.Tracer, spans []floodmark.Span, reading language.Reading) bool {
	links := s.linksOf(tr, reading.Names)
	if !slices.ContainsFunc(links, func(l provenance.Link) bool { return l.At == spans[0] }) {
		return false
	}
	return !reading.One || !slices.ContainsFunc(links, func(l provenance.Link) bool { return !slices.Contains(spans, l.At) })
}

// linksOf returns the links in records of the owner's services that have all of
// these names. A name that no record has is ignored. If none is left, there are no
// links.
func (s *Session) linksOf(tr *provenance.Tracer, names []string) []provenance.Link {
	links := tr.Links()
	named := false
	for _, name := range names {
		var have []provenance.Record
		for _, field := range slices.Concat(s.Words.Listed(), s.Words.Writers()) {
			have = append(have, s.own(tr.Records(field, name))...)
		}
		if len(have) == 0 {
			continue // no record has this name
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
