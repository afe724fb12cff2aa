package protection

import (
	"slices"

	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// A Simulated is an auditor that needs no model: it knows the recording.
type Simulated func(t *Trace, c *Call) audit.Opinion

// Perfect agrees to everything but the calls that carry the attacker's goal: no
// auditor can do better.
func Perfect(t *Trace, c *Call) audit.Opinion {
	if t.carriesGoal(c) {
		return audit.Opinion{Says: audit.Block}
	}
	return audit.Opinion{Says: audit.Allow}
}

// Fooled agrees to everything: no auditor can do worse.
func Fooled(*Trace, *Call) audit.Opinion { return audit.Opinion{Says: audit.Allow} }

// AlwaysUnsure never helps.
func AlwaysUnsure(*Trace, *Call) audit.Opinion { return audit.Opinion{Says: audit.Unsure} }

// Down never answers.
func Down(*Trace, *Call) audit.Opinion { return audit.Opinion{} }

// carriesGoal reports whether a call is one of those without which the attack
// fails.
func (t *Trace) carriesGoal(c *Call) bool {
	return slices.ContainsFunc(t.Cuts, func(cut []int) bool { return slices.Contains(cut, c.Index) })
}

// AuditedRules are [Rules] with an auditor switched on.
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

// opine tells what the auditor said.
func (r *monitorRun) opine(ev hook.Event, o audit.Opinion) (hook.Reply, error) {
	out, err := kernel.Opine(r.state, r.rules, r.input(ev), o)
	if err != nil {
		return hook.Reply{}, err
	}
	return out.Reply, r.apply(out)
}
