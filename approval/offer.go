package approval

import (
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/report"
)

// How long the wider offers are valid: for the same call, for the same sort of call, and for the
// same destination in a session.
const (
	offerAgain   = 30 * time.Minute
	offerHours   = 2 * time.Hour
	offerSession = MaxFor
)

// Offers returns the approvals a question offers, the narrowest first: at most
// [MaxOffers]. They are computed from the call and written down with the question, so that
// no grant is wider than what was shown.
func (s *Subject) Offers(o Offering) (list []floodmark.Offer) {
	list = []floodmark.Offer{{Words: "this call, once", Scope: floodmark.GrantOnce}}
	outside := floodmark.Offer{Words: "this call, once, outside the box", Scope: floodmark.GrantOutside}
	if o.Boxed {
		list = append(list, outside)
	}
	if len(s.Basis.Hosts) > 0 {
		return HostOffers(s.Basis.Hosts, o.Lasting && s.Widens())
	}
	if o.Failed {
		return []floodmark.Offer{outside}
	}
	if !s.Widens() {
		return list
	}
	if always, _, ok := o.Here.Offer(); ok {
		defer func() { list = append(list[:min(len(list), MaxOffers-1)], always) }()
	}
	if o.Reviewed {
		return list
	}
	tool := report.Visible(s.Action.Tool.String())
	switch {
	case o.ToolWide && !Flowed(s.Codes()) && s.Keeps:
		list = append(list, floodmark.Offer{Words: "any call of " + tool + " until the turn ends", Scope: floodmark.GrantTool})
	case !slices.Contains(s.Action.Effects, floodmark.Send):
		list = append(list, floodmark.Offer{Words: "exactly this call for 30 min", Scope: floodmark.GrantMinutes, For: offerAgain})
	}
	if s.Pattern != "" && len(list) < MaxOffers {
		list = append(list, s.patternOffer(tool))
	}
	return list
}

// patternOffer returns the offer of a pattern: in words what it lets through, and for how long.
func (s *Subject) patternOffer(tool string) floodmark.Offer {
	o := floodmark.Offer{Scope: floodmark.GrantPattern, Pattern: s.Pattern, For: offerHours}
	switch {
	case slices.Equal(s.Action.Effects, []floodmark.Effect{floodmark.Fetch}):
		rest := strings.TrimPrefix(s.Pattern, s.Action.Tool.String()+" ")
		if host, only := strings.CutPrefix(rest, "host="); only && !strings.Contains(host, " ") {
			o.Words = "whatever " + tool + " reads at " + report.Visible(host) + ", for 2 h"
		} else {
			o.Words = report.Visible(rest) + ": whatever " + tool + " reads there, for 2 h"
		}
	case slices.Contains(s.Action.Effects, floodmark.Send):
		o.Words, o.For = tool+" to "+s.goesTo()+" in this session, whatever it says (24 h at most)", offerSession
	default:
		o.Words = "the same with any text, for 2 h"
	}
	return o
}

// goesTo returns the name of the place where a call goes.
func (s *Subject) goesTo() string {
	var list []string
	for i, a := range s.Action.Arguments {
		if a.Role != floodmark.Content && a.Shown != "" && s.Basis.Kind(i) != floodmark.NullValue && (len(s.Basis.Destinations) == 0 || slices.Contains(s.Basis.Destinations, i)) {
			list = append(list, report.Visible(a.Shown))
		}
	}
	if len(list) == 0 {
		return report.Visible(s.Pattern)
	}
	return strings.Join(list, ", ")
}

// Widens reports whether a question may offer more than the one call it shows. A call is asked
// about each time if it changes the agent, could let out a secret, or was steered from outside.
func (s *Subject) Widens() bool {
	if slices.Contains(s.Action.Effects, floodmark.Admin) || s.Basis.SelfProtected {
		return false
	}
	for _, c := range s.Codes() {
		switch c {
		case floodmark.FlowSecret, floodmark.Undescribed, floodmark.ActiveContent, floodmark.SelfProtection, floodmark.Interactive:
			return false
		default:
		}
	}
	return s.reads() || !slices.ContainsFunc(s.Action.Arguments, Outside)
}

// reads reports whether a call only reads over the network, and the session has nothing private
// that the call could tell.
func (s *Subject) reads() bool {
	return slices.Equal(s.Action.Effects, []floodmark.Effect{floodmark.Fetch}) && s.Mark.Secrecy > floodmark.Private
}
