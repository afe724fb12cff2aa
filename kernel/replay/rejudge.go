package replay

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

// noBasis is why older decisions cannot be judged again.
const noBasis = "it was recorded without what it followed from"

// again judges one recorded action, or says why it cannot be judged.
//
// What was not kept is guessed twice, for the worst and for the best: if both
// guesses lead to the same answer, that is the answer.
func (t *trial) again(m *kernel.Moment, r kernel.Record) (kernel.Recalled, string) {
	t.doubt = ""
	if r.Action.Kind == floodmark.SendReply && r.Action.Audience == string(hook.ToOwner) {
		return kernel.Recalled{ActionDecided: floodmark.ActionDecided{Action: r.Action, Mark: m.Mark(), Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}}, ""
	}
	switch {
	case !r.Sound():
		return kernel.Recalled{}, noBasis
	case t.lost != "":
		return kernel.Recalled{}, t.lost
	case r.Action.Kind == floodmark.CallModel:
		return t.model(m, r)
	}
	worst, why := m.Judge(r, &guess{t, m, r, true})
	if why != "" || t.doubt == "" {
		return worst, why
	}
	best, why := m.Judge(r, &guess{t, m, r, false})
	if why == "" && !alike(worst.Decision, best.Decision) {
		why = t.doubt
	}
	return worst, why
}

// model judges a model call.
func (t *trial) model(m *kernel.Moment, r kernel.Record) (kernel.Recalled, string) {
	again, why := m.Judge(r, nil)
	if r.Basis.Unreadable && (t.then() != &t.Now || m.Mark() != r.Mark) {
		return again, "the offered tools cannot be told from their names"
	}
	if r.Basis.Unreadable {
		again.Decision = r.Decision
	}
	return again, why
}

// A guess fills in what was not kept.
type guess struct {
	*trial
	m     *kernel.Moment
	r     kernel.Record
	worst bool
}

// Doubts notes why the answer is uncertain. The worst guess gets strict; the best guess gets its
// opposite.
func (g *guess) Doubts(why string, strict bool) bool {
	if g.doubt == "" {
		g.doubt = why
	}
	return g.worst == strict
}

// Trusts sets how far the arguments would be trusted.
func (g *guess) Trusts(args []floodmark.Argument) {
	if !g.relabelled {
		return
	}
	for i := range args {
		a := &args[i]
		switch {
		case a.Whence != floodmark.Seen || len(a.Spans) == 0:
		case a.Pieced:
			a.Trust = g.pieced(a.Trust)
		default:
			a.Trust = g.would.Ledger.Effective(a.Spans[0].Node).Trust
		}
	}
}

// pieced returns the trust of a value whose pieces were seen in sources that
// were not named one by one.
func (g *guess) pieced(was floodmark.Trust) floodmark.Trust {
	low, high := was, was
	for n := range floodmark.NodeID(g.would.Ledger.Len()) {
		if now := g.would.Ledger.Effective(n).Trust; now != g.was.Ledger.Effective(n).Trust {
			low, high = min(low, now), max(high, now)
		}
	}
	if low == high {
		return was
	}
	if g.Doubts("an argument was put together from several sources, and it was not kept from which", true) {
		return low
	}
	return high
}

// Carries sets what would be found in the arguments if other content is secret or private now.
func (g *guess) Carries(a *floodmark.Action, b *floodmark.Basis) {
	if !g.relabelled {
		return
	}
	switch {
	case g.m.Mark().Secrecy > floodmark.Secret:
		b.SecretInArgs = false
	case g.was.Mark().Secrecy == floodmark.Secret && !g.moved(floodmark.Secret):
	case len(a.Arguments) == 0 && a.Kind == floodmark.CallTool:
	case slices.ContainsFunc(a.Arguments, g.secret):
		b.SecretInArgs = true
	default:
		b.SecretInArgs = g.Doubts("other content is secret now, and it was not kept whether the arguments hold some of it", true)
	}
	if b.FreeContent && g.moved(floodmark.Private) {
		b.PrivateContent = g.Doubts("other content is private now, and it was not kept whether the text holds some of it", true)
	}
}

// moved reports whether other sources than before are at most as open as limit.
func (g *guess) moved(limit floodmark.Secrecy) bool {
	for n := range floodmark.NodeID(g.would.Ledger.Len()) {
		if (g.would.Ledger.Effective(n).Secrecy <= limit) != (g.was.Ledger.Effective(n).Secrecy <= limit) {
			return true
		}
	}
	return false
}

// secret reports whether a value was seen in a source that is secret.
func (g *guess) secret(a floodmark.Argument) bool {
	return a.Whence == floodmark.Seen && slices.ContainsFunc(a.Spans, func(s floodmark.Span) bool {
		return g.would.Ledger.Effective(s.Node).Secrecy <= floodmark.Secret
	})
}

// Assumes reports whether a rule is assumed to match although values that it looks at were not
// kept. If policy, catalog and labels are the same, it matches as it did.
func (g *guess) Assumes(rule string) bool {
	if !g.relabelled && g.policy == g.Now.Policy.Hash() && g.catalog == g.Now.Catalog.Hash() {
		return slices.ContainsFunc(g.r.Decision.Reasons, func(r floodmark.Reason) bool { return r.Rule == rule })
	}
	return g.Doubts("the rule "+rule+" looks at the value of an argument, which was not kept", true)
}
