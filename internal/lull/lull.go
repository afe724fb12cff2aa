// Package lull says what an owner lifts who paused, or who only observes: which calls go
// through all the same, and in which words he is told. It knows no clock: that a pause
// holds is for the caller to say.
package lull

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Call is what is looked at of a call of a tool, or of an answer to others.
type Call struct {
	Action *floodmark.Action
	Basis  *floodmark.Basis
	// Reasons are those of its decision.
	Reasons []floodmark.Reason
	// Gates are the verifiers that it has to pass, whatever lets it.
	Gates []string
}

// Lift turns a decision into Allow where the policy only watches, or the owner only
// observes, which also boxes nothing and asks no verifier, and, unless it is among what
// no pause lifts, while the owner has paused: then verifiers are still asked, and what
// runs in a box still does: that asks him nothing. A call is nil for a model call.
func Lift(d *floodmark.Decision, watched bool, p floodmark.Pause, call *Call) {
	switch {
	case watched:
	case p.Observe:
		if call != nil && Guarded(*call) {
			return
		}
		watched = true
	case p == floodmark.Pause{} || call != nil && Unpausable(*call):
		return
	}
	if watched {
		d.Verifiers = nil
	}
	if d.Verdict == floodmark.Allow && len(d.Hidden) == 0 && (!watched || d.Reach == floodmark.Free) {
		return
	}
	if !watched && call != nil && call.Action.Kind == floodmark.CallTool {
		d.Verifiers = call.Gates // those outside did not pause
	}
	if d.Would = d.Word(); watched {
		d.Reach = floodmark.Free
	}
	if len(d.Hidden) > 0 {
		d.Would += " hiding " + strings.Join(d.Hidden, " ")
	}
	d.Verdict, d.Hidden = floodmark.Allow, nil
	d.Reasons = append([]floodmark.Reason{because(watched, p, d.Would)}, d.Reasons...)
}

// because says why nothing is enforced.
func because(watched bool, p floodmark.Pause, would string) floodmark.Reason {
	r := floodmark.Reason{Code: floodmark.DryRun, Text: "only watched", Verdict: floodmark.Allow}
	switch {
	case watched && p.Observe:
		r.Text = "the owner only observes until " + until(p)
	case !watched:
		r.Code, r.Text = floodmark.Paused, "the owner paused until "+until(p)
	}
	r.Text += ": it would have been " + would
	return r
}

// until is when a pause ends. It takes another day to name one only where it can.
func until(p floodmark.Pause) string {
	if p.Observe {
		return p.Until.UTC().Format("2 January 15:04 MST")
	}
	return p.Until.UTC().Format("15:04 MST")
}

// Notice tells the owner that a pause holds.
func Notice(p floodmark.Pause) string {
	if p.Observe {
		return "you only observe until " + until(p) + ": everything runs, and only the monitor and the agents' own settings are protected"
	}
	return "paused by you until " + until(p) + ", nothing but admin and secrets is enforced"
}

// Unpausable reports whether a call is enforced whatever the owner paused: what
// changes the agent or the monitor outlives every pause, and so does a shell
// whose commands are not reported; a secret that left does not come back; what cannot
// be read may be any of these; and what the owner, or a verifier, refused is refused.
func Unpausable(c Call) bool {
	b := c.Basis
	if b.Unreadable || b.SelfProtected || slices.Contains(b.Found(), floodmark.TakesCommands) || b.SecretInArgs || b.SecretPath && b.Network || len(b.Carried) > 0 {
		return true
	}
	if len(c.Action.Effects) == 0 || slices.Contains(c.Action.Effects, floodmark.Admin) {
		return true
	}
	return slices.ContainsFunc(c.Reasons, func(r floodmark.Reason) bool {
		switch r.Code {
		case floodmark.FlowSecret, floodmark.Undescribed, floodmark.SelfProtection, floodmark.Interactive, floodmark.Unjudged, floodmark.Denied:
			return true
		case floodmark.Verified:
			return r.Verdict < floodmark.Allow
		default:
			return false
		}
	})
}

// Guarded reports whether a call is enforced even while the owner only observes: what
// could switch off the monitor, or start an agent without it, or hides what it does. Of
// what changes agents only files in the project are let through, which any program that
// runs could write as well: the start files of shells lie elsewhere. Here nothing is known
// to be harmless by its name.
func Guarded(c Call) bool {
	b := c.Basis
	if b.Unreadable || b.SelfProtected || slices.Contains(b.Found(), floodmark.TakesCommands) {
		return true
	}
	if len(c.Action.Effects) == 0 || slices.Contains(c.Action.Effects, floodmark.Admin) && !b.Inside {
		return true
	}
	return slices.ContainsFunc(c.Reasons, func(r floodmark.Reason) bool {
		return r.Code == floodmark.SelfProtection || r.Code == floodmark.Interactive || r.Code == floodmark.Unjudged || r.Code == floodmark.Denied
	})
}
