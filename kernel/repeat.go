package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/hostnames"
)

// maxTriedIn is how many of the newest contents are looked through for a first try.
const maxTriedIn = 16

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
	return st.s.Let.Has(c.ID, ref, args, st.s.Ledger.Within)
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
	return st.s.Let.Arrived(id, d)
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

// followed reports whether the call of a gateway is one that was let through already, and records
// that the gateway matched it. The call is judged anew if the decision was matched before, if
// something arrived since that would lower the mark, or if the same call was refused since. It is
// also judged anew if the hints of the server, which a hook does not get, make it look worse.
func (st *step) followed() bool {
	c := st.ev.Call
	leaves, err := c.Leaves()
	if err != nil {
		return false
	}
	id, ref, args := callID(c), st.ref(c.Server, c.Name), hook.DigestOf(leaves)
	call, found := st.s.Running.Unmatched(id, ref, args, st.s.Ledger.Within)
	if !found || st.s.Running.Matched(id) || st.worse(c, leaves) {
		return false
	}
	st.keep(floodmark.CallFollowed{Call: call, Gateway: id, Tool: ref, Shared: st.ev.Shared})
	if j := st.classified(c, leaves); !leavesNothing(&j) {
		st.give(st.mark, call, st.node)
	}
	st.givenBack()
	return true
}

// worse reports whether the server's own claims, which a hook does not hear, make the call look
// worse than it is without them.
func (st *step) worse(c hook.Call, leaves []hook.Leaf) bool {
	bare := c
	bare.Hints = nil
	with, without := st.classified(c, leaves).use, st.classified(bare, leaves).use
	return !slices.Equal(with.Effects, without.Effects) || with.Network != without.Network || with.Returns != without.Returns
}

// metResult adds the result of a call that a gateway matched, if the gateway knows something worse
// about it than the agent's hook: the server's own hints. Otherwise the hook's report is enough.
func (st *step) metResult() {
	c := st.ev.Call
	leaves, err := c.Leaves()
	if err == nil && !st.worse(c, leaves) {
		return
	}
	j, label := st.classified(c, leaves), floodmark.Label{}
	if err == nil {
		label = st.returns(j.action.Tool, j.use, leaves)
	}
	digest, found := st.ev.Result.ContentDigest(), st.secrets().Find(st.ev.Result.Text)
	n := st.see(floodmark.Source{Kind: floodmark.NodeToolResult, Origin: j.origin(), Label: label, Inputs: st.givenBack(), Digest: digest, Secrets: found, Links: hostnames.Count(st.ev.Result.Text, j.use.Place)}, "")
	st.indexResult(n, digest)
	st.worth(label, found)
}
