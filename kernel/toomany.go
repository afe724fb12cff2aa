package kernel

import (
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// tooMany refuses a call that would ask one more question than a session may in
// an hour: whoever is asked all the time reads nothing any more. What joins an
// open question asks no new one.
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
	alone := len(steered(j)) > 0 || st.takesTwo(j) // what has to be picked joins nothing, nor what takes two people
	if _, joins := st.s.Book.Joinable(st.turn(), st.in.At, st.heldUntil()); joins && !alone {
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
