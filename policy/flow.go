package policy

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

// flows are the rules about what must not come together: content from outside,
// private data, and a way out. They look at the mark and not at Trust, so that neither
// relaxing nor an override lifts them.
type flows struct {
	// which rules apply
	secretOn, privateOn, fetchOn, activeOn bool
	findings                               *finding.Table
	// the reasons, made once
	secretLeaves, secretLured, secretNear, secretOut floodmark.Reason
	unknownLured, unknownNear                        floodmark.Reason
	private, carries, steered, active, told          floodmark.Reason
	planted                                          floodmark.Reason
	choices                                          [floodmark.Private + 1]int
	// the floor and what relaxed calls are told
	protection, stated, unlicensed, freeText, boxed floodmark.Reason
}

func newFlows(off []floodmark.Code, s Settings, table *finding.Table) flows {
	reason := func(c floodmark.Code, rule string, v floodmark.Verdict, text string) floodmark.Reason {
		return floodmark.Reason{Code: c, Rule: rule, Verdict: v, Text: text}
	}
	on := func(c floodmark.Code) bool { return !slices.Contains(off, c) }
	return flows{
		findings: table.Without(off),
		secretOn: on(floodmark.FlowSecret), privateOn: on(floodmark.FlowPrivate),
		fetchOn: on(floodmark.FlowFetch), activeOn: on(floodmark.ActiveContent),
		secretLeaves: reason(floodmark.FlowSecret, "flows.flow-secret", floodmark.Restrict,
			"a secret is in what would be sent, while the conversation holds text from outside"),
		secretLured: reason(floodmark.FlowSecret, "flows.flow-secret", floodmark.Restrict,
			"secrets were read, and where this goes was named only by text from outside"),
		unknownLured: reason(floodmark.Undescribed, "flows.flow-secret", floodmark.Restrict,
			"where this goes was named only by text from outside, and what a tool that is not described returned counts as a secret"),
		unknownNear: reason(floodmark.Undescribed, "flows.flow-secret", floodmark.Confirm,
			"what a tool that is not described returned counts as a secret, and this could carry it away"),
		secretNear: reason(floodmark.FlowSecret, "flows.flow-secret", floodmark.Confirm,
			"secrets were read before, and this could send them out"),
		secretOut: reason(floodmark.FlowSecret, "flows.flow-secret", floodmark.Confirm,
			"a secret is in what would be sent, and you did not name where this goes"),
		private: reason(floodmark.FlowPrivate, "flows.flow-private", floodmark.Confirm,
			"private data was read before, and you did not name where this goes"),
		carries: reason(floodmark.FlowFetch, "flows.flow-fetch", floodmark.Confirm,
			"private data was read before, and what this asks for could carry it to a place you did not name"),
		choices: s.Choices,
		told: reason(floodmark.FlowFetch, "choices", floodmark.Confirm,
			"by which links were followed, more of the private data that was read could be told than the policy gives away"),
		steered: reason(floodmark.FlowFetch, "flows.flow-fetch", s.FetchSteered,
			"you did not name this address, and text from outside may have"),
		active: reason(floodmark.ActiveContent, "flows.active-content", floodmark.Audit,
			"the text carries a link, an address or code that only outside text brought in"),
		planted: reason(floodmark.ActiveContent, "flows.active-content", s.Planted,
			""),
		protection: reason(floodmark.SelfProtection, "self-protection", floodmark.Confirm,
			"this touches Floodmark itself or the settings by which it watches an agent"),
		stated: reason(floodmark.OwnerStated, "relax", floodmark.Allow,
			"you named everything that decides what this does"),
		boxed: reason(floodmark.Contained, "flows.box", floodmark.Allow, "it runs in a box, from which nothing that was read can leave"),
		unlicensed: reason(floodmark.TaintEscalation, "relax.content", floodmark.Audit,
			"you named where this goes, but its text may carry private data you did not ask to send"),
		freeText: reason(floodmark.TaintEscalation, "relax.freeContent", floodmark.Audit,
			"you named where this goes, but its text was written while the conversation held text from outside"),
	}
}

// apply adds what the flow rules say and reports whether a person must answer.
func (f *flows) apply(q *Question, found *reasons) (caught bool) {
	caught = f.find(q, finding.Flow, found)
	if q.Mark.Trust > floodmark.External {
		return f.betray(q, found) || caught
	}
	add := func(on bool, r *floodmark.Reason) {
		if on {
			found.add(r)
			caught = caught || r.Verdict <= floodmark.Confirm
		}
	}
	sends := slices.Contains(q.Effects, floodmark.Send) || len(q.Effects) == 0
	leaves := sends || slices.Contains(q.Effects, floodmark.Run) && q.Reach.Network
	reads := !leaves && readsNetwork(q)
	carries := reads && q.Mark.Secrecy <= floodmark.Private && !knownRequest(q)
	if leaves || carries || (reads || q.Reach.Own && slices.Min(q.Effects) < floodmark.Fetch) && q.Reach.SecretInArgs {
		switch unknown := len(q.Reach.Undescribed) > 0; {
		case unknown && lured(q):
			add(f.secretOn, &f.unknownLured)
		case unknown:
			add(f.secretOn, &f.unknownNear)
		case q.Reach.SecretInArgs:
			add(f.secretOn, &f.secretLeaves)
		case q.Mark.Secrecy > floodmark.Secret:
		case lured(q):
			add(f.secretOn, &f.secretLured)
		default:
			add(f.secretOn, &f.secretNear)
		}
	}
	if leaves && q.Mark.Secrecy <= floodmark.Private && !statedDestinations(q) && !q.AsksFor(floodmark.Send) {
		add(f.privateOn, &f.private)
	}
	if carries {
		add(f.fetchOn, &f.carries)
	} else if reads && q.Mark.Secrecy <= floodmark.Private && q.Reach.Tells > 0 {
		add(f.fetchOn && q.Reach.Told+q.Reach.Tells > f.choices[q.Mark.Secrecy], &f.told)
	}
	if reads && (steered(q) || unnamed(q)) {
		add(f.fetchOn, &f.steered)
	}
	if sends && q.Reach.ActiveContent {
		add(f.activeOn, &f.active)
	}
	if q.Reach.Plants != "" && f.planted.Verdict < floodmark.Allow {
		named := f.planted
		named.Text = "it writes or uses " + q.Reach.Plants + ", an address that only text from outside named"
		add(f.activeOn, &named)
	}
	return caught
}

