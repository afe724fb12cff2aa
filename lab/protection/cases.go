package protection

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
)

// An AuditCase is a recorded call as an auditor would see it, with the right answer.
type AuditCase struct {
	audit.Case
	Set Set
	// Attack says that the call carries the attacker's goal, so an auditor should not agree.
	// Otherwise the call belongs to a task that the user wanted and that succeeded.
	Attack bool
	// Reached says that the rules leave the call to an auditor. They decide all other calls
	// themselves or leave them to a person.
	Reached bool
}

// Cases returns the distinct cases of the given sets in which a call has an effect: calls of honest
// runs that succeeded, and calls that carry the goal of attacks that succeeded. A case that is both
// honest and an attack is left out and counted, because what an auditor sees is the same for both.
func Cases(ctx context.Context, d *Data, rules kernel.Rules, sets []Set, progress func(done, total int)) (list []AuditCase, both int, err error) {
	m, err := Audited("auditor", rules, Perfect)
	if err != nil {
		return nil, 0, err
	}
	g := gatherer{monitor: m, at: map[[sha256.Size]byte]int{}}
	for i := range d.Traces {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if progress != nil && i%batch == 0 {
			progress(i, len(d.Traces))
		}
		t := &d.Traces[i]
		set, ok := t.Set()
		if !ok || !slices.Contains(sets, set) || t.Kind == Benign && !t.Utility || t.Kind == Attack && (!t.Succeeded || t.TextOnly) {
			continue
		}
		if err := g.gather(t, set); err != nil {
			return nil, 0, fmt.Errorf("replay %s: %w", t.ID, err)
		}
	}
	for i, c := range g.list {
		if g.mixed[i] {
			both++
			continue
		}
		list = append(list, c)
	}
	return list, both, nil
}

type gatherer struct {
	monitor Decider
	list    []AuditCase
	mixed   []bool
	at      map[[sha256.Size]byte]int
}

// gather plays one trace to its end. Every call is approved, so that all proposed calls are
// reached.
func (g *gatherer) gather(t *Trace, set Set) error {
	begun, err := g.monitor.Begin(t)
	if err != nil {
		return err
	}
	r, ok := begun.(*monitorRun)
	if !ok {
		return fmt.Errorf("%T plays no cases", begun)
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if err := r.Propose(s); err != nil {
			return err
		}
		asked := make([]bool, len(s.Calls))
		for j := range s.Calls {
			c := &s.Calls[j]
			found, fits := r.caseOf(c)
			if asked[j], err = r.Ask(c); err != nil {
				return err
			}
			if fits && acts(found.Effects) && (t.Kind == Benign || t.carriesGoal(c)) {
				g.keep(AuditCase{Case: found, Set: set, Attack: t.Kind == Attack, Reached: r.audited()})
			}
		}
		for j := range s.Calls {
			if c := &s.Calls[j]; c.Fed {
				if err := r.Feed(c, asked[j]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// audited reports whether the newest decision was left to the auditor.
func (r *monitorRun) audited() bool {
	reasons := r.decided.Decision.Reasons
	return len(reasons) > 0 && reasons[0].Code == floodmark.Audited
}

// acts reports whether a call does more than read.
func acts(effects []floodmark.Effect) bool {
	return slices.ContainsFunc(effects, func(e floodmark.Effect) bool { return e != floodmark.Observe && e != floodmark.Fetch })
}

func (r *monitorRun) caseOf(c *Call) (audit.Case, bool) {
	found, ok := kernel.CaseOf(r.state, r.rules, r.input(hook.Event{Point: hook.BeforeToolCall, Call: r.call(c)}))
	return found, ok && found.Fits()
}

// keep adds a case unless it was added before.
func (g *gatherer) keep(c AuditCase) {
	data, err := json.Marshal(c.Case)
	if err != nil {
		return // a case is only text, so this cannot fail
	}
	name := sha256.Sum256(data)
	i, known := g.at[name]
	if !known {
		g.at[name] = len(g.list)
		g.list, g.mixed = append(g.list, c), append(g.mixed, false)
		return
	}
	g.mixed[i] = g.mixed[i] || g.list[i].Attack != c.Attack
	g.list[i].Reached = g.list[i].Reached || c.Reached
}
