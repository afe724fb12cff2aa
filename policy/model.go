package policy

import (
	"fmt"

	"github.com/floodmark/floodmark"
)

// BeforeModel answers a model call, by the rules that end a turn and the limit on
// rounds. Rules that mention a tool call are left to [Policy.Decide].
func (p *Policy) BeforeModel(q *Question) Ruling {
	v := p.view(agentOf(q))
	if v == nil {
		return blocked(unjudged("no policy is loaded"))
	}
	if text, ok := sound(q); !ok {
		return blocked(unjudged(text))
	}
	var found reasons
	var out Ruling
	for _, r := range v.rules.model {
		if r.cond.Holds(q) {
			out.BlockTurn = out.BlockTurn || r.blockTurn
			found.say(q, &r.ruled)
		}
	}
	if over := p.TooLong(q); over != nil {
		out.BlockTurn = true
		found.add(over)
	}
	out.Verdict, out.Reach, out.Reasons = found.conclude()
	return out
}

// TooLong returns the reason to end a turn with too many rounds, or nil.
func (p *Policy) TooLong(q *Question) *floodmark.Reason {
	v := p.view(agentOf(q))
	if v == nil || q.Iteration < v.settings.MaxIterations {
		return nil
	}
	return &floodmark.Reason{
		Code: floodmark.Iterations, Rule: "maxIterations", Verdict: floodmark.Restrict,
		Text: fmt.Sprintf("the agent has gone round %d times in this turn, which is all the policy gives it", v.settings.MaxIterations),
	}
}

func blocked(r Ruling) Ruling {
	r.BlockTurn = true
	return r
}

// Hides reports whether the tool would be restricted with whatever arguments, so
// that the model need not see it. Every other tool stays visible, so that a
// question about a call of it can be asked.
func (p *Policy) Hides(q *Question) (floodmark.Reason, bool) {
	v := p.view(agentOf(q))
	if v == nil {
		return unjudged("no policy is loaded").Reasons[0], true
	}
	if text, ok := sound(q); !ok {
		return unjudged(text).Reasons[0], true
	}
	for _, list := range v.rules.lists(q.Tool) {
		for _, r := range list {
			if r.hides && !r.cond.NeedsArgs && r.cond.Holds(q) {
				return r.Reason, true
			}
		}
	}
	effects := q.Effects
	if len(effects) == 0 {
		effects = []floodmark.Effect{floodmark.Admin}
	}
	var reason floodmark.Reason
	for _, e := range effects {
		r, ok := v.hopeless(q, e)
		if !ok {
			return floodmark.Reason{}, false
		}
		reason = r
	}
	return reason, true
}

// hopeless reports whether a call with this effect would be restricted even if
// the owner had stated all of its arguments.
func (v *view) hopeless(q *Question, e floodmark.Effect) (floodmark.Reason, bool) {
	best := *q
	best.Effects, best.Relaxed, best.Trust = []floodmark.Effect{e}, true, max(q.Mark.Trust, floodmark.Owner)
	trust, _ := v.authority(&best, false)
	var found reasons
	v.applyTable(&best, trust, &found)
	verdict, _, why := found.conclude()
	if verdict != floodmark.Restrict {
		return floodmark.Reason{}, false
	}
	return why[0], true
}
