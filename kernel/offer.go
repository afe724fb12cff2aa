package kernel

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
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

// subject returns the call as a question is about it.
func (j *judged) subject() *approval.Subject {
	return &approval.Subject{Action: &j.action, Basis: &j.basis, Leaves: j.leaves, Mark: j.mark, Codes: j.codes(), Keeps: !j.use.Profile.Commits(), Pattern: j.pattern}
}

// offering returns what else decides what a question about a call offers.
func (st *step) offering(j *judged) approval.Offering {
	return approval.Offering{
		Boxed: j.decision.Reach == floodmark.Boxed, Failed: st.failedInBox(&j.action), Lasting: j.lasting(),
		Reviewed: st.ev.Push.Reviewed(), ToolWide: st.settings().ToolWide, Here: st.here(j),
	}
}

// prover returns what proofs of this session are made from.
func (st *step) prover() approval.Prover {
	return approval.Prover{Key: st.in.Key[:], Session: st.ev.Session, Code: st.in.Code, Owner: st.s.Owner}
}

// offers returns the approvals a question offers, the narrowest first: at most
// [approval.MaxOffers]. They are computed from the call and written down with the question, so that
// no grant is wider than what was shown.
func offers(s *approval.Subject, o approval.Offering) (list []floodmark.Offer) {
	list = []floodmark.Offer{{Words: "this call, once", Scope: floodmark.GrantOnce}}
	outside := floodmark.Offer{Words: "this call, once, outside the box", Scope: floodmark.GrantOutside}
	if o.Boxed {
		list = append(list, outside)
	}
	if len(s.Basis.Hosts) > 0 {
		return approval.HostOffers(s.Basis.Hosts, o.Lasting && widens(s))
	}
	if o.Failed {
		return []floodmark.Offer{outside}
	}
	if !widens(s) {
		return list
	}
	if always, _, ok := o.Here.Offer(); ok {
		defer func() { list = append(list[:min(len(list), approval.MaxOffers-1)], always) }()
	}
	if o.Reviewed {
		return list
	}
	tool := report.Visible(s.Action.Tool.String())
	switch {
	case o.ToolWide && !approval.Flowed(s.Codes) && s.Keeps:
		list = append(list, floodmark.Offer{Words: "any call of " + tool + " until the turn ends", Scope: floodmark.GrantTool})
	case !slices.Contains(s.Action.Effects, floodmark.Send):
		list = append(list, floodmark.Offer{Words: "exactly this call for 30 min", Scope: floodmark.GrantMinutes, For: offerAgain})
	}
	if s.Pattern != "" && len(list) < approval.MaxOffers {
		list = append(list, patternOffer(s, tool))
	}
	return list
}

// patternOffer returns the offer of a pattern: in words what it lets through, and for how long.
func patternOffer(s *approval.Subject, tool string) floodmark.Offer {
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
		o.Words, o.For = tool+" to "+goesTo(s)+" in this session, whatever it says (24 h at most)", offerSession
	default:
		o.Words = "the same with any text, for 2 h"
	}
	return o
}

