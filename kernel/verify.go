package kernel

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/internal/secret"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/verify"
)

// An Asking is a call that gates outside must agree to before it proceeds.
type Asking struct {
	// Request is what each gate is shown. It has no ID yet.
	Request verify.Request
	// Gates are the gates that are asked. Each must allow the call.
	Gates []verify.Gate
}

// A Hearing is what came of an [Asking].
type Hearing struct {
	Asked Asking
	// Answers are the answers of the gates, in their order. A gate that is missing has not agreed.
	Answers []GateAnswer
	// Case and Opinion are what an auditor was shown and said of the same call
	// before, if one was asked.
	Case    *audit.Case
	Opinion audit.Opinion
	// Last says that no gate is asked again, whatever changed meanwhile.
	Last bool
}

// A GateAnswer is what one gate said, or why it did not. The zero GateAnswer
// refuses.
type GateAnswer struct {
	Gate string
	// Request names the request at that gate; empty if it was not asked.
	Request string
	Answer  verify.Answer
	Failure *verify.Failure
}

// waits reports whether a decision allows a call that verifiers must agree to
// first.
func waits(d floodmark.Decision) bool { return d.Verdict == floodmark.Allow && len(d.Verifiers) > 0 }

// gates returns the gates a call has to pass unless the policy refuses it: those of the policy and
// of the settings.
func gates(j *judged) []string {
	if j.ruling.Verdict == floodmark.Restrict {
		return nil
	}
	return allGates(j)
}

// allGates returns the gates a call has to pass if it proceeds, whatever lets it.
func allGates(j *judged) []string {
	list := j.ruling.Verifiers
	for _, name := range j.basis.Gates {
		if !slices.Contains(list, name) {
			list = append(slices.Clip(list), name)
		}
	}
	return list
}

// verify writes down that a call waits for verifiers, and asks them. It reports
// whether they can be asked: a call too large to be shown is refused.
func (st *step) verify(j *judged) bool {
	asking, ok := st.asking(j)
	if ok {
		st.decide(j.action, j.mark, j.question.Trust, j.decision, j.basis)
		st.out.Verify = &asking
		return true
	}
	var answers []GateAnswer
	for _, g := range asking.Gates {
		answers = append(answers, GateAnswer{Gate: g.Name, Failure: &verify.Failure{
			Kind: verify.Unshowable, Text: fmt.Sprintf("the call is too large to be shown to it (at most %d KB)", verify.MaxParamsBytes>>10),
		}})
	}
	st.tally(j, st.answers(j, Hearing{Asked: asking, Answers: answers}))
	return false
}

// asking returns what is asked about a call, and whether the call can be shown.
func (st *step) asking(j *judged) (Asking, bool) {
	view := st.view(j)
	params, ok := view.Params()
	lines := view.Lines()
	if j.decision.Reach == floodmark.Boxed {
		lines = append(lines, approval.InBox(j.basis.Hosts))
	}
	tool := j.action.Tool
	a := Asking{Request: verify.Request{
		At: st.in.At, Session: string(st.ev.Session), Agent: tool.Agent, Provider: st.provider(),
		Tool: tool.String(), Params: params, Digest: j.action.ArgsDigest, Reach: j.decision.Reach, Lines: lines,
	}}
	for _, name := range j.decision.Verifiers {
		a.Gates = append(a.Gates, st.r.Gate(tool.Agent, name))
	}
	return a, ok
}

// view returns what of a call may be shown.
func (st *step) view(j *judged) *secret.View {
	n := len(j.leaves) - len(j.use.URLs) // the addresses of command lines come last
	return st.secrets().View(secret.Call{
		Tool: j.action.Tool.Name, Use: j.use, Args: st.ev.Call.Args,
		Leaves: j.leaves[:n], Inner: j.leaves[n:],
	})
}

// Gate returns how a gate is asked: the strictest of what the settings and the policy say.
func (r Rules) Gate(agent, name string) verify.Gate {
	g, set := r.Gates.Gate(agent, name)
	for _, v := range r.Policy.Verifiers(agent) {
		if v.Name != name {
			continue
		}
		said := verify.Gate{Name: name, Timeout: v.Timeout}
		if v.FailMode == policy.FailAllow {
			said.FailMode = verify.FailAllow
		}
		if set {
			said = g.Join(said)
		}
		g, set = said, true
	}
	g.Name, g.Agent, g.Scope = name, "", verify.Scope{}
	return g
}

