// Package askedcall puts one call of a question on the wire, as every screen shows it.
package askedcall

import (
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/wire"
)

// Fill describes a call of a question. The sources have the trust that the owner's endorsements give them.
func Fill(call *wire.AskedCall, q approval.Question, by []floodmark.Endorsed) {
	call.Action, call.Line, call.Pattern = wire.FromAction(q.Action), q.Line, q.Pattern
	call.Asked, call.Source, call.Consequence, call.Card = q.Asked, q.Source, q.Consequence, q.Lines()
	b := q.Brief()
	call.What, call.Why, call.More, call.Lost = b.What.String(), b.Why.String(), b.More, int32(min(b.Lost, 1<<30))
	if q.Pick != nil {
		call.Pick = &wire.Pick{Argument: strings.Join(append([]string{q.Pick.Argument}, q.Pick.Others...), ", "), Among: q.Pick.Among, Words: q.Pick.Words}
	}
	for _, one := range q.Quoted() {
		call.Quotes = append(call.Quotes, &wire.Quote{Words: one.Words, Of: one.Of, Argument: one.Argument, Trust: one.Trust.String(), At: int64(one.At), Pieced: one.Pieced})
	}
	for _, src := range q.Sources {
		call.Sources = append(call.Sources, wire.FromSource(src))
	}
	wire.Endorse(call.Sources, by)
	if q.Push.Reviewed() {
		call.Diff = q.Push.Body
	}
	call.Trustable = Trustable(call).GetDigest()
}

// maxNamed is the length up to which a question's list of sources is complete; a longer list may
// have been cut.
const maxNamed = 2

// Trustable returns the source that a person may trust beside a question, or nil. It must be the only
// source, the reason must name it, and it must have come in as [floodmark.Shared]. A source that
// strangers or people outside wrote is trusted by its digest only, not beside a question that the
// source caused.
func Trustable(call *wire.AskedCall) *wire.Source {
	list, shared := call.GetSources(), floodmark.Shared.String()
	if len(list) == 0 || len(list) > maxNamed || call.GetMark().GetTrust() != shared {
		return nil
	}
	src := list[0]
	for _, other := range list {
		if other.GetDigest() != src.GetDigest() || other.GetLabel().GetTrust() != shared {
			return nil
		}
	}
	name := SourceName(src)
	if src.GetDigest() == "" || name == "" || !strings.Contains(call.GetWhy(), name) {
		return nil
	}
	return src
}

// SourceName returns a source as a card names it; empty if a card cannot name it.
func SourceName(src *wire.Source) string {
	return approval.OriginOf(floodmark.Source{Origin: wire.ToOrigin(src.GetOrigin())}, floodmark.Shared).String()
}

// Offers puts the approvals to choose from on the wire.
func Offers(list []floodmark.Offer) []*wire.Offer {
	out := make([]*wire.Offer, len(list))
	for i, o := range list {
		out[i] = &wire.Offer{Words: o.Words, Scope: string(o.Scope), Pattern: o.Pattern, Minutes: int32(min(o.For, approval.HereFor) / time.Minute)}
	}
	return out
}

// Codes puts the reasons of a question on the wire.
func Codes(list []floodmark.Code) []string {
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = string(c)
	}
	return words
}
