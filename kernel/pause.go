package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// A pause is the owner's word that he wants to be left alone for a while. What
// he said stands in a session of the monitor's own and comes in with each event;
// the session writes down under which one it decided, so that its facts alone
// say why nothing was enforced. A pause that did not come in does not hold.

// wantedPause is the pause that holds at this event, if one came in.
func (st *step) wantedPause() floodmark.Pause {
	p := st.in.Pause
	if p.Holds(st.in.At) && (p.Session == "" || p.Session == st.in.Event.Session) {
		return p
	}
	return floodmark.Pause{}
}

// notePause brings the session's facts to what holds now.
func (st *step) notePause() {
	noted := st.paused
	if st.paused = true; noted {
		return
	}
	for _, p := range st.s.Pauses {
		if p.Same(st.pause) {
			noted = true
			continue
		}
		why := "another one holds"
		switch {
		case st.pause != floodmark.Pause{}:
		case st.in.At.Before(p.From):
			why = "the clock was set back"
		case p.Holds(st.in.At):
			why = "the owner ended it"
		default:
			why = "its time is over"
		}
		st.keep(floodmark.PauseEnded{Session: p.Session, Why: why})
	}
	if !noted && st.pause != (floodmark.Pause{}) {
		st.keep(floodmark.PauseBegan{Pause: st.pause})
	}
}

// enforce turns an answer into Allow where the policy only watches, which also boxes
// nothing, and, unless it is among what no pause lifts, while the owner has paused: then
// verifiers are still asked, and what runs in a box still does: that asks him nothing. A
// call is nil for a model call.
func (st *step) enforce(d *floodmark.Decision, call *judged) {
	watched := !st.settings().Enforce
	if watched {
		d.Verifiers = nil
	} else if st.pause == (floodmark.Pause{}) || call != nil && unpausable(call) {
		return
	}
	if d.Verdict == floodmark.Allow && len(d.Hidden) == 0 && (!watched || d.Reach == floodmark.Free) {
		return
	}
	if !watched && call != nil && call.action.Kind == floodmark.CallTool {
		d.Verifiers = allGates(call) // those outside did not pause
	}
	if d.Would = d.Word(); watched {
		d.Reach = floodmark.Free
	}
	if len(d.Hidden) > 0 {
		d.Would += " hiding " + strings.Join(d.Hidden, " ")
	}
	d.Verdict, d.Hidden = floodmark.Allow, nil
	because := floodmark.Reason{Code: floodmark.DryRun, Text: "only watched: it would have been " + d.Would, Verdict: floodmark.Allow}
	if !watched {
		because.Code, because.Text = floodmark.Paused, pausedText(st.pause)+": it would have been "+d.Would
	}
	d.Reasons = append([]floodmark.Reason{because}, d.Reasons...)
}

// pausedText says that a pause holds.
func pausedText(p floodmark.Pause) string {
	return "the owner paused until " + p.Until.UTC().Format("15:04 MST")
}

// pausedNotice says it to the owner.
func (st *step) pausedNotice() string {
	return "paused by you until " + st.pause.Until.UTC().Format("15:04 MST") + ", nothing but admin and secrets is enforced"
}

// unpausable reports whether a call is enforced whatever the owner paused: what
// changes the agent or the monitor outlives every pause, and so does a shell
// whose commands nobody sees; a secret that left does not come back; what cannot
// be read may be any of these; and what he, or a verifier, refused is refused.
func unpausable(j *judged) bool {
	b := &j.basis
	if b.Unreadable || b.SelfProtected || b.Interactive || b.SecretInArgs || b.SecretPath && b.Network || len(b.Carried) > 0 {
		return true
	}
	if len(j.action.Effects) == 0 || slices.Contains(j.action.Effects, floodmark.Admin) {
		return true
	}
	return slices.ContainsFunc(j.decision.Reasons, func(r floodmark.Reason) bool {
		switch r.Code {
		case floodmark.FlowSecret, floodmark.SelfProtection, floodmark.Interactive, floodmark.Unjudged, floodmark.Denied:
			return true
		case floodmark.Verified:
			return r.Verdict < floodmark.Allow
		default:
			return false
		}
	})
}

// endPause forgets the pause of a session, or the one of all.
func (s *State) endPause(of floodmark.SessionID) {
	s.Pauses = without(s.Pauses, func(p floodmark.Pause) bool { return p.Session == of })
}
