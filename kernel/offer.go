package kernel

import (
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/report"
)

// How long the wider offers are valid: for the same call, for the same sort of call, and for the
// same destination in a session.
const (
	offerAgain   = 30 * time.Minute
	offerHours   = 2 * time.Hour
	offerSession = approval.MaxFor
)

// offers returns the approvals a question offers, the narrowest first: at most
// [approval.MaxOffers]. They are computed from the call and written down with the question, so that
// no grant is wider than what was shown.
func (st *step) offers(j *judged) (list []floodmark.Offer) {
	list = []floodmark.Offer{{Words: "this call, once", Scope: floodmark.GrantOnce}}
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
	if !widens(j) {
		return list
	}
	if always, _, ok := st.here(j).Offer(); ok {
		defer func() { list = append(list[:min(len(list), approval.MaxOffers-1)], always) }()
	}
	if st.ev.Push.Reviewed() {
		return list
	}
	tool := report.Visible(j.action.Tool.String())
	switch {
	case st.settings().ToolWide && !approval.Flowed(j.codes()) && !j.use.Profile.Commits():
		list = append(list, floodmark.Offer{Words: "any call of " + tool + " until the turn ends", Scope: floodmark.GrantTool})
	case !slices.Contains(j.action.Effects, floodmark.Send):
		list = append(list, floodmark.Offer{Words: "exactly this call for 30 min", Scope: floodmark.GrantMinutes, For: offerAgain})
	}
	if j.pattern != "" && len(list) < approval.MaxOffers {
		list = append(list, patternOffer(j, tool))
	}
	return list
}

// patternOffer returns the offer of a pattern: in words what it lets through, and for how long.
func patternOffer(j *judged, tool string) floodmark.Offer {
	o := floodmark.Offer{Scope: floodmark.GrantPattern, Pattern: j.pattern, For: offerHours}
	switch {
	case slices.Equal(j.action.Effects, []floodmark.Effect{floodmark.Fetch}):
		rest := strings.TrimPrefix(j.pattern, j.action.Tool.String()+" ")
		if host, only := strings.CutPrefix(rest, "host="); only && !strings.Contains(host, " ") {
			o.Words = "whatever " + tool + " reads at " + report.Visible(host) + ", for 2 h"
		} else {
			o.Words = report.Visible(rest) + ": whatever " + tool + " reads there, for 2 h"
		}
	case slices.Contains(j.action.Effects, floodmark.Send):
		o.Words, o.For = tool+" to "+goesTo(j)+" in this session, whatever it says (24 h at most)", offerSession
	default:
		o.Words = "the same with any text, for 2 h"
	}
	return o
}

// goesTo returns the name of the place where a call goes.
func goesTo(j *judged) string {
	var list []string
	for i, a := range j.action.Arguments {
		if a.Role != floodmark.Content && a.Shown != "" && j.basis.Kind(i) != floodmark.NullValue && (len(j.basis.Destinations) == 0 || slices.Contains(j.basis.Destinations, i)) {
			list = append(list, report.Visible(a.Shown))
		}
	}
	if len(list) == 0 {
		return report.Visible(j.pattern)
	}
	return strings.Join(list, ", ")
}

// widens reports whether a question may offer more than the one call it shows. A call is asked
// about each time if it changes the agent, could let out a secret, or was steered from outside.
func widens(j *judged) bool {
	if slices.Contains(j.action.Effects, floodmark.Admin) || j.basis.SelfProtected {
		return false
	}
	for _, c := range j.codes() {
		switch c {
		case floodmark.FlowSecret, floodmark.Undescribed, floodmark.ActiveContent, floodmark.SelfProtection, floodmark.Interactive:
			return false
		default:
		}
	}
	return reads(j) || !slices.ContainsFunc(j.action.Arguments, approval.Outside)
}

// reads reports whether a call only reads over the network, and the session has nothing private
// that the call could tell.
func reads(j *judged) bool {
	return slices.Equal(j.action.Effects, []floodmark.Effect{floodmark.Fetch}) && j.mark.Secrecy > floodmark.Private
}

// here returns what an approval for the whole repository would have to cover of a call.
func (st *step) here(j *judged) approval.Here {
	h := approval.Here{
		Repository: st.ev.Repository, Project: st.s.Project, Tool: j.action.Tool, Described: j.use.Profile != nil && !j.basis.Undescribed,
		Command: j.use.Commands(), Pays: j.use.Profile != nil && j.use.Profile.Pays(), Two: st.takesTwo(j), Effects: j.action.Effects,
		Args: j.action.Arguments, ArgsDigest: j.action.ArgsDigest, Pattern: j.pattern, Paths: j.basis.Paths,
		Codes: j.codes(), Mark: st.mark.Join(loaded(&j.basis)),
	}
	for _, u := range j.basis.URLs {
		h.URLs, h.Address = append(h.URLs, u.Argument), j.leaves[u.Argument].Value
	}
	return h
}
