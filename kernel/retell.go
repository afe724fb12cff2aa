package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/meaning"
)

// An Explanation is a decision in plain words, each list in the order to be
// read: what came in, where the arguments came from, what the agent wanted,
// what decided, and what can be done.
type Explanation struct {
	Line                                           string
	Sources, Arguments, Actions, Reasons, Remedies []string
	Blamed                                         []floodmark.NodeID // the last of Sources, as nodes
}

// Retell explains a decision again from its fact. The state must be the one
// just before that fact, so that sources are called what they were then.
func Retell(s *State, f floodmark.ActionDecided) Explanation {
	st := newStep(s, Rules{}, Input{})
	j := judged{action: f.Action, decision: f.Decision, mark: f.Mark}
	if f.Basis != nil {
		j.basis = *f.Basis
	}
	e := Explanation{Line: retoldLine(st, &j), Sources: loadNames(&j.basis)}
	blame := f.Decision.Blame
	if slices.ContainsFunc(f.Decision.Reasons, func(r floodmark.Reason) bool {
		return r.Code == floodmark.FlowSecret || r.Code == floodmark.Undescribed
	}) {
		blame = withSecrets(s, blame)
	}
	for _, n := range blame {
		if src, ok := s.Ledger.Source(n); ok {
			e.Blamed = append(e.Blamed, n)
			e.Sources = append(e.Sources, named(src, s.Ledger.Effective(n).Trust)+holding(src.Secrets))
		}
	}
	for i, a := range f.Action.Arguments {
		e.Arguments = append(e.Arguments, st.whence(a)+because(&j.basis, i))
	}
	e.Actions = []string{wanted(f)}
	for _, r := range f.Decision.Reasons {
		text := fmt.Sprintf("%s: %s", r.Verdict, r.Text)
		if r.Rule != "" {
			text += " (" + r.Rule + ")"
		}
		e.Reasons = append(e.Reasons, text)
	}
	if why := Spared(f); why != "" {
		e.Reasons = append(e.Reasons, floodmark.Allow.String()+": "+why)
	}
	for _, r := range []string{f.Decision.Remedy.Person, f.Decision.Remedy.Agent} {
		if r != "" {
			e.Remedies = append(e.Remedies, r)
		}
	}
	return e
}

func retoldLine(st *step, j *judged) string {
	if j.action.Kind == floodmark.CallTool && j.decision.Verdict < floodmark.Allow {
		return st.line(j)
	}
	what := title(j.action)
	switch {
	case waits(j.decision):
		return what + ": waits for the verifiers " + visible(strings.Join(j.decision.Verifiers, ", "))
	case j.decision.Contained():
		return what + ": allowed in a box"
	case j.decision.Verdict == floodmark.Allow:
		return what + ": allowed"
	}
	return reasonLine(what, j.decision)
}

// named is a source with what its owner needs to endorse it.
func named(src floodmark.Source, t floodmark.Trust) string {
	name := meaning.Source(src, t)
	if !src.Digest.IsZero() {
		name += ", digest " + src.Digest.Short()
	}
	return name
}

// whence says where one argument came from.
func (st *step) whence(a floodmark.Argument) string {
	name := visible(a.Path)
	if a.Shown != "" {
		name += " " + fmt.Sprintf("%q", visible(a.Shown))
	}
	switch a.Whence {
	case floodmark.Stated:
		return name + ": you typed it"
	case floodmark.Seen:
		var places []string
		for _, sp := range a.Spans {
			if src, ok := st.s.Ledger.Source(sp.Node); ok {
				places = append(places, fmt.Sprintf("%s at byte %d", meaning.Source(src, st.s.Ledger.Effective(sp.Node).Trust), sp.Offset))
			}
		}
		return name + ": seen in " + cmp.Or(strings.Join(places, ", "), "content that was read")
	case floodmark.Nowhere:
	}
	return name + ": composed by the model"
}

// wanted says what the agent wanted and what that would do.
func wanted(f floodmark.ActionDecided) string {
	a := f.Action
	switch a.Kind {
	case floodmark.CallTool:
		words := make([]string, len(a.Effects))
		for i, e := range a.Effects {
			words[i] = e.String()
		}
		return fmt.Sprintf("call %s (%s) at mark %s, judged as %s", visible(a.Tool.String()), cmp.Or(strings.Join(words, ", "), "unknown effect"), f.Mark, f.Trust)
	case floodmark.CallModel:
		return fmt.Sprintf("call the model, round %d, at mark %s", a.Iteration, f.Mark)
	case floodmark.SendReply:
		return "answer " + cmp.Or(a.Audience, "others") + fmt.Sprintf(" at mark %s", f.Mark)
	case floodmark.SpawnAgent:
	}
	return "begin sub-agent " + visible(string(a.Child))
}