// goesTo returns the name of the place where a call goes.
func goesTo(s *approval.Subject) string {
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

// widens reports whether a question may offer more than the one call it shows. A call is asked
// about each time if it changes the agent, could let out a secret, or was steered from outside.
func widens(s *approval.Subject) bool {
	if slices.Contains(s.Action.Effects, floodmark.Admin) || s.Basis.SelfProtected {
		return false
	}
	for _, c := range s.Codes {
		switch c {
		case floodmark.FlowSecret, floodmark.Undescribed, floodmark.ActiveContent, floodmark.SelfProtection, floodmark.Interactive:
			return false
		default:
		}
	}
	return reads(s) || !slices.ContainsFunc(s.Action.Arguments, approval.Outside)
}

// reads reports whether a call only reads over the network, and the session has nothing private
// that the call could tell.
func reads(s *approval.Subject) bool {
	return slices.Equal(s.Action.Effects, []floodmark.Effect{floodmark.Fetch}) && s.Mark.Secrecy > floodmark.Private
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
func pattern(s *approval.Subject, address int) string {
	effects := s.Action.Effects
	if s.Basis.Undescribed || !s.Keeps || slices.Contains(effects, floodmark.Run) || slices.Contains(effects, floodmark.Admin) {
		return ""
	}
	if n := len(s.Action.Arguments); n > 0 && s.Action.Arguments[n-1].Path == floodmark.CommandAddress {
		return "" // a command line has more to say than its addresses
	}
	if len(effects) == 1 && effects[0] == floodmark.Fetch && address >= 0 {
		return hostPattern(s, address)
	}
	return spelled(s, "", nil)
}

// spelled returns a pattern with every argument that matters, except those in but. It is empty if
// an argument cannot be written in full, because a person approves in general only what was shown
// in full.
func spelled(s *approval.Subject, first string, but []int) string {
	parts := []string{s.Action.Tool.String()}
	if first != "" {
		parts = append(parts, first)
	}
	for i, a := range s.Action.Arguments {
		if a.Role == floodmark.Content || slices.Contains(but, i) {
			continue
		}
		if slices.Contains(s.Basis.Cut, i) || approval.Wild(a.Shown) {
			return ""
		}
		value := a.Shown
		if kind := s.Basis.Kind(i); kind == floodmark.TextValue || kind == floodmark.NoText {
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
func hostPattern(s *approval.Subject, at int) string {
	u, err := url.Parse(s.Leaves[at].Value)
	if err != nil || u.Hostname() == "" || u.User != nil || s.Action.Arguments[at].Shown == "" || s.Mark.Secrecy <= floodmark.Private {
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
	if p := s.Action.Arguments[at].Path; p != "url" {
		name = approval.Word(p) + ".host"
	}
	but := []int{at}
	for i := range s.Action.Arguments { // what only says how to read it, such as a prompt
		if s.Basis.Kind(i) == floodmark.TextValue && !slices.Contains(s.Basis.Destinations, i) && !slices.Contains(s.Basis.Paths, i) {
			but = append(but, i)
		}
	}
	return spelled(s, name+"="+approval.Word(host), but)
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
	case slices.Contains(j.action.Effects, floodmark.Run) || !widens(j.subject()) || lull.Unpausable(*j.lifted()):
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

// People approve a place unread if only others named it, because the card looks as they expect. So
// the approver must say which place it is.

// minPicked is the least length of a value that has to be read.
const minPicked = 4

// pick returns what a person has to type or choose besides approving, and digests that prove it. If
// p is nil, the approval is enough. If there are several places, each has to be typed, because a
// choice among three would prove only one.
func pick(s *approval.Subject, by approval.Prover) (whole, end floodmark.Digest, p *approval.Pick) {
	places := steered(s)
	if len(places) == 0 {
		return whole, end, nil
	}
	mac := func(what, text string) floodmark.Digest {
		return approval.PickMAC(by.Key, by.Session, s.Action.ArgsDigest, what, text)
	}
	p = &approval.Pick{}
	var values, tails, words []string
	for n, at := range places {
		a := s.Action.Arguments[at]
		if n == 0 {
			p.Argument = a.Path
		} else {
			p.Others = append(p.Others, a.Path)
		}
		for k, part := range approval.Parts(a.Shown) {
			if slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, part) }) {
				continue
			}
			tail, say := approval.Tail(part), strings.TrimPrefix(approval.TailWords(known(a), part), "type ")
			if k > 0 {
				tail, say = part, fmt.Sprintf("the last %d characters of the address", approval.PickEnd)
			}
			values, tails, words = append(values, part), append(tails, tail), append(words, say)
		}
	}
	if len(values) > 1 {
		p.Words = eachOf(words)
		return mac(approval.PickWhole, approval.Together(strings.Join(values, " "))), mac(approval.PickTail, approval.Together(strings.Join(tails, " "))), p
	}
	whole = mac(approval.PickWhole, values[0])
	if p.Among, p.Words = among(values[0], by), "pick the right one"; len(p.Among) == 0 {
		p.Words = "type " + words[0]
		end = mac(approval.PickTail, tails[0])
	}
	return whole, end, p
}

// known returns the name of an argument that the catalog knows, else "": a card does not
// repeat names by others.
func known(a floodmark.Argument) string {
	if a.Role == floodmark.Undeclared || strings.Contains(a.Path, ".") {
		return ""
	}
	return a.Path
}

// maxEach is how many things to type are named one by one.
const maxEach = 3

// eachOf says that several things have to be typed.
func eachOf(words []string) string {
	if len(words) > maxEach {
		return fmt.Sprintf("type how each of the %d places ends, with spaces between: what stands behind an @, the name of a site with its ending, or else %d characters", len(words), approval.PickEnd)
	}
	return "type, with a space between: " + strings.Join(words, "; ")
}

// steered returns the arguments that have to be proved, because only others named
// them: first where the call goes, then what else decides about it.
func steered(s *approval.Subject) []int {
	if reads(s) {
		return nil
	}
	rank := func(i int) int { // smaller comes first
		if slices.Contains(s.Basis.Destinations, i) {
			return int(s.Action.Arguments[i].Trust)
		}
		return int(floodmark.System) + 1 + int(s.Action.Arguments[i].Trust)
	}
	var list []int
	for i, a := range s.Action.Arguments {
		if !approval.Outside(a) || utf8.RuneCountInString(pickable(s, i)) < minPicked {
			continue
		}
		if a.Role == floodmark.Undeclared && !slices.Contains(s.Basis.Destinations, i) {
			continue
		}
		list = append(list, i)
	}
	slices.SortStableFunc(list, func(a, b int) int { return rank(a) - rank(b) })
	return list
}

// pickable returns the part of a value that a person reads: the host of a URL, or
// as much of a text as is shown.
func pickable(s *approval.Subject, i int) string {
	a := s.Action.Arguments[i]
	if s.Leaves[i].Kind != hook.String || a.Shown == "" {
		return ""
	}
	return approval.Place(a.Shown)
}

// among returns three values to pick from: the real one and the newest two that the owner typed. If
// there are no two, it returns none.
func among(value string, by approval.Prover) []string {
	list := []string{value}
	for _, text := range slices.Backward(by.Owner) {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;<>()\"'«»", r) }) {
			w = strings.ToLower(strings.TrimRight(w, ".:!?"))
			if host := tokens.URLHost(w); host != "" && !strings.Contains(value, "@") {
				w = host
			}
			same := func(o string) bool { return strings.EqualFold(o, w) }
			if len(list) < 3 && alikePlace(value, w) && !slices.ContainsFunc(list, same) {
				list = append(list, w)
			}
		}
	}
	if len(list) < 3 {
		return nil
	}
	// The order follows from the code, which cannot be guessed.
	order := approval.CodeMAC(by.Key, by.Session, "order of the places", by.Code)
	first := int(order[0]) % 3
	list[0], list[first] = list[first], list[0]
	if order[1]%2 == 0 {
		a, b := (first+1)%3, (first+2)%3
		list[a], list[b] = list[b], list[a]
	}
	return list
}

// alikePlace reports whether two values could be taken for the same sort of
// place: two mail addresses, or two hosts.
func alikePlace(value, w string) bool {
	mail := func(t string) bool {
		local, host, ok := strings.Cut(t, "@")
		return ok && local != "" && strings.Contains(host, ".") && !strings.ContainsAny(t, "/ ")
	}
	host := func(t string) bool {
		return strings.Contains(t, ".") && !strings.ContainsAny(t, "@/ ") && len(t) > minPicked
	}
	return mail(value) && mail(w) || host(value) && host(w)
}
