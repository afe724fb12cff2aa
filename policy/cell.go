package policy

import "github.com/floodmark/floodmark"

// Cell returns what the table alone answers about a call with some effect in a session of some trust:
// the word of a verdict, or «contain» if the call may run in a box only. Other rules can be stricter,
// or allow the call, such as one that the owner named. Without a policy it restricts.
func (p *Policy) Cell(e floodmark.Effect, t floodmark.Trust) string {
	v := p.view("")
	if v == nil || int(e) >= effects || int(t) >= trusts || v.table[e][t] == nil {
		return floodmark.Restrict.String()
	}
	says := v.table[e][t].says
	for _, b := range v.bounds {
		if r := b.reason(floodmark.ToolRef{}, guarded(e), t); r != nil {
			says = says.join(r.says)
		}
	}
	if says.reach == floodmark.Boxed && says.inside == floodmark.Allow {
		return floodmark.Contain
	}
	if says.verdict == floodmark.Audit && !v.settings.AuditorOn {
		return floodmark.Confirm.String() // no auditor may answer
	}
	return says.verdict.String()
}
