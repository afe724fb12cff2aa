package kernel

import (
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/rules/lull"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/report"
)

// subject returns the call as a question is about it.
func (j *judged) subject() *approval.Subject {
	return &approval.Subject{Action: &j.action, Basis: &j.basis, Leaves: j.leaves, Mark: j.mark, Reasons: j.ruling.Reasons, Keeps: !j.use.Profile.Commits(), Pattern: j.pattern}
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

// here returns what an approval for the whole repository would have to cover of a call.
func (st *step) here(j *judged) approval.Here {
	h := approval.Here{
		Repository: st.ev.Repository, Project: st.s.Project, Tool: j.action.Tool, Described: j.use.Profile != nil && !j.basis.Undescribed,
		Command: j.use.Commands(), Pays: j.use.Profile != nil && j.use.Profile.Pays(), Two: st.takesTwo(j), Effects: j.action.Effects,
		Args: j.action.Arguments, ArgsDigest: j.action.ArgsDigest, Pattern: j.pattern, Paths: j.basis.Paths,
		Codes: j.codes(), Mark: st.mark.Join(artifact.Loaded(j.basis.Loads)),
	}
	for _, u := range j.basis.URLs {
		h.URLs, h.Address = append(h.URLs, u.Argument), j.leaves[u.Argument].Value
	}
	return h
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
	mark := st.mark.Join(artifact.Loaded(j.basis.Loads))
	switch {
	case j.action.Kind != floodmark.CallTool || s.Agent == "" || !floodmark.IsOf(j.action.Tool.Agent, s.Agent):
		return false
	case j.pattern == "" || j.pattern != s.Call:
		return false
	case !s.Holds(st.in.At):
		return false
	case mark.Trust < s.Mark.Trust || mark.Secrecy < s.Mark.Secrecy || mark.Secrecy == floodmark.Secret:
		return false
	case slices.Contains(j.action.Effects, floodmark.Run) || !j.subject().Widens() || lull.Unpausable(*j.lifted()):
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
