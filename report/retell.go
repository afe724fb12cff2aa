package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/provenance"
)

// An Explanation is a decision in plain words. Its lists are in the order in which they should be
// read: what came in, where the arguments came from, what the agent wanted, what decided, and what
// can be done.
type Explanation struct {
	Line                                           string
	Sources, Arguments, Actions, Reasons, Remedies []string
	Blamed                                         []floodmark.NodeID // the nodes of the last entries of Sources
}

// Retell explains a decision again from its fact. The ledger must be in the state just before that
// fact, so that sources have the same names as then.
func Retell(l *provenance.Ledger, f floodmark.ActionDecided) Explanation {
	e := Explanation{Line: retoldLine(l, &f), Sources: loadNames(f.Basis)}
	blame := f.Decision.Blame
	if slices.ContainsFunc(f.Decision.Reasons, func(r floodmark.Reason) bool {
		return r.Code == floodmark.FlowSecret || r.Code == floodmark.Undescribed
	}) {
		blame = withSecrets(l, blame)
	}
	for _, n := range blame {
		if src, ok := l.Source(n); ok {
			e.Blamed = append(e.Blamed, n)
			e.Sources = append(e.Sources, Named(src, l.Effective(n).Trust)+holding(src.Secrets))
		}
	}
	for i, a := range f.Action.Arguments {
		e.Arguments = append(e.Arguments, whence(l, a)+because(f.Basis, i))
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

func retoldLine(l *provenance.Ledger, f *floodmark.ActionDecided) string {
	d := f.Decision
	if f.Action.Kind == floodmark.CallTool && d.Verdict < floodmark.Allow {
		return Line(l, f)
	}
	what := Title(f.Action)
	switch {
	case d.Verdict == floodmark.Allow && len(d.Verifiers) > 0:
		return what + ": waits for the verifiers " + Visible(strings.Join(d.Verifiers, ", "))
	case d.Contained():
		return what + ": allowed in a box"
	case d.Verdict == floodmark.Allow:
		return what + ": allowed"
	}
	return ReasonLine(what, d)
}

// Named returns the name of a source with its digest, which is needed to endorse the source.
func Named(src floodmark.Source, t floodmark.Trust) string {
	name := meaning.Source(src, t)
	if !src.Digest.IsZero() {
		name += ", digest " + src.Digest.Short()
	}
	return name
}

// whence says where one argument came from.
func whence(l *provenance.Ledger, a floodmark.Argument) string {
	name := Visible(a.Path)
	if a.Shown != "" {
		name += " " + fmt.Sprintf("%q", Visible(a.Shown))
	}
	switch a.Whence {
	case floodmark.Stated:
		return name + ": you typed it"
	case floodmark.Seen:
		var places []string
		for _, sp := range a.Spans {
			if src, ok := l.Source(sp.Node); ok {
				places = append(places, fmt.Sprintf("%s at byte %d", meaning.Source(src, l.Effective(sp.Node).Trust), sp.Offset))
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
		return fmt.Sprintf("call %s (%s) at mark %s, judged as %s", Visible(a.Tool.String()), cmp.Or(strings.Join(words, ", "), "unknown effect"), f.Mark, f.Trust)
	case floodmark.CallModel:
		return fmt.Sprintf("call the model, round %d, at mark %s", a.Iteration, f.Mark)
	case floodmark.SendReply:
		return "answer " + cmp.Or(a.Audience, "others") + fmt.Sprintf(" at mark %s", f.Mark)
	case floodmark.SpawnAgent:
	}
	return "begin sub-agent " + Visible(string(a.Child))
}

// withSecrets adds the sources in which secrets were found.
func withSecrets(l *provenance.Ledger, nodes []floodmark.NodeID) []floodmark.NodeID {
	nodes = slices.Clone(nodes)
	for _, n := range l.Secret() {
		src, _ := l.Source(n)
		if len(src.Secrets) > 0 && !slices.Contains(nodes, src.Node) {
			nodes = append(nodes, src.Node)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// maxHeld bounds how many secrets of a source are listed.
const maxHeld = 8

// holding says which kinds of secrets a source contains and where. It does not reveal them.
func holding(list []floodmark.SecretSpan) string {
	text := ""
	for i, s := range list {
		if i == maxHeld {
			return text + ", …"
		}
		if s.End == 0 { // its place in the content is unknown
			text += fmt.Sprintf(", perhaps with a secret (%s)", s.Rule)
			continue
		}
		text += fmt.Sprintf(", with a secret (%s) at %d-%d", s.Rule, s.Start, s.End)
	}
	return text
}
