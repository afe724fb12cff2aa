package kernel

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/lull"
	"github.com/floodmark/floodmark/internal/rules/quiet"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/policy"
)

// A pause is the owner's wish not to be asked for a while. It is kept in a session of the monitor's
// own, and is in effect only if it comes in with the event. The session writes down under which
// pause it decided, so that its facts alone say why nothing was enforced.

// wantedPause returns the pause that is in effect at this event, if one came in.
func (st *step) wantedPause() floodmark.Pause {
	p := st.in.Pause
	if p.Holds(st.in.At) && (p.Session == "" || p.Session == st.in.Event.Session) {
		return p
	}
	return floodmark.Pause{}
}

// notePause writes down which pauses ended and began, so that the facts name the one in effect.
func (st *step) notePause() {
	noted := st.paused
	if st.paused = true; noted {
		return
	}
	for _, p := range st.s.Pauses {
		if p.Same(st.pause) {
			noted = true
			continue
		}
		why := "another one holds"
		switch {
		case st.pause != floodmark.Pause{}:
		case st.in.At.Before(p.From):
			why = "the clock was set back"
		case p.Holds(st.in.At):
			why = "the owner ended it"
		default:
			why = "its time is over"
		}
		st.keep(floodmark.PauseEnded{Session: p.Session, Why: why})
	}
	if !noted && st.pause != (floodmark.Pause{}) {
		st.keep(floodmark.PauseBegan{Pause: st.pause})
	}
}

// enforce lets a call through if the policy only watches it, or the owner's pause lifts the
// decision. For a model call, call is nil.
func (st *step) enforce(d *floodmark.Decision, call *judged) {
	var c *lull.Call
	if call != nil {
		c = call.lifted()
	}
	lull.Lift(d, !st.settings().Enforce, st.pause, c)
}

// lifted returns what a pause looks at in a call.
func (j *judged) lifted() *lull.Call {
	return &lull.Call{Action: &j.action, Basis: &j.basis, Reasons: j.decision.Reasons, Gates: allGates(j)}
}

// endPause removes the pause of a session, or the one of all sessions.
func (s *State) endPause(of floodmark.SessionID) {
	s.Pauses = lists.Without(s.Pauses, func(p floodmark.Pause) bool { return p.Session == of })
}

// In quiet hours no question is sent. The call is refused, or its question is written down and
// people are told of it when the hours are over. No call is let through that would be asked about
// at noon.

// quiet refuses a call that would open a question in quiet hours, if the policy
// wants that, or tells the agent when the owner will be asked. A question that is
// already open, about the very same call, stays.
func (st *step) quiet(j *judged) {
	q := st.settings().Quiet
	end, now := q.Until(st.in.At)
	if j.decision.Verdict != floodmark.Confirm || !now {
		return
	}
	when := quiet.ClockTime(end)
	if q.Hold {
		j.decision.Remedy.Agent = "The owner is not asked before " + when + ". Go on with what needs no approval, and try the same call again once it is approved."
		return
	}
	shown := st.shows(j)
	if open, asked := st.s.Book.Asked(shown.Tool, shown.ArgsDigest, st.in.At); asked && st.current(open, shown) {
		return
	}
	st.refuse(j, floodmark.Reason{
		Code: floodmark.RuleMatched, Rule: "approvals.quiet", Text: "it is quiet until " + when + ", and nobody is asked before",
	}, floodmark.Remedy{
		Agent:  "Do not try this before " + when + ": go on with what needs no approval, and say what was left out.",
		Person: "Have it tried again after " + when + ", or change approvals.quiet in the policy.",
	})
}

// heldUntil returns when people are told of a question that is asked now; zero
// means at once.
func (st *step) heldUntil() time.Time {
	q := st.settings().Quiet
	if end, quiet := q.Until(st.in.At); quiet && q.Hold {
		return end.UTC()
	}
	return time.Time{}
}

// heldLine says before which time no question is sent.
func (st *step) heldLine(until time.Time) string {
	if z := st.settings().Quiet.Zone; z != nil {
		until = until.In(z)
	}
	return "It is quiet: nobody is asked before " + quiet.ClockTime(until) + "."
}

// tooMany refuses a call that would ask one more question than a session may in
// an hour: people who are prompted all the time stop reading. A call that joins
// an open question asks no new one.
func (st *step) tooMany(j *judged) {
	if j.decision.Verdict != floodmark.Confirm {
		return
	}
	most := st.settings().PerHour
	if most == 0 {
		most = policy.UsualPerHour
	}
	if _, asked := st.s.Book.Asked(j.action.Tool, j.action.ArgsDigest, st.in.At); asked {
		return
	}
	if st.askedInAnHour() < most {
		return
	}
	j.decision.Verdict = floodmark.Restrict
	j.decision.Reasons = append([]floodmark.Reason{{
		Code: floodmark.RuleMatched, Rule: "approvals.perHour",
		Text: fmt.Sprintf("this session has asked %d questions within an hour, and may not ask more", most),
	}}, j.decision.Reasons...)
	st.remedy(&j.decision, min(j.mark.Trust, j.question.Trust))
}

// askedInAnHour counts the questions of the last hour.
func (st *step) askedInAnHour() int {
	return st.s.Book.AskedSince(st.in.At.Add(st.settings().TicketTTL - time.Hour))
}
