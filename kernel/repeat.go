package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A caller that got no answer retries, perhaps at another node. If the journal has its first try,
// the retry gets the decision made then, and nothing is written twice. The retry must have an id,
// and the same tool and arguments. Since the first try, nothing may have arrived that would lower
// the mark it was decided by, no approval may have been taken back, and no rule may have changed.
// Every other retry is judged like a new call.

// A Let is a call that was let through.
type Let struct {
	Call floodmark.CallID  `json:"call"`
	Tool floodmark.ToolRef `json:"tool"`
	Args floodmark.Digest  `json:"args"`
	// Mark is the mark of the session when the call was let through.
	Mark floodmark.Label `json:"mark"`
	// Came is the digest of the call's result, and Node the node of the result.
	Came floodmark.Digest `json:"came,omitzero"`
	Node floodmark.NodeID `json:"node,omitempty"`
}

// How much is looked through for a first try: a caller that asks again does so
// within seconds.
const (
	maxLet     = 16
	maxTriedIn = 16 // newest contents
)

// lets takes note of a call that was let through. A call in a box is judged anew if it comes again.
func (s *State) lets(a floodmark.Action, r floodmark.Reach) {
	l := Let{Call: a.Call, Tool: a.Tool, Args: a.ArgsDigest, Mark: s.Ledger.Mark()}
	if r == floodmark.Boxed {
		l.Args = floodmark.Digest{} // no arguments have this digest
	}
	s.Let = last(append(s.Let, l), maxLet)
}

// letNot forgets that a call was allowed, once it was decided otherwise.
func (s *State) letNot(a floodmark.Action) {
	s.Let = without(s.Let, func(l Let) bool { return l.Call == a.Call || l.Tool == a.Tool && l.Args == a.ArgsDigest })
}

// letNoMore stops retries from reusing earlier allow decisions: their reasons may be
// gone. The results of such calls are still recognised.
func (s *State) letNoMore() {
	for i := range s.Let {
		s.Let[i].Args = floodmark.Digest{}
	}
}

// letCame takes note of the result of a call.
func (s *State) letCame(f floodmark.ContentArrived, call floodmark.CallID) {
	for i := range s.Let {
		if l := &s.Let[i]; call != "" && l.Call == call {
			l.Came, l.Node = f.Digest, f.Node
		}
	}
}

// letBefore reports whether this call was let through at its first try and still waits for its
// result, and nothing arrived since that lowers its mark.
func (st *step) letBefore() bool {
	c := st.ev.Call
	if !st.ev.Retry || st.ev.Gateway || c.ID == "" || !st.s.InTurn || len(st.out.Facts) > 0 {
		return false
	}
	leaves, err := c.Leaves()
	if err != nil {
		return false
	}
	if _, waits := st.s.Ledger.Pending(c.ID); !waits {
		return false
	}
	ref, args := st.ref(c.Server, c.Name), hook.DigestOf(leaves)
	return slices.ContainsFunc(st.s.Let, func(l Let) bool {
		return l.Call == c.ID && l.Tool == ref && l.Args == args && st.s.Ledger.Within(l.Mark)
	})
}

// refusedBefore drops the fact of a retry that was not allowed at its first try
// either, so that it is not written twice. The answer is the new one.
func (st *step) refusedBefore() {
	out := &st.out
	if !st.ev.Retry || st.ev.Call.ID == "" || out.Reply.Decision.Verdict > floodmark.Confirm || len(out.Facts) != 1 {
		return
	}
	d, ok := out.Facts[0].(floodmark.ActionDecided)
	if ok && slices.Contains(st.s.Refused, Refused{Call: d.Action.Call, Tool: d.Action.Tool, Args: d.Action.ArgsDigest}) {
		out.Facts = nil
	}
}

// arrivedBefore reports whether this result was taken in at its first try, and as
// what.
func (st *step) arrivedBefore(id floodmark.CallID, d floodmark.Digest) (floodmark.NodeID, bool) {
	if !st.ev.Retry || st.ev.Call.ID == "" {
		return 0, false
	}
	for _, l := range st.s.Let {
		if l.Call == id && l.Came == d && !d.IsZero() {
			return l.Node, true
		}
	}
	return 0, false
}

// saidBefore reports whether this message was taken in at its first try. Its parts are looked at
// again, because it may be another message with the same words.
func (st *step) saidBefore(d floodmark.Digest) bool {
	if !st.ev.Retry || d.IsZero() || !st.s.InTurn {
		return false
	}
	said := st.ev.Origin
	if st.pasted() && said.IsOwner {
		said.Kind = floodmark.FromPaste
	}
	l := &st.s.Ledger
	for n := floodmark.NodeID(l.Len()) - 1; n >= max(0, floodmark.NodeID(l.Len())-maxTriedIn); n-- {
		src, ok := l.Source(n)
		if ok && l.Live(n) && src.Kind == floodmark.NodeInput && src.Digest == d && src.Origin == said {
			st.parts()
			return true
		}
	}
	return false
}