// betray asks about a secret in what leaves, however trusted the conversation is, because a file
// of the owner's own may quote any author. It does not ask if the owner named all destinations, or
// if the conversation has only words of the owner and no file with secrets is sent.
func (f *flows) betray(q *Question, found *reasons) bool {
	leaves := q.Reach.Network || slices.Contains(q.Effects, floodmark.Send) || slices.Contains(q.Effects, floodmark.Fetch)
	if !f.secretOn || !q.Reach.SecretInArgs || !leaves || q.Mark.Trust >= floodmark.Owner && !q.Reach.SecretFile || statedDestinations(q) {
		return false
	}
	found.add(&f.secretOut)
	return true
}

// find adds the reasons that the findings in a call give for one place, and reports whether a
// person must answer.
func (f *flows) find(q *Question, at finding.Place, found *reasons) (caught bool) {
	for _, r := range f.findings.Reasons(q.Findings, at, q.Mark.Trust) {
		found.add(&r)
		caught = caught || r.Verdict <= floodmark.Confirm
	}
	return caught
}

// readsNetwork reports whether a call makes a request outside of the machine and of
// the owner's own services.
func readsNetwork(q *Question) bool {
	return !q.Reach.Own && (q.Reach.Network || slices.Contains(q.Effects, floodmark.Fetch))
}

// knownRequest reports whether a request tells its host nothing new: the owner or
// the policy named the host, and the rest was stated or came from that host.
func knownRequest(q *Question) bool {
	host := q.Reach.HostStated || q.Reach.HostListed
	if u, ok := argumentAt(q, q.Reach.URLArg); ok && u.Whence == floodmark.Stated {
		host = true
	}
	return host && (q.Reach.RestFromHost || allStated(q))
}

func allStated(q *Question) bool {
	return !slices.ContainsFunc(q.Args, func(a floodmark.Argument) bool { return a.Whence != floodmark.Stated })
}

// steered reports whether only text from outside named the URL. It is false for a
// link of a site to itself, if the owner sent the agent there, and for a link that
// the owner asked to follow.
func steered(q *Question) bool {
	u, ok := argumentAt(q, q.Reach.URLArg)
	return ok && fromOutside(u) && !q.Reach.Site && !q.Reach.PointedAt
}

// unnamed reports whether neither the owner, nor the policy, nor a text by the owner that the agent
// read named the host of the URL. Text from outside can make the agent put together an address that
// no source contains, and a request to it can leak what was read.
func unnamed(q *Question) bool {
	u, ok := argumentAt(q, q.Reach.URLArg)
	return ok && u.Whence != floodmark.Stated && !q.Reach.HostStated && !q.Reach.HostListed && !q.Reach.HostNamed && !q.Reach.PointedAt
}

// lured reports whether only text from outside named a destination.
func lured(q *Question) bool {
	if u, ok := argumentAt(q, q.Reach.URLArg); ok && fromOutside(u) {
		return true
	}
	return slices.ContainsFunc(q.Reach.Destinations, func(i int) bool {
		a, ok := argumentAt(q, i)
		return ok && fromOutside(a) && (a.Role != floodmark.Undeclared || len(q.Reach.Undescribed) == 0 || addresses(q.Leaves, i))
	})
}

// addresses reports whether an undescribed value could say where something goes.
// Plain words cannot. A value that was not recorded could.
func addresses(leaves []hook.Leaf, i int) bool {
	if i >= len(leaves) || leaves[i].Value == "" {
		return true
	}
	for tok := range tokens.Tokens(leaves[i].Value) {
		if tok.Kind != tokens.Word && tok.Kind != tokens.Name {
			return true
		}
	}
	return false
}

func fromOutside(a floodmark.Argument) bool {
	return a.Whence == floodmark.Seen && a.Trust <= floodmark.External
}

// statedDestinations reports whether there is a destination and the owner named all
// of them, or something vouches for those they did not type.
func statedDestinations(q *Question) bool {
	if len(q.Reach.Destinations) == 0 {
		return false
	}
	return !slices.ContainsFunc(q.Reach.Destinations, func(i int) bool {
		a, ok := argumentAt(q, i)
		return !ok || a.Whence != floodmark.Stated && !slices.Contains(q.Reach.Vouched, i)
	})
}

func argumentAt(q *Question, i int) (floodmark.Argument, bool) {
	if i < 0 || i >= len(q.Args) {
		return floodmark.Argument{}, false
	}
	return q.Args[i], true
}

// filesNothing reports whether a write needs no audit, because the auditor would see
// no text: the call has none, as when an attachment is saved in a folder. The path
// must not be named by text from outside alone. What is saved keeps its sources. It
// is false if the table asks a person or refuses.
func filesNothing(q *Question, cell *floodmark.Reason) bool {
	if cell == nil || cell.Verdict != floodmark.Audit || !q.Reach.NoText || q.SelfProtected {
		return false
	}
	return !slices.ContainsFunc(q.Reach.Paths, func(i int) bool {
		a, ok := argumentAt(q, i)
		return !ok || fromOutside(a)
	})
}
