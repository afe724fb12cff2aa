package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// noBasis is why older decisions cannot be judged again.
const noBasis = "it was recorded without what it followed from"

// again judges one recorded action, or says why it cannot be judged.
//
// What was not kept is guessed twice, for the worst and for the best: if both
// guesses lead to the same answer, that is the answer.
func (t *trial) again(st *step, f floodmark.ActionDecided, h heard) (judged, string) {
	t.doubt = ""
	if f.Action.Kind == floodmark.SendReply && f.Action.Audience == string(hook.ToOwner) {
		return judged{action: f.Action, mark: st.mark, decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, ""
	}
	switch {
	case f.Basis == nil || !sound(f.Basis, len(f.Action.Arguments)):
		return judged{}, noBasis
	case t.lost != "":
		return judged{}, t.lost
	case f.Action.Kind == floodmark.CallModel:
		return t.model(st, f)
	}
	worst, why := t.once(st, f, h, true)
	if why != "" || t.doubt == "" {
		return worst, why
	}
	best, why := t.once(st, f, h, false)
	if why == "" && !alike(worst.decision, best.decision) {
		why = t.doubt
	}
	return worst, why
}

// sound reports whether a basis speaks only of arguments that are there: it may
// come from a forged file.
func sound(b *floodmark.Basis, arguments int) bool {
	at := func(i int) bool { return i >= 0 && i < arguments }
	for _, u := range b.URLs {
		if !at(u.Argument) {
			return false
		}
	}
	for _, g := range b.Grounds {
		if !at(g.Argument) {
			return false
		}
	}
	for _, i := range slices.Concat(b.Destinations, b.Paths, b.Cut, b.Long) {
		if !at(i) {
			return false
		}
	}
	return len(b.Kinds) == 0 || len(b.Kinds) == arguments
}

// model judges a model call.
func (t *trial) model(st *step, f floodmark.ActionDecided) (judged, string) {
	tools := make([]floodmark.ToolRef, len(f.Action.Tools))
	for i, name := range f.Action.Tools {
		tools[i] = offered(name, st.ev.Agent)
	}
	j := judged{action: f.Action, mark: st.mark}
	j.question.Trust = st.mark.Trust
	_, j.decision = st.ruleModel(f.Action.Iteration, tools)
	st.enforce(&j.decision, nil)
	if f.Basis.Unreadable && (t.then() != &t.Now || st.mark != f.Mark) {
		return j, "the offered tools cannot be told from their names"
	}
	if f.Basis.Unreadable {
		j.decision = f.Decision
	}
	return j, ""
}

// once judges a call or an answer with the worst or the best guess where
// something was not kept.
func (t *trial) once(st *step, f floodmark.ActionDecided, h heard, worst bool) (judged, string) {
	j := judged{action: f.Action, basis: *f.Basis}
	j.action.Arguments = slices.Clone(f.Action.Arguments)
	if f.Basis.Unreadable {
		j.mark = st.mark
		st.unreadable(&j)
		st.enforce(&j.decision, &j)
		return j, ""
	}
	g := guess{trial: t, st: st, worst: worst}
	g.trusts(&j)
	j.leaves, j.unkept = keptLeaves(&j)
	if why := g.reclassify(&j); why != "" {
		return j, why
	}
	g.carried(&j)
	g.rules(&j, f)
	if f.Action.Kind == floodmark.SendReply {
		st.ruleReply(&j)
	} else {
		st.rule(&j, st.authority(j.action))
	}
	if h.opinion != nil && j.decision.Verdict == floodmark.Audit && f.Decision.Verdict != floodmark.Audit {
		st.recalled(&j, *h.opinion)
	}
	st.enforce(&j.decision, &j)
	if waits(j.decision) && !waits(f.Decision) { // else the answers were to another request
		st.tally(&j, h.answers)
	}
	st.quiet(&j)
	return j, ""
}

// keptLeaves returns the arguments of a recorded call with their short forms as values, and the
// paths of those whose value was longer.
func keptLeaves(j *judged) (leaves []hook.Leaf, unkept []string) {
	b := &j.basis
	for i, a := range j.action.Arguments {
		l := hook.Leaf{Path: a.Path, Top: topOf(a.Path), Value: a.Shown}
		kind := floodmark.TextValue
		if i < len(b.Kinds) {
			kind = b.Kinds[i]
		}
		switch kind {
		case floodmark.NumberValue:
			l.Kind = hook.Number
		case floodmark.BoolValue:
			l.Kind = hook.Bool
		case floodmark.NullValue:
			l.Kind = hook.Null
		case floodmark.TextValue, floodmark.NoText:
		}
		if kind != floodmark.NoText && (a.Role == floodmark.Content || slices.Contains(b.Cut, i)) {
			unkept = append(unkept, a.Path)
		}
		leaves = append(leaves, l)
	}
	return leaves, unkept
}

// topOf returns the argument a path begins with.
func topOf(path string) string {
	if path == floodmark.CommandAddress {
		return path
	}
	for i := range len(path) {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return path
}

// A guess fills in what was not kept.
type guess struct {
	*trial
	st    *step
	worst bool
}

// doubts notes why the answer is uncertain. It returns safe for the worst guess, else its opposite.
func (g *guess) doubts(why string, safe bool) bool {
	if g.doubt == "" {
		g.doubt = why
	}
	return g.worst == safe
}

// trusts sets how far the arguments would be trusted.
func (g *guess) trusts(j *judged) {
	if !g.relabelled {
		return
	}
	for i := range j.action.Arguments {
		a := &j.action.Arguments[i]
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
	if g.doubts("an argument was put together from several sources, and it was not kept from which", true) {
		return low
	}
	return high
}

// carried sets what would be found in the arguments if other content is secret or private now.
func (g *guess) carried(j *judged) {
	b := &j.basis
	if !g.relabelled {
		return
	}
	switch {
	case g.st.mark.Secrecy > floodmark.Secret:
		b.SecretInArgs = false
	case g.was.Mark().Secrecy == floodmark.Secret && !g.moved(floodmark.Secret):
	case len(j.leaves) == 0 && j.action.Kind == floodmark.CallTool:
	case slices.ContainsFunc(j.action.Arguments, func(a floodmark.Argument) bool {
		return a.Whence == floodmark.Seen && g.st.guarded(a, floodmark.Secret)
	}):
		b.SecretInArgs = true
	default:
		b.SecretInArgs = g.doubts("other content is secret now, and it was not kept whether the arguments hold some of it", true)
	}
	if b.FreeContent && g.moved(floodmark.Private) {
		b.PrivateContent = g.doubts("other content is private now, and it was not kept whether the text holds some of it", true)
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

// rules sets what is assumed of a rule that looks at values that were not kept: that it matches as
// it did, if nothing else changed.
func (g *guess) rules(j *judged, f floodmark.ActionDecided) {
	asRecorded := !g.relabelled && g.policy == g.Now.Policy.Hash() && g.catalog == g.Now.Catalog.Hash()
	j.assume = func(rule string) bool {
		if asRecorded {
			return slices.ContainsFunc(f.Decision.Reasons, func(r floodmark.Reason) bool { return r.Rule == rule })
		}
		return g.doubts("the rule "+rule+" looks at the value of an argument, which was not kept", true)
	}
}
