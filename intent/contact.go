package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/address"
	"github.com/floodmark/floodmark/internal/language"
	"github.com/floodmark/floodmark/internal/openhost"
	"github.com/floodmark/floodmark/internal/tokens"
	"github.com/floodmark/floodmark/provenance"
)

// contact reports whether a value is the address of a recipient whom the owner
// named, in an address book of their own that others do not write into: content
// trusted as much as their own files. If two records have that name, it is not
// known which one they meant.
func (l *licence) contact(a floodmark.Argument, leaf hook.Leaf) bool {
	if a.Whence != floodmark.Seen || a.Trust < floodmark.Local || !tokens.Reaches(leaf.Value) {
		return false
	}
	var have []provenance.Record
	for _, field := range [...]string{"email", "mail", "address", "phone"} {
		have = append(have, l.s.own(l.tr.Records(field, leaf.Value))...)
	}
	have = slices.DeleteFunc(have, func(r provenance.Record) bool { return l.tr.Ledger.Effective(r.Node).Trust < floodmark.Local })
	if len(have) == 0 {
		return false
	}
	other := func(r provenance.Record) bool { return !slices.Contains(have, r) }
	for _, text := range l.said {
		for _, name := range l.s.Words.Titles(text) {
			called := l.s.own(l.tr.Records("name", name))
			if len(called) > 0 && !slices.ContainsFunc(called, other) && l.gets(name, leaf.Top) {
				return true
			}
		}
	}
	return false
}

// gets reports whether a clause in which the owner asks has this name as a
// recipient.
func (l *licence) gets(name, role string) bool {
	return slices.ContainsFunc(l.asked.wanted, func(r *language.Request) bool { return r.HasAsTarget(name, hook.String, role) })
}

// paid reports whether money would go to an account that the owner has paid
// before, and means. Their bank says that the money came from them, so that they
// wrote the text of the record, and every payment of theirs that has a name they
// called went to the same account. A stranger who sends them money can write
// that name too, but not from the owner's account.
func (l *licence) paid(account string) bool {
	have := l.s.own(l.tr.Records("recipient", account))
	about := l.spent()
	if len(have) == 0 || len(about) == 0 || !l.points() {
		return false
	}
	return !slices.ContainsFunc(about, func(r provenance.Record) bool { return !slices.Contains(have, r) })
}

// spent are the owner's payments that have a name they called in this turn.
func (l *licence) spent() []provenance.Record {
	var out, about []provenance.Record
	for _, who := range [...]string{"me", "you", "self"} {
		out = append(out, l.s.own(l.tr.Records("sender", who))...)
	}
	for _, name := range l.turn.Names() {
		for _, r := range l.s.own(l.tr.RecordsWith(name)) {
			if slices.Contains(out, r) {
				about = append(about, r)
			}
		}
	}
	return about
}

// points reports whether a clause that asks says «them» and names no target.
func (l *licence) points() bool {
	return slices.ContainsFunc(l.asked.wanted, func(r *language.Request) bool { return !r.NamesTarget() && r.Points() })
}

// paysKnown reports whether money goes only to accounts that the owner has paid
// before, and means.
func (l *licence) paysKnown() bool {
	known := false
	for i, leaf := range l.call.Leaves {
		if l.call.About[i].Is != catalog.IsDestination || leaf.Value == "" {
			continue
		}
		if !l.paid(leaf.Value) {
			return false
		}
		known = true
	}
	return known
}

// site reports whether an address is one the owner sent the agent to. They named
// its host in this turn, and it is that host alone, or a link that was seen only
// on that host. An author elsewhere cannot make such a link. It does not count on
// a host where strangers write, since any link there may be theirs.
func (l *licence) site(leaf hook.Leaf) bool {
	host := tokens.URLHost(leaf.Value)
	if host == "" || !address.OfOneHost(leaf.Value) || !l.turn.HasHost(host) {
		return false
	}
	if address.OnlyHost(leaf.Value, host) {
		return true
	}
	spans := AddressSpans(l.tr, leaf.Value)
	return !openhost.Is(host) && len(spans) > 0 && !slices.ContainsFunc(spans, func(sp floodmark.Span) bool {
		src, ok := l.s.Ledger.Source(sp.Node)
		return !ok || src.Origin.Place != host
	})
}

// AddressSpans returns where an address was seen as a whole, with its scheme or
// without it.
func AddressSpans(tr *provenance.Tracer, raw string) []floodmark.Span {
	for _, form := range address.Forms(raw) {
		if spans := tr.Whole(form); len(spans) > 0 {
			return spans
		}
	}
	return nil
}

// SeenAt reports whether one of the places is a result of a host.
func SeenAt(l *provenance.Ledger, host string, spans []floodmark.Span) bool {
	return slices.ContainsFunc(spans, func(sp floodmark.Span) bool {
		src, ok := l.Source(sp.Node)
		return ok && src.Origin.Place == host
	})
}
