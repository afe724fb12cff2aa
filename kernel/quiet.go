package kernel

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/quiet"
	"github.com/floodmark/floodmark/policy"
)

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
