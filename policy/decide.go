package policy

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

// Decide answers a tool call. It takes the strictest answer of the rules, of the table or the
// override for the tool, of the flow rules, and of the rules that protect the monitor itself. Where
// it cannot judge, it restricts.
func (p *Policy) Decide(q *Question) Ruling {
	v := p.view(agentOf(q))
	if v == nil {
		return unjudged("no policy is loaded")
	}
	if text, ok := sound(q); !ok {
		return unjudged(text)
	}
	out := v.decide(q)
	if out.Verdict == floodmark.Audit && v.settings.AuditorOn && v.settings.AuditorFailMode != FailBlock {
		alone := *v
		alone.settings.AuditorOn = false
		out.Unaudited = alone.decide(q).Verdict
	}
	return out
}

// decide answers a question that can be judged.
func (v *view) decide(q *Question) Ruling {
	var found reasons
	out := Ruling{}
	if q.SelfProtected {
		found.add(&v.flows.protection) // added first, so that it is named first among reasons of one verdict
	}
	v.flows.find(q, finding.First, &found)
	if q.Unseen && v.settings.StopUnseen {
		found.add(&floodmark.Reason{
			Code: floodmark.RuleMatched, Rule: "stopUnseen", Verdict: floodmark.Restrict,
			Text: "a call ran in this session that nobody had allowed, and the policy stops such a session",
		})
	}
	v.applyRules(q, &found, &out)
	out.Flow = v.flows.apply(v.unplugged(q, &found), &found)
	trust, relaxed := v.authority(q, out.Flow)
	if relaxed {
		found.add(v.freeContent(q))
	}
	v.applyTable(q, trust, &found)
	v.flows.find(q, finding.Last, &found)
	out.Verdict, out.Reach, out.Reasons = found.conclude()
	out.Outside = found.bare
	if relaxed && out.Verdict == floodmark.Allow && out.Reach == floodmark.Free {
		out.Reasons = []floodmark.Reason{v.flows.stated}
	}
	if len(v.verifiers) > 0 {
		out.Verifiers = v.gates(q)
	}
	return out
}

// unplugged returns the question for the flow rules: a call in a box reaches no network. If only a
// flow rule would ask about a call that can be boxed, it is boxed, too, if this policy boxes runs.
func (v *view) unplugged(q *Question, found *reasons) *Question {
	if !q.Boxable {
		return q
	}
	off := *q
	off.Reach.Network = false
	var table, flow reasons
	v.applyRules(q, &table, &Ruling{})
	v.applyTable(q, min(q.Trust, q.Mark.Trust), &table)
	if !table.boxed {
		if v.grid(q)[floodmark.Run][floodmark.Untrusted].boxes == nil || !v.flows.apply(q, &flow) || v.flows.apply(&off, &flow) {
			return q
		}
		found.say(q, &ruled{boxes: &v.flows.boxed})
	}
	return &off
}

func agentOf(q *Question) string {
	if q == nil {
		return ""
	}
	return q.Agent
}

// sound reports whether a question can be judged at all.
func sound(q *Question) (string, bool) {
	switch {
	case q == nil:
		return "nothing was asked", false
	case !q.Mark.Valid() || q.Trust > floodmark.System:
		return "what the conversation holds is not known", false
	}
	for _, e := range q.Effects {
		if e > floodmark.Observe {
			return "what the call does is not known", false
		}
	}
	return "", true
}

func unjudged(text string) Ruling {
	return Ruling{
		Verdict: floodmark.Restrict,
		Reasons: []floodmark.Reason{{Code: floodmark.Unjudged, Text: text, Verdict: floodmark.Restrict}},
	}
}

// applyRules adds what the rules for the tool say.
func (v *view) applyRules(q *Question, found *reasons, out *Ruling) {
	for _, list := range v.rules.lists(q.Tool) {
		for _, r := range list {
			if !r.applies(q) {
				continue
			}
			out.BlockTurn = out.BlockTurn || r.blockTurn
			found.say(q, &r.ruled)
		}
	}
}

// applies reports whether the rule applies. If the rule looks at a value of a recorded call that was
// not recorded, q.Assume answers.
func (x *rule) applies(q *Question) bool {
	if q.Assume != nil && x.cond.Blind(q) {
		return q.Assume(x.Rule)
	}
	return x.cond.Holds(q)
}

// authority returns the trust the table is read at, and whether it was raised by
// what the owner stated. A call that runs code, changes the agent or was caught by a
// flow rule is never relaxed, whatever the owner said.
func (v *view) authority(q *Question, flow bool) (floodmark.Trust, bool) {
	if q.Trust <= q.Mark.Trust {
		return q.Trust, false
	}
	if !q.Relaxed || flow || !v.settings.Relax || !relaxable(q.Effects) {
		return q.Mark.Trust, false
	}
	if v.freeContent(q) != nil && v.tableVerdict(q, q.Mark.Trust) >= floodmark.Audit {
		return q.Mark.Trust, false // relaxing would gain nothing and cost a look at the text
	}
	return min(q.Trust, floodmark.Owner), true
}

