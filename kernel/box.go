package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
)

// inBox tells in one line what a box does, on a card and to a verifier.
const inBox = "Runs in a box: no network, only this project."

// boxable reports whether the door that asks runs a call in a box if told to, and the box
// lets it do all that is known of it.
func (st *step) boxable(use *catalog.Use, leaves []hook.Leaf) bool {
	return st.ev.Boxes && st.ev.Point == hook.BeforeToolCall && st.boxHolds(use, leaves)
}

// boxHolds reports a command of its own shell that names nothing a box would keep from it: no
// secret, no file outside of the project and of /tmp, of which a box has its own, no record
// that lies elsewhere.
func (st *step) boxHolds(use *catalog.Use, leaves []hook.Leaf) bool {
	if strings.Trim(st.s.Project, "/") == "" || !use.Fresh(leaves) || use.PathKind == catalog.Secret || len(use.Placed) > 0 {
		return false
	}
	outside := func(p string) bool { return !under(p, st.s.Project) && !under(p, "/tmp") }
	return !slices.ContainsFunc(use.Writes, outside) &&
		(!slices.Contains(use.Effects, floodmark.Change) || len(use.Writes) > 0 || use.Location == catalog.InProject)
}

// doneInside reports effects that a box lets happen. Others would fail there: they are asked
// about and run as people know them.
func doneInside(effects []floodmark.Effect) bool {
	return len(effects) > 0 && !slices.ContainsFunc(effects, func(e floodmark.Effect) bool {
		return e == floodmark.Admin || e == floodmark.Send || e == floodmark.Fetch
	})
}

// boxWords tell a person where a call runs, if it could run in a box.
func boxWords(d *floodmark.Decision) string {
	if d.Reach == floodmark.Boxed {
		return inBox
	}
	at := slices.IndexFunc(d.Reasons, func(r floodmark.Reason) bool { return r.Code == floodmark.OutsideBox })
	if at < 0 {
		return ""
	}
	return d.Reasons[at].Text + "."
}

// failedInBox reports the call that failed in its box just now, where it could run in one.
func (st *step) failedInBox(a *floodmark.Action) bool {
	return st.ev.Boxes && st.s.Book.FailedInBox(a.Tool, a.ArgsDigest)
}

// boxEnded writes down how a call ended in its box, and tells the agent what it can do.
func (st *step) boxEnded(f *floodmark.ContentArrived) {
	if st.ev.Box == nil {
		return
	}
	f.BoxTicket, f.BoxEnd, f.BoxExit = st.ev.Box.Ticket, st.ev.Box.State, st.ev.Box.Exit
	f.BoxFailed, st.out.Reply.Warning = st.ev.Box.Failed, st.ev.Box.Line()
	secret := func(name string) bool { return len(st.found(name)) > 0 }
	f.Wanted, f.NotKept = slices.DeleteFunc(st.ev.Box.Wanted(), secret), slices.DeleteFunc(st.ev.Box.NotKept(), secret)
}
