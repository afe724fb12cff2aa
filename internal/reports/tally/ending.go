package tally

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/rules/finding"
)

// Ending says what the owner can answer or do so that questions like the one of this decision are
// not asked again. Behind are the sources that were blamed for the decision. If nothing ends such
// questions, it says so and why.
func Ending(f floodmark.ActionDecided, behind []floodmark.Source, table *finding.Table) string {
	b, a := f.Basis, &f.Action
	secret := slices.ContainsFunc(f.Decision.Reasons, func(r floodmark.Reason) bool { return r.Code == floodmark.FlowSecret })
	switch {
	case b == nil || b.Unreadable:
		return "nothing: what cannot be read could be anything, so answer it each time"
	case b.Undescribed && a.Tool.Server != "":
		return "describe the tool: «floodmark policy catalog " + a.Tool.Server + "/" + a.Tool.Name + "» shows what is assumed of it, and «tools:» in your policy says what it does"
	case b.Undescribed:
		return "describe the tool " + a.Tool.Name + " below «tools:» in your policy"
	case len(a.Effects) == 0 || slices.Contains(a.Effects, floodmark.Admin) || b.SelfProtected:
		return "nothing: what changes the agent or the monitor is asked about each time; do it yourself at a terminal"
	case b.SecretInArgs || b.SecretPath || len(b.Carried) > 0 || secret:
		return "nothing: a secret that left does not come back"
	case slices.Contains(a.Effects, floodmark.Run) || table.Runs(b.Found()):
		return endsRun(f, behind, table)
	case len(b.Found()) > 0:
		return table.First(b.Found()).Ends
	}
	if path, ok := steered(&Question{Fact: f}); ok {
		return "write what goes into “" + path + "” in your own message"
	}
	if slices.ContainsFunc(a.Effects, func(e floodmark.Effect) bool { return e == floodmark.Send || e == floodmark.Fetch }) {
		return "name where it goes in your own message, or give a yes for longer than once where the question offers one"
	}
	return "a yes for longer than once where the question offers one"
}

// endsRun says what ends questions about a command that runs code, for example that the owner
// trusts the checkout, or a box, or a new session.
func endsRun(f floodmark.ActionDecided, behind []floodmark.Source, table *finding.Table) string {
	checkout := func(s floodmark.Source) bool { return s.Origin.Kind == floodmark.FromCheckout }
	loads := func(l floodmark.Load) bool { return slices.ContainsFunc(l.Sources, checkout) }
	outside := slices.ContainsFunc(f.Decision.Reasons, func(r floodmark.Reason) bool {
		return r.Code == floodmark.OutsideBox || r.Code == floodmark.BoxHost
	})
	switch {
	case slices.ContainsFunc(behind, checkout) || slices.ContainsFunc(f.Basis.Loads, loads):
		return "if the repository is yours or your team's, say so once: «floodmark trust .»"
	case table.Runs(f.Basis.Found()):
		return table.First(f.Basis.Found()).Ends
	case outside:
		return "nothing but a yes each time: it needs what no box gives it, so it runs with all your rights; begun in a new session that has read nothing foreign it is not asked about"
	case f.Basis.Boxable:
		return "let such commands run in a box, where they ask nothing: «floodmark prove --box» says whether your agent can"
	}
	var read []string
	for _, s := range behind {
		if s.Origin.Place != "" && len(read) < 2 {
			read = append(read, s.Origin.Place)
		}
	}
	if len(read) == 0 {
		return "begin a new session for it: this one has read what anyone could have written"
	}
	return "begin a new session for it: this one has read " + strings.Join(read, " and ")
}

// A Repeat is a rule that asked more than once. No line is proposed that would spare its questions.
type Repeat struct {
	Rule      string `json:"rule"`
	Questions int    `json:"questions"`
	Sessions  int    `json:"sessions"`
	// Such is one of the calls.
	Such string `json:"such"`
	// Why says why no line is proposed.
	Why string `json:"why"`
	// Ends says what would end such questions.
	Ends string `json:"ends"`
}

// Repeats returns the rules that asked more than once. Questions in spared are not counted, because
// a line is proposed for them.
func (a *Account) Repeats(spared []*Question, table *finding.Table) (list []Repeat) {
	known := func(q *Question) bool {
		return slices.ContainsFunc(spared, func(s *Question) bool { return s.Session == q.Session && s.Ticket == q.Ticket })
	}
	for _, b := range a.Rules(len(a.Questions)) {
		b.Questions = slices.DeleteFunc(slices.Clone(b.Questions), known)
		if len(b.Questions) < 2 {
			continue
		}
		names := map[string]bool{}
		for _, q := range b.Questions {
			names[q.Session] = true
		}
		last := b.Questions[len(b.Questions)-1]
		r := Repeat{Rule: b.Rule, Questions: len(b.Questions), Sessions: len(names), Such: What(&last.Fact.Action), Why: Why(last, table), Ends: Ending(last.Fact, last.Blamed, table)}
		if r.Why == "" {
			r.Why = "too few different calls were read and approved, or one was denied"
		}
		list = append(list, r)
	}
	return list
}
