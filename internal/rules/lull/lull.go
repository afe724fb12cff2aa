// Package lull says which decisions are not enforced while the owner has paused or only observes,
// and words what the owner is told about it. It knows no clock: the caller says whether a pause is
// in effect.
package lull

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A Call is a call of a tool, or an answer to others, with its decision.
type Call struct {
	Action *floodmark.Action
	Basis  *floodmark.Basis
	// Reasons are the reasons of the decision.
	Reasons []floodmark.Reason
	// Gates are the verifiers that the call has to pass even if it is allowed.
	Gates []string
}

// Lift turns a decision into Allow in these cases:
//   - The policy only watches (watched), or the owner only observes. Then the call is also not boxed,
//     and no verifier is asked. Observing does not lift a [Guarded] call.
//   - The owner has paused. Then boxes are still used and verifiers still asked, because both ask the
//     owner nothing. A pause does not lift an [Unpausable] call.
//
// The call is nil for a model call.
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
		d.Verifiers = call.Gates // external gates did not pause
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

// until returns when a pause ends. It names the day only for a time of observing, which can last
// longer than a day.
func until(p floodmark.Pause) string {
	if p.Observe {
		return p.Until.UTC().Format("2 January 15:04 MST")
	}
	return p.Until.UTC().Format("15:04 MST")
}

// Notice tells the owner that a pause is in effect.
func Notice(p floodmark.Pause) string {
	if p.Observe {
		return "you only observe until " + until(p) + ": everything runs, and only the monitor and the agents' own settings are protected"
	}
	return "paused by you until " + until(p) + ", nothing but admin and secrets is enforced"
}

// Unpausable reports whether the decision on a call is enforced even during a pause:
//   - if the call changes the agent or the monitor, or starts a shell whose commands are not seen,
//     because both have effects after the pause;
//   - if a secret could leave, because that cannot be undone;
//   - if the arguments cannot be read or the effects are unknown, because the call may be any of
//     these;
//   - if the owner or a verifier refused the call.
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

// Guarded reports whether the decision on a call is enforced even while the owner only observes.
// This includes calls that could switch off the monitor or start an agent without it, calls that
// hide what they do, and calls that the owner refused. Of the calls that change agents, only those
// are excepted that write files in the project, because any program that runs could write these
// too. Nothing is excepted because of its name.
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
