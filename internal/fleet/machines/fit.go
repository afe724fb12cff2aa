package machines

import (
	"slices"
	"strconv"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/wire"
)

// Unfit says why an answer does not fit the question as it was shown; empty if it fits.
func Unfit(q *wire.Question, r *wire.AnswerRequest) string {
	approve := r.GetVerb() == "approve"
	switch {
	case approve && q.GetTwo():
		return "It takes two people at that machine: a fleet can only deny it."
	case approve && (int(r.GetCalls()) != len(q.GetCalls()) || r.GetCalls() == 0):
		return "The question has changed: look at it again."
	case approve && r.GetSeen() != "" && r.GetSeen() != q.GetSeen():
		return "The question has changed: look at it again."
	case approve && unnamed(q, r):
		return "It also wants to hear the place it goes to: say it with --to."
	case r.GetMinutes() != 0:
		return "At a laptop of the fleet an approval has no time of its own: leave it out, or take an offer."
	case r.GetOffer() != 0 && (len(q.GetCalls()) != 1 || int(r.GetOffer()) > len(q.GetCalls()[0].GetOffers())):
		return "There is no such offer."
	case len(r.GetPicked()) > approval.MaxCommandBytes:
		return "That is too long for a place."
	}
	return ""
}

// Fits reports whether a stored answer fits the question as it is now. A denial always fits. An
// approval fits only if it is for what is shown.
func Fits(q *wire.Question, a *wire.FleetAnswer) bool {
	if a.GetTicket() != q.GetTicket() || a.GetSession() != q.GetSession() {
		return false
	}
	switch a.GetVerb() {
	case "deny":
		return true
	case "approve":
		return Unfit(q, &wire.AnswerRequest{Verb: "approve", Calls: a.GetCalls(), Offer: a.GetOffer(), Picked: a.GetPicked(), Tool: a.GetTool(), Seen: a.GetSeen()}) == ""
	}
	return false
}

// Slot returns the name under which the answer to a question is stored. Only the first answer under
// a name is kept. A question that has changed has another name.
func Slot(q *wire.Question) string {
	version := q.GetSeen()
	if version == "" { // the laptop does not send it
		version = strconv.Itoa(len(q.GetCalls()))
	}
	return q.GetTicket() + "#" + floodmark.DigestOf(version).String()
}

// unnamed reports whether an approval of everything that is shown lacks a place that has to be
// named. For an approval of one tool among several, the laptop checks this itself.
func unnamed(q *wire.Question, r *wire.AnswerRequest) bool {
	return r.GetPicked() == "" && (r.GetTool() == "" || r.GetTool() == approval.All) &&
		slices.ContainsFunc(q.GetCalls(), func(c *wire.AskedCall) bool { return c.GetPick() != nil })
}