// Verify takes in what the gates answered about a call that waited for them. The call is judged
// anew, because the session may have changed meanwhile. The answers are valid only for the request
// that was shown and the gates that were asked. If these are others now, the gates are asked anew;
// if h.Last is set, the call is refused.
func Verify(s *State, r Rules, in Input, h Hearing) (Output, error) {
	st := newStep(s, r, in)
	if err := st.heed(); err != nil {
		return Output{}, err
	}
	st.ensureOpen()
	st.ensureRules()
	st.openTurn()
	j := st.judgeCall(in.Event.Call)
	if j.decision.Verdict == floodmark.Audit && h.Case != nil && sameCase(st.auditCase(j), *h.Case) {
		st.opined(j, st.opinionGiven(j, h.Opinion))
	}
	st.enforce(&j.decision, j) // a call that only a pause lets through waits for gates, too
	answers := st.answers(j, h)
	if waits(j.decision) {
		switch now, _ := st.asking(j); {
		case h.covers(now):
			st.tally(j, answers)
		case h.Last:
			st.refuse(j, floodmark.Reason{
				Code: floodmark.Verified, Rule: j.decision.Verifiers[0],
				Text: "the session kept changing while verifiers were asked about this call",
			}, floodmark.Remedy{
				Agent:  "Try the same call again when nothing else is going on.",
				Person: "There is nothing for you to do here.",
			})
		}
	}
	st.finish(j)
	return st.out, nil
}

// sameCase reports whether an auditor would be shown the same again.
func sameCase(a, b audit.Case) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// covers reports whether the answers are to what would be asked now.
func (h Hearing) covers(now Asking) bool {
	if !h.Asked.Request.Same(now.Request) {
		return false
	}
	for _, g := range now.Gates {
		if !slices.ContainsFunc(h.Answers, func(a GateAnswer) bool { return a.Gate == g.Name }) {
			return false
		}
	}
	return true
}

// answers writes down what the gates answered. If a gate gave no answer, its failMode decides.
func (st *step) answers(j *judged, h Hearing) []floodmark.VerifierAnswered {
	var list []floodmark.VerifierAnswered
	for _, a := range h.Answers {
		f := floodmark.VerifierAnswered{
			Verifier: a.Gate, Request: a.Request, Call: j.action.Call, ArgsDigest: j.action.ArgsDigest, Text: verify.Clean(a.Answer.Reason),
		}
		switch {
		case a.Failure != nil:
			f.Failure, f.Text = string(a.Failure.Kind), verify.Clean(a.Failure.Text)
			if a.Failure.Kind.Excusable() && st.r.Gate(j.action.Tool.Agent, a.Gate).FailMode == verify.FailAllow {
				f.Verdict = floodmark.Allow
			}
		case a.Answer.Allow:
			f.Verdict = floodmark.Allow
		}
		st.keep(f)
		list = append(list, f)
	}
	return list
}

// tally takes the answers into a decision that waits for them: every gate must allow the call. The
// decision goes on waiting for a gate without an answer.
func (st *step) tally(j *judged, answers []floodmark.VerifierAnswered) {
	var silent []string
	for _, name := range j.decision.Verifiers {
		at := slices.IndexFunc(answers, func(a floodmark.VerifierAnswered) bool { return a.Verifier == name })
		if at < 0 {
			silent = append(silent, name)
			continue
		}
		a := answers[at]
		reason := floodmark.Reason{Code: floodmark.Verified, Rule: name, Text: verify.AnswerText(a), Verdict: a.Verdict}
		if a.Verdict != floodmark.Allow {
			st.refuse(j, reason, verify.Remedy(a))
			return
		}
		j.decision.Reasons = append(slices.Clip(j.decision.Reasons), reason)
	}
	j.decision.Verifiers = silent
}

// refuse turns a decision that waits for verifiers into a refusal.
func (st *step) refuse(j *judged, reason floodmark.Reason, todo floodmark.Remedy) {
	d := &j.decision
	d.Verdict, d.Verifiers, d.Blame = floodmark.Restrict, nil, nil
	d.Reasons = append([]floodmark.Reason{reason}, d.Reasons...)
	d.Remedy = todo
}

// provider returns how the owner talks to the agent: where they last wrote.
func (st *step) provider() string {
	name := ""
	for src := range st.s.Ledger.Sources() {
		if src.Origin.Kind == floodmark.FromSender && src.Origin.IsOwner {
			name = src.Origin.Name
		}
	}
	return name
}

// GateTime is how long a gate may take if no time was set for it (seed 3).
const GateTime = 30 * time.Second
