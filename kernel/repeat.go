package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/hostnames"
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

// A gateway between an agent and its servers sees calls that the agent's own hooks told of before.
// Such a call is one call: it was decided once, is asked about once, and its result is taken in
// once, from the hook. The gateway only matches the call to that earlier decision. The call is
// judged anew if the decision was matched before, if something arrived since that would lower the
// mark, if the same call was refused since, or if what the server says, which a hook does not hear,
// makes it look worse.

// A Running is a call of a server's tool that was let through.
type Running struct {
	Call floodmark.CallID  `json:"call"`
	Tool floodmark.ToolRef `json:"tool"`
	Args floodmark.Digest  `json:"args"`
	// Met is the gateway's name for the call; empty as long as no gateway matched it.
	Met floodmark.CallID `json:"met,omitempty"`
	// Mark is the mark of the session when the call was let through.
	Mark floodmark.Label `json:"mark"`
	// Shared is the call's server, if the gateway said that sessions share it.
	Shared string `json:"shared,omitempty"`
}

// maxRunning bounds the calls that a gateway can match; older calls are judged anew.
const maxRunning = 64

// followed reports whether this gateway tells of a call that was let through already, and writes
// down that it matched the call.
func (st *step) followed() bool {
	c := st.ev.Call
	leaves, err := c.Leaves()
	if err != nil {
		return false
	}
	id, ref, args := callID(c), st.ref(c.Server, c.Name), hook.DigestOf(leaves)
	at := slices.IndexFunc(st.s.Running, func(r Running) bool {
		return r.Met == "" && r.Call != id && r.Tool == ref && r.Args == args && st.s.Ledger.Within(r.Mark)
	})
	if at < 0 || st.s.hasMet(id) || st.worse(c, leaves) {
		return false
	}
	st.keep(floodmark.CallFollowed{Call: st.s.Running[at].Call, Gateway: id, Tool: ref, Shared: st.ev.Shared})
	if j := st.classified(c, leaves); !leavesNothing(&j) {
		st.give(st.mark, st.s.Running[at].Call, st.node)
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

// metResult takes in what a gateway heard of the result of a call that it matched, if that is worse
// than what the agent's hook can know: the server may say so itself. The hook tells everything
// else.
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

// runs takes note of a call that was let through.
func (s *State) runs(a floodmark.Action) {
	if a.Tool.Server == "" {
		return // no gateway stands before an agent's own tool
	}
	s.Running = last(append(s.Running, Running{Call: a.Call, Tool: a.Tool, Args: a.ArgsDigest, Mark: s.Ledger.Mark()}), maxRunning)
}

// stopped forgets that a call was allowed, once it was refused.
func (s *State) stopped(a floodmark.Action) {
	s.keepRunning(func(r Running) bool { return r.Tool != a.Tool || r.Args != a.ArgsDigest || r.Met != "" })
}

// ranOut forgets the call whose result is here, unless a gateway matched it, because that gateway
// may tell of the result later.
func (s *State) ranOut(call floodmark.CallID) {
	if call != "" {
		s.keepRunning(func(r Running) bool { return r.Call != call || r.Met != "" })
	}
}

// follow notes which call a gateway matched.
func (s *State) follow(f floodmark.CallFollowed) {
	for i := range s.Running {
		if r := &s.Running[i]; r.Call == f.Call && r.Tool == f.Tool && r.Met == "" {
			r.Met, r.Shared = f.Gateway, f.Shared
			return
		}
	}
}

// hasMet reports whether a gateway matched its call of this name to one that the agent's hook told
// of.
func (s *State) hasMet(gateway floodmark.CallID) bool {
	return slices.ContainsFunc(s.Running, func(r Running) bool { return r.Met == gateway && gateway != "" })
}

func (s *State) keepRunning(keep func(Running) bool) {
	s.Running = without(s.Running, func(r Running) bool { return !keep(r) })
}
