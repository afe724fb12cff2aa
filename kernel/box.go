package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/kernel/lists"
)

// boxable reports whether the adapter runs a call in a box if told to, and the box lets the call do
// all that is known of it.
func (st *step) boxable(use *catalog.Use, leaves []hook.Leaf) bool {
	return st.ev.Boxes && st.ev.Point == hook.BeforeToolCall && st.boxHolds(use, leaves)
}

// boxHolds reports whether a call is a command in a shell of its own that names nothing a box would
// keep from it: no secret, no file outside of the project and /tmp (a box has its own /tmp), and no
// change of a record elsewhere.
func (st *step) boxHolds(use *catalog.Use, leaves []hook.Leaf) bool {
	if strings.Trim(st.s.Project, "/") == "" || !use.Fresh(leaves) || use.PathKind == catalog.Secret || len(use.Placed) > 0 {
		return false
	}
	outside := func(p string) bool { return !artifact.Under(p, st.s.Project) && !artifact.Under(p, "/tmp") }
	return !slices.ContainsFunc(use.Writes, outside) &&
		(!slices.Contains(use.Effects, floodmark.Change) || len(use.Writes) > 0 || use.Location == catalog.InProject)
}

// doneInside reports whether a box lets these effects happen.
func doneInside(effects []floodmark.Effect) bool {
	return len(effects) > 0 && !slices.Contains(effects, floodmark.Fetch) && !slices.ContainsFunc(effects, goesOut)
}

func goesOut(e floodmark.Effect) bool { return e == floodmark.Admin || e == floodmark.Send }

// unplugged judges a call that would need a yes again, as one that fetches nothing: its box gets
// the pinned packages, or the command may do without. The second judgement is taken only if it
// boxes the call. During a pause, or if calls are only watched, none is tried without a network.
func (st *step) unplugged(c hook.Call, j *judged) *judged {
	mirror := len(st.ev.Locks) > 0 && !slices.ContainsFunc(st.ev.Locks, func(p string) bool { return !st.left().Pinned(p) })
	if v := j.decision.Verdict; (v == floodmark.Confirm || v == floodmark.Audit) && slices.Contains(j.action.Effects, floodmark.Fetch) && (mirror || j.use.Offline && st.settings().Enforce && st.pause == (floodmark.Pause{})) {
		st.mirror, st.tried = mirror, !mirror
		in := st.judge(c, nil)
		if st.mirror, st.tried = false, false; in.decision.Contained() {
			j, st.out.Reply.Tried = in, !mirror
		}
	}
	st.out.Reply.Mirror = mirror && j.decision.Contained()
	return j
}

// letOut makes a call fetch nothing in a box with a mirror or without a network. If there are
// granted hosts, it makes the call send to these hosts and return what they say.
func (st *step) letOut(j *judged) {
	if j.basis.Mirror, j.basis.Tried = st.mirror, st.tried; st.mirror || st.tried {
		j.use.Effects = except(j.use.Effects, floodmark.Fetch)
	}
	if len(st.hosts) == 0 {
		return
	}
	j.basis.Hosts, j.basis.HostsBy = st.hosts, st.hostsBy
	j.use.Network, j.use.Own, j.use.Returns.Trust = true, false, floodmark.Untrusted
	j.use.Effects = lists.AddNew(slices.Clip(j.use.Effects), floodmark.Send)
	for _, place := range st.hosts {
		j.use.URLs = append(slices.Clip(j.use.URLs), "https://"+place+"/")
	}
}

// granted reports whether the owner granted the hosts of a call, or else the call itself, to the
// project for good, nothing private was read, and no rule on what leaves was broken.
func (j *judged) granted() bool {
	here := len(j.basis.Hosts) == 0 && approval.Here{Effects: j.action.Effects, Codes: j.codes(), Mark: j.mark}.Harmless()
	return j.basis.HostsBy != "" && j.ruling.Verdict >= floodmark.Confirm && (here || len(j.basis.Hosts) > 0 && j.lasting())
}

// lasting reports whether hosts may be granted for more than one call.
func (j *judged) lasting() bool { return !j.ruling.Flow && j.mark.Secrecy > floodmark.Private }

// failedInBox reports whether a call just failed in its box and could run in one. During a pause it
// stays in the box, because no question would be asked before it comes out.
func (st *step) failedInBox(a *floodmark.Action) bool {
	return st.ev.Boxes && st.pause == (floodmark.Pause{}) && st.s.Book.FailedInBox(a.Tool, a.ArgsDigest)
}

// boxEnded writes down how a call ended in its box, and tells the agent what it can do.
func (st *step) boxEnded(f *floodmark.ContentArrived) {
	if st.ev.Box == nil {
		return
	}
	f.BoxTicket, f.BoxEnd, f.BoxExit = st.ev.Box.Ticket, st.ev.Box.State, st.ev.Box.Exit
	f.BoxFailed, st.out.Reply.Warning = st.ev.Box.Failed, st.ev.Box.Line()
	found := func(name string) bool { return len(st.secrets().Find(name)) > 0 }
	f.Wanted, f.NotKept = slices.DeleteFunc(st.ev.Box.Wanted(), found), slices.DeleteFunc(st.ev.Box.NotKept(), found)
}
