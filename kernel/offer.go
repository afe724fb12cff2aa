package kernel

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/rules/lull"
	"github.com/floodmark/floodmark/policy"
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

// pattern returns the wider approval a question may offer: the same tool with the same values in
// every argument that matters, and any content. There is none for a call that changes the agent,
// runs code, puts code into a repository, or names many things at once. Two calls have the same
// pattern only if every byte of it is the same.
func pattern(j *judged) string {
	effects := j.action.Effects
	if j.basis.Undescribed || j.use.Profile.Commits() || slices.Contains(effects, floodmark.Run) || slices.Contains(effects, floodmark.Admin) {
		return ""
	}
	if n := len(j.action.Arguments); n > 0 && j.action.Arguments[n-1].Path == floodmark.CommandAddress {
		return "" // a command line has more to say than its addresses
	}
	if len(effects) == 1 && effects[0] == floodmark.Fetch && j.question.Reach.URLArg >= 0 {
		return hostPattern(j)
	}
	return spelled(j, "", nil)
}

// spelled returns a pattern with every argument that matters, except those in but. It is empty if
// an argument cannot be written in full, because a person approves in general only what was shown
// in full.
func spelled(j *judged, first string, but []int) string {
	parts := []string{j.action.Tool.String()}
	if first != "" {
		parts = append(parts, first)
	}
	for i, a := range j.action.Arguments {
		if a.Role == floodmark.Content || slices.Contains(but, i) {
			continue
		}
		if slices.Contains(j.basis.Cut, i) || approval.Wild(a.Shown) {
			return ""
		}
		value := a.Shown
		if kind := j.basis.Kind(i); kind == floodmark.TextValue || kind == floodmark.NoText {
			value = approval.Word(value)
		}
		parts = append(parts, approval.Word(a.Path)+"="+value)
	}
	if len(parts) == 1 {
		return ""
	}
	return strings.Join(parts, " ")
}

// hostPattern returns the wider approval of a network read: anything at that host. Every other
// argument that could lead elsewhere must be the same. There is none with private data in context,
// because a host is told what is asked of it.
func hostPattern(j *judged) string {
	at := j.question.Reach.URLArg
	u, err := url.Parse(j.leaves[at].Value)
	if err != nil || u.Hostname() == "" || u.User != nil || j.action.Arguments[at].Shown == "" || j.mark.Secrecy <= floodmark.Private {
		return ""
	}
	host := strings.ToLower(u.Hostname())
	if p := u.Port(); p != "" {
		host += ":" + p
	}
	if u.Scheme != "https" {
		host = strings.ToLower(u.Scheme) + "://" + host
	}
	name := "host"
	if p := j.action.Arguments[at].Path; p != "url" {
		name = approval.Word(p) + ".host"
	}
	but := []int{at}
	for i := range j.action.Arguments { // what only says how to read it, such as a prompt
		if j.basis.Kind(i) == floodmark.TextValue && !slices.Contains(j.basis.Destinations, i) && !slices.Contains(j.basis.Paths, i) {
			but = append(but, i)
		}
	}
	return spelled(j, name+"="+approval.Word(host), but)
}

// A scheduled job runs unattended, so its policy may contain standing approvals: calls that the
// owner allows in advance. A standing approval answers only a question that would otherwise be
// asked, only for its job, and covers no more than the question would have offered.

// StandingRule is the prefix of the rule name that is recorded for a standing approval.
const StandingRule = "standing."

// standing returns what the owner allowed in advance, if it covers a call.
func (st *step) standing(j *judged) (policy.Standing, bool) {
	for _, s := range st.r.Policy.Standing() {
		if st.stands(j, s) {
			return s, true
		}
	}
	return policy.Standing{}, false
}

// stands reports whether one standing approval covers a call.
func (st *step) stands(j *judged, s policy.Standing) bool {
	mark := st.mark.Join(loaded(&j.basis))
	switch {
	case j.action.Kind != floodmark.CallTool || s.Agent == "" || !floodmark.IsOf(j.action.Tool.Agent, s.Agent):
		return false
	case j.pattern == "" || j.pattern != s.Call:
		return false
	case !s.Holds(st.in.At):
		return false
	case mark.Trust < s.Mark.Trust || mark.Secrecy < s.Mark.Secrecy || mark.Secrecy == floodmark.Secret:
		return false
	case slices.Contains(j.action.Effects, floodmark.Run) || !widens(j) || lull.Unpausable(*j.lifted()):
		return false
	}
	return st.scheduled(s)
}

// scheduled reports whether a schedule began the session, as the agent's adapter asserts, and was
// its only speaker: the session is no branch of another, has no unknown past, and got no other
// message.
func (st *step) scheduled(s policy.Standing) bool {
	if st.s.Parent != "" || s.Trigger == "" {
		return false
	}
	begun := false
	for src := range st.s.Ledger.Sources() {
		switch o := src.Origin; {
		case o.Kind == floodmark.FromSystem && src.Kind == floodmark.NodeInput:
			if o.Name != s.Trigger || s.Job != "" && o.Place != s.Job {
				return false
			}
			begun = true
		case o.Kind == floodmark.FromSystem, o.Kind == floodmark.FromTool, o.Kind == floodmark.FromFile,
			o.Kind == floodmark.FromDefinition, o.Kind == floodmark.FromCheckout, o.Kind == floodmark.FromChild:
		case o.Kind == floodmark.FromHistory && o.Group == "", o.Kind == floodmark.FromModel: // made from what is here
		default:
			return false
		}
	}
	return begun
}

// stood allows a call by a standing approval, and returns the approval as a grant.
func stood(d *floodmark.Decision, s policy.Standing) *approval.Grant {
	name := StandingRule + s.Name
	d.Verdict = floodmark.Allow
	d.Reasons = append([]floodmark.Reason{{
		Code: floodmark.Granted, Rule: name, Verdict: floodmark.Allow,
		Text: "the owner allowed it in advance to what " + report.Visible(s.Trigger) + " starts, until " + s.Until.Add(-time.Second).Format(time.DateOnly),
	}}, d.Reasons...)
	return &approval.Grant{Ticket: floodmark.TicketID(name)}
}
