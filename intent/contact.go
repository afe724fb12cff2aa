package intent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/internal/text/openhost"
	"github.com/floodmark/floodmark/provenance"
)

// contact reports whether a value is the address of a recipient whom the owner
// named. The address must be in a record of their own service that is trusted at
// least as much as their own files, so that others did not write it. It returns
// false if a record without this address has the same name, because the owner may
// have meant that one.
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

// paid reports whether the owner has paid an account before and means it now. They mean it if a
// clause that asks says «them» without a target, and each of their payments that has a name from
// this turn went to this account. Only payments that are from the owner's account in the records of
// their bank are considered, because a stranger who sends them money can write any name into the
// record.
func (l *licence) paid(account string) bool {
	have := l.s.own(l.tr.Records("recipient", account))
	about := l.spent()
	if len(have) == 0 || len(about) == 0 || !l.points() {
		return false
	}
	return !slices.ContainsFunc(about, func(r provenance.Record) bool { return !slices.Contains(have, r) })
}

// spent returns the owner's payments that have a name they called in this turn.
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

// paysKnown reports whether the call has a recipient and all its recipients are accounts for which
// [licence.paid] is true.
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

// site reports whether the owner sent the agent to an address. They must have named its host in
// this turn, and the address must be that host alone or a link that was seen only on that host, so
// that no author elsewhere made it. A link on a host where strangers write is not enough, because a
// stranger may have made it.
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

// SeenAt reports whether one of the places is in content that came from a host.
func SeenAt(l *provenance.Ledger, host string, spans []floodmark.Span) bool {
	return slices.ContainsFunc(spans, func(sp floodmark.Span) bool {
		src, ok := l.Source(sp.Node)
		return ok && src.Origin.Place == host
	})
}
