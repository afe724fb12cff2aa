package kernel

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// How long the wider offers hold: the same call, the same sort of call, and what
// is said to hold for the session.
const (
	offerAgain   = 30 * time.Minute
	offerHours   = 2 * time.Hour
	offerSession = approval.MaxFor
)

// offers are the approvals a question offers, the narrowest first: at most
// [approval.MaxOffers]. They are computed from the call and written down with
// the question, so that no grant is wider than what was shown.
func (st *step) offers(j *judged) []floodmark.Offer {
	list := []floodmark.Offer{{Words: "this call, once", Scope: floodmark.GrantOnce}}
	outside := floodmark.Offer{Words: "this call, once, outside the box", Scope: floodmark.GrantOutside}
	if j.decision.Reach == floodmark.Boxed {
		list = append(list, outside)
	}
	if len(j.basis.Hosts) > 0 {
		return approval.HostOffers(j.basis.Hosts, j.lasting() && widens(j))
	}
	if st.failedInBox(&j.action) {
		return []floodmark.Offer{outside}
	}
	if !widens(j) || st.ev.Push.Reviewed() {
		return list
	}
	tool := visible(j.action.Tool.String())
	switch {
	case st.settings().ToolWide && !approval.Flowed(j.codes()):
		list = append(list, floodmark.Offer{Words: "any call of " + tool + " until the turn ends", Scope: floodmark.GrantTool})
	case !slices.Contains(j.action.Effects, floodmark.Send):
		list = append(list, floodmark.Offer{Words: "exactly this call for 30 min", Scope: floodmark.GrantMinutes, For: offerAgain})
	}
	if j.pattern != "" && len(list) < approval.MaxOffers {
		list = append(list, patternOffer(j, tool))
	}
	return list
}

// patternOffer says in words what a pattern lets through, and for how long.
func patternOffer(j *judged, tool string) floodmark.Offer {
	o := floodmark.Offer{Scope: floodmark.GrantPattern, Pattern: j.pattern, For: offerHours}
	switch {
	case slices.Equal(j.action.Effects, []floodmark.Effect{floodmark.Fetch}):
		rest := strings.TrimPrefix(j.pattern, j.action.Tool.String()+" ")
		if host, only := strings.CutPrefix(rest, "host="); only && !strings.Contains(host, " ") {
			o.Words = "whatever " + tool + " reads at " + visible(host) + ", for 2 h"
		} else {
			o.Words = visible(rest) + ": whatever " + tool + " reads there, for 2 h"
		}
	case slices.Contains(j.action.Effects, floodmark.Send):
		o.Words, o.For = tool+" to "+goesTo(j)+" in this session, whatever it says (24 h at most)", offerSession
	default:
		o.Words = "the same with any text, for 2 h"
	}
	return o
}

// goesTo names where a call goes.
func goesTo(j *judged) string {
	var list []string
	for i, a := range j.action.Arguments {
		if a.Role != floodmark.Content && a.Shown != "" && j.basis.Kind(i) != floodmark.NullValue && (len(j.basis.Destinations) == 0 || slices.Contains(j.basis.Destinations, i)) {
			list = append(list, visible(a.Shown))
		}
	}
	if len(list) == 0 {
		return visible(j.pattern)
	}
	return strings.Join(list, ", ")
}

// widens reports whether a question may offer more than the one call it shows.
// What changes the agent, could let out a secret or what was steered from
// outside is asked about each time.
func widens(j *judged) bool {
	if slices.Contains(j.action.Effects, floodmark.Admin) || j.basis.SelfProtected {
		return false
	}
	for _, c := range j.codes() {
		switch c {
		case floodmark.FlowSecret, floodmark.ActiveContent, floodmark.SelfProtection, floodmark.Interactive:
			return false
		default:
		}
	}
	return reads(j) || !slices.ContainsFunc(j.action.Arguments, fromOutside)
}

// reads reports a call that does nothing but read over the network while there
// is nothing private that it could tell.
func reads(j *judged) bool {
	return slices.Equal(j.action.Effects, []floodmark.Effect{floodmark.Fetch}) && j.mark.Secrecy > floodmark.Private
}

// fromOutside reports an argument that matters and was seen only in content that
// others wrote.
func fromOutside(a floodmark.Argument) bool {
	return a.Role != floodmark.Content && a.Whence == floodmark.Seen && a.Trust < floodmark.Shared
}

// grant is what an approval of one shown call allows, never wider than shown.
// Without minutes a code holds for the turn, unless no more than once was offered,
// and a click once; with minutes it is the pattern that was printed, or else the
// same call.
func (st *step) grant(cmd approval.Command, t floodmark.TicketID, shown floodmark.Shown) floodmark.GrantGiven {
	g := floodmark.GrantGiven{Ticket: t, Scope: floodmark.GrantTurn, Shown: shown, Turn: st.turn()}
	g.Shown.Offers, g.Shown.Pick, g.Shown.PickEnd = nil, floodmark.Digest{}, floodmark.Digest{} // the question has them
	if cmd.Offer > 0 {
		return st.taken(g, shown.Offers[cmd.Offer-1])
	}
	has := func(s floodmark.GrantScope) bool {
		return slices.ContainsFunc(shown.Offers, func(o floodmark.Offer) bool { return o.Scope == s })
	}
	once := approval.OnlyOnce(shown)
	minutes := cmd.For > 0 && !once
	switch {
	case minutes && shown.Pattern != "":
		g.Scope, g.Until = floodmark.GrantPattern, st.in.At.Add(min(cmd.For, approval.MaxFor))
	case minutes:
		g.Scope, g.Until = floodmark.GrantMinutes, st.in.At.Add(min(cmd.For, approval.MaxFor))
	case cmd.Ticket != "" || once:
		g.Scope, g.Until = floodmark.GrantOnce, st.in.At.Add(onceFor)
	}
	if cmd.Code != "" && has(floodmark.GrantTool) && !approval.Flowed(shown.Codes) {
		g.Scope = floodmark.GrantTool
	}
	if g.Scope != floodmark.GrantPattern {
		g.Shown.Pattern = ""
	}
	return g
}

// taken is the grant of an offer: exactly as wide as it was shown.
func (st *step) taken(g floodmark.GrantGiven, o floodmark.Offer) floodmark.GrantGiven {
	g.Scope, g.Shown.Pattern = o.Scope, o.Pattern
	switch {
	case o.Scope == floodmark.GrantHosts:
		g.Until = st.in.At.Add(approval.HostsFor)
	case o.For > 0:
		g.Until = st.in.At.Add(min(o.For, approval.MaxFor))
	case o.Scope == floodmark.GrantOnce, o.Scope == floodmark.GrantOutside:
		g.Until = st.in.At.Add(onceFor)
	}
	return g
}

// approved says what was approved.
func approved(cmd approval.Command, given []floodmark.Shown) string {
	if cmd.Offer > 1 && len(given) == 1 {
		return "Approved: " + given[0].Offers[cmd.Offer-1].Words + "."
	}
	text := "Approved: " + names(given) + "."
	if cmd.For > 0 && slices.ContainsFunc(given, approval.OnlyOnce) {
		text += " Only this time: the question offered no more, so the " + strconv.Itoa(int(cmd.For/time.Minute)) + " minutes do not count."
	}
	return text
}
