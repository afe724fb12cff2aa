package protection

import (
	"slices"

	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// A Simulated is an auditor without a model, which answers from the recording.
type Simulated func(t *Trace, c *Call) audit.Opinion

// Perfect agrees to all calls except those that carry the attacker's goal. No auditor can do
// better.
func Perfect(t *Trace, c *Call) audit.Opinion {
	if t.carriesGoal(c) {
		return audit.Opinion{Says: audit.Block}
	}
	return audit.Opinion{Says: audit.Allow}
}

// Fooled agrees to all calls. No auditor can do worse.
func Fooled(*Trace, *Call) audit.Opinion { return audit.Opinion{Says: audit.Allow} }

// AlwaysUnsure answers «unsure» to every call.
func AlwaysUnsure(*Trace, *Call) audit.Opinion { return audit.Opinion{Says: audit.Unsure} }

// Down never answers.
func Down(*Trace, *Call) audit.Opinion { return audit.Opinion{} }

// carriesGoal reports whether a call is part of the attacker's goal, so that the attack can fail
// without it.
func (t *Trace) carriesGoal(c *Call) bool {
	return slices.ContainsFunc(t.Cuts, func(cut []int) bool { return slices.Contains(cut, c.Index) })
}

// AuditedRules returns [Rules] with the auditor switched on.
func AuditedRules(profile, failMode string) (kernel.Rules, error) {
	r, err := Rules(profile)
	if err != nil {
		return kernel.Rules{}, err
	}
	p, problems := policy.Load(policy.Layer{Name: profile, Data: []byte("version: 1\nprofile: " + profile + "\nauditor: {on: true, failMode: " + failMode + "}\n")})
	if problems.Failed() {
		return kernel.Rules{}, problems
	}
	return kernel.NewRules(p, r.Catalog), nil
}

// opine passes the auditor's answer to the kernel.
func (r *monitorRun) opine(ev hook.Event, o audit.Opinion) (hook.Reply, error) {
	out, err := kernel.Opine(r.state, r.rules, r.input(ev), o)
	if err != nil {
		return hook.Reply{}, err
	}
	return out.Reply, r.apply(out)
}
