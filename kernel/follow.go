package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/text/hostnames"
)

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