func relaxable(effects []floodmark.Effect) bool {
	return len(effects) > 0 && !slices.Contains(effects, floodmark.Run) && !slices.Contains(effects, floodmark.Admin)
}

// applyTable asks the table, or the override for the tool, about each effect.
func (v *view) applyTable(q *Question, trust floodmark.Trust, found *reasons) {
	g := &v.table
	if trust < q.Mark.Trust {
		g = &v.byValue
	}
	if o, ok := find(v.overrides, q.Tool); ok {
		g = o
	}
	if len(q.Effects) == 0 {
		v.applyCell(q, g, floodmark.Admin, trust, found)
	}
	for _, e := range q.Effects {
		if at := q.TrustFor(e, trust); at > trust {
			v.applyCell(q, v.grid(q), e, at, found)
			continue
		}
		v.applyCell(q, g, e, trust, found)
	}
}

// grid returns the table, or the override for the tool.
func (v *view) grid(q *Question) *grid {
	if o, ok := find(v.overrides, q.Tool); ok {
		return o
	}
	return &v.table
}

// tableVerdict returns what the table alone says at some trust.
func (v *view) tableVerdict(q *Question, trust floodmark.Trust) floodmark.Verdict {
	found := reasons{}
	v.applyTable(q, trust, &found)
	verdict, _, _ := found.conclude()
	return verdict
}

func (v *view) applyCell(q *Question, g *grid, e floodmark.Effect, trust floodmark.Trust, found *reasons) {
	if g != &v.table || e != floodmark.Write || v.settings.FreeContent != InertAllows || !filesNothing(q, &g[e][trust].Reason) {
		found.say(q, g[e][trust])
	}
	for _, b := range v.bounds {
		found.say(q, b.reason(q.Tool, guarded(e), trust))
	}
}

// freeContent returns the reason that caps a relaxed call because of its text, or nil.
// The owner named where the call goes, not what it says. Text that is neither active
// nor private is let through, unless the profile or an auditor wants to see all text.
func (v *view) freeContent(q *Question) *floodmark.Reason {
	if !q.Reach.FreeContent || q.Mark.Trust >= floodmark.Shared {
		return nil
	}
	private := q.Mark.Secrecy <= floodmark.Private && !q.Reach.ContentLicensed
	switch {
	case q.Reach.ActiveContent:
		return &v.flows.active
	case q.Reach.SecretInArgs || private:
		return &v.flows.unlicensed
	case v.settings.FreeContent == CapAudit || v.settings.AuditorOn:
		return &v.flows.freeText
	}
	return nil
}

// reasons collects what speaks against a call, without allocating.
type reasons struct {
	n    int
	list [24]*floodmark.Reason
	// boxed says that a reason wants the call in a box, even if list has no room for the reason.
	// bare says that a reason would want the call in a box, but this call cannot be boxed.
	boxed, bare bool
}

// add adds a reason once. If the list is full, only a stricter reason replaces the last one, so
// that explanations may be lost, but not strictness.
func (rs *reasons) add(r *floodmark.Reason) {
	if r == nil || r.Verdict == floodmark.Allow && r.Code != floodmark.Contained || slices.Contains(rs.list[:rs.n], r) {
		return
	}
	if rs.n < len(rs.list) {
		rs.list[rs.n] = r
		rs.n++
		return
	}
	if last := &rs.list[len(rs.list)-1]; r.Verdict < (*last).Verdict {
		*last = r
	}
}

// conclude returns the least verdict and reach, and all reasons, the deciding one first.
func (rs *reasons) conclude() (floodmark.Verdict, floodmark.Reach, []floodmark.Reason) {
	reach := floodmark.Free
	if rs.boxed {
		reach = floodmark.Boxed
	}
	if rs.n == 0 {
		return floodmark.Allow, reach, nil
	}
	found := rs.list[:rs.n]
	for i := 1; i < len(found); i++ { // few and mostly in order already
		for j := i; j > 0 && found[j].Verdict < found[j-1].Verdict; j-- {
			found[j], found[j-1] = found[j-1], found[j]
		}
	}
	out := make([]floodmark.Reason, len(found))
	for i, r := range found {
		out[i] = *r
	}
	return out[0].Verdict, reach, out
}

// A Ruling is the policy's answer to a [Question]. The zero Ruling restricts.
type Ruling struct {
	Verdict floodmark.Verdict
	// Reach is Boxed only if the call can be boxed. If the policy wants a box for another
	// call, the verdict says what happens instead.
	Reach floodmark.Reach
	// Outside says that Reach would be Boxed if the call could be boxed.
	Outside bool
	// Reasons explain the verdict, the deciding one first. A plain Allow has none.
	Reasons []floodmark.Reason
	// Flow says that a flow rule asks for a person: no auditor, no relaxation
	// and no tool-wide grant may answer instead.
	Flow bool
	// Unaudited is the verdict without an auditor. It is set for an Audit if calls may
	// pass although the auditor does not answer. Else it is zero, which restricts.
	Unaudited floodmark.Verdict
	// BlockTurn ends the agent's turn.
	BlockTurn bool
	// Verifiers must all agree before the call proceeds.
	Verifiers []string
}
