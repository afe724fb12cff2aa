package approval

import (
	"slices"
	"strconv"
	"time"

	"github.com/floodmark/floodmark"
)

// OnceFor is how long a grant for a single call is valid.
const OnceFor = 10 * time.Minute

// Grant returns what an approval of one shown call allows, which is never wider than what was
// shown. If no offer was chosen:
//   - without minutes, a code grants identical calls for the turn, or a single call if no more was
//     offered, and a ticket grants a single call;
//   - with minutes, the grant is for the printed pattern or, without one, for identical calls.
func (c Command) Grant(t floodmark.TicketID, shown floodmark.Shown, turn int, at time.Time) floodmark.GrantGiven {
	g := floodmark.GrantGiven{Ticket: t, Scope: floodmark.GrantTurn, Shown: shown, Turn: turn}
	g.Shown.Offers, g.Shown.Whole, g.Shown.Pick, g.Shown.PickEnd = nil, nil, floodmark.Digest{}, floodmark.Digest{} // only the question needs them
	if n := c.offer(shown); n > 0 {
		return taken(g, shown.Offers[n-1], at)
	}
	has := func(s floodmark.GrantScope) bool {
		return slices.ContainsFunc(shown.Offers, func(o floodmark.Offer) bool { return o.Scope == s })
	}
	once := OnlyOnce(shown)
	minutes := c.For > 0 && !once
	switch {
	case minutes && shown.Pattern != "":
		g.Scope, g.Until = floodmark.GrantPattern, at.Add(min(c.For, MaxFor))
	case minutes:
		g.Scope, g.Until = floodmark.GrantMinutes, at.Add(min(c.For, MaxFor))
	case c.Ticket != "" || once:
		g.Scope, g.Until = floodmark.GrantOnce, at.Add(OnceFor)
	}
	if c.Code != "" && has(floodmark.GrantTool) && !Flowed(shown.Codes) {
		g.Scope = floodmark.GrantTool
	}
	if g.Scope != floodmark.GrantPattern {
		g.Shown.Pattern = ""
	}
	return g
}

// taken returns the grant for an offer, exactly as shown.
func taken(g floodmark.GrantGiven, o floodmark.Offer, at time.Time) floodmark.GrantGiven {
	g.Scope, g.Shown.Pattern = o.Scope, o.Pattern
	switch {
	case o.Scope == floodmark.GrantHosts || o.Scope == floodmark.GrantHere:
		g.Until = at.Add(HereFor)
	case o.For > 0:
		g.Until = at.Add(min(o.For, MaxFor))
	case o.Scope == floodmark.GrantOnce, o.Scope == floodmark.GrantOutside:
		g.Until = at.Add(OnceFor)
	}
	return g
}

// offer returns the number of the offer that a command takes for a call, or 0 if it names none.
func (c Command) offer(shown floodmark.Shown) int {
	if c.Always {
		return Always(shown.Offers)
	}
	return c.Offer
}

// Approved returns the message to the owner about what was approved.
func (c Command) Approved(given []floodmark.Shown, names string) string {
	if len(given) == 1 && c.offer(given[0]) > 1 {
		return "Approved: " + given[0].Offers[c.offer(given[0])-1].Words + "."
	}
	text := "Approved: " + names + "."
	if c.For > 0 && slices.ContainsFunc(given, OnlyOnce) {
		text += " Only this time: the question offered no more, so the " + strconv.Itoa(int(c.For/time.Minute)) + " minutes do not count."
	}
	return text
}
