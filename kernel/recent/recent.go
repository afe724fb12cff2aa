// Package recent remembers the calls of a session that were let through a moment ago, so that a
// retry and a gateway's report of the same call are recognised.
package recent

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/kernel/lists"
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

// maxLet bounds how many calls are looked through for a first try. A caller that asks again does so
// within seconds.
const maxLet = 16

// Lets are the newest calls that were let through.
type Lets []Let

// Add takes note of a call that was let through by this mark. A call in a box is judged anew if it
// comes again.
func (l *Lets) Add(a floodmark.Action, r floodmark.Reach, mark floodmark.Label) {
	one := Let{Call: a.Call, Tool: a.Tool, Args: a.ArgsDigest, Mark: mark}
	if r == floodmark.Boxed {
		one.Args = floodmark.Digest{} // no arguments have this digest
	}
	*l = lists.Last(append(*l, one), maxLet)
}

// Forget forgets that a call was allowed, once it was decided otherwise.
func (l *Lets) Forget(a floodmark.Action) {
	*l = lists.Without(*l, func(o Let) bool { return o.Call == a.Call || o.Tool == a.Tool && o.Args == a.ArgsDigest })
}

// End stops retries from reusing earlier allow decisions: their reasons may be gone. The results of
// such calls are still recognised.
func (l Lets) End() {
	for i := range l {
		l[i].Args = floodmark.Digest{}
	}
}

// Result takes note of the result of a call.
func (l Lets) Result(f floodmark.ContentArrived, call floodmark.CallID) {
	for i := range l {
		if call != "" && l[i].Call == call {
			l[i].Came, l[i].Node = f.Digest, f.Node
		}
	}
}

// Has reports whether this call was let through by a mark that holds still.
func (l Lets) Has(call floodmark.CallID, tool floodmark.ToolRef, args floodmark.Digest, holds func(floodmark.Label) bool) bool {
	return slices.ContainsFunc(l, func(o Let) bool {
		return o.Call == call && o.Tool == tool && o.Args == args && holds(o.Mark)
	})
}

// Arrived returns the node of a call's result if the result with this digest was taken in.
func (l Lets) Arrived(call floodmark.CallID, d floodmark.Digest) (floodmark.NodeID, bool) {
	for _, o := range l {
		if o.Call == call && o.Came == d && !d.IsZero() {
			return o.Node, true
		}
	}
	return 0, false
}

// A gateway between an agent and its servers sees calls that the agent's own hooks told of before.
// Such a call is one call: it was decided once, is asked about once, and its result is taken in
// once, from the hook. The gateway only matches the call to that earlier decision.

// A Call is a call of a server's tool that was let through and has no result yet, or that a gateway
// matched.
type Call struct {
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

// maxCalls bounds the calls that a gateway can match; older calls are judged anew.
const maxCalls = 64

// Calls are the calls that run.
type Calls []Call

// Add takes note of a call that was let through by this mark.
func (c *Calls) Add(a floodmark.Action, mark floodmark.Label) {
	if a.Tool.Server == "" {
		return // no gateway stands before an agent's own tool
	}
	*c = lists.Last(append(*c, Call{Call: a.Call, Tool: a.Tool, Args: a.ArgsDigest, Mark: mark}), maxCalls)
}

// Forget forgets that a call was allowed, once it was refused.
func (c *Calls) Forget(a floodmark.Action) {
	*c = lists.Without(*c, func(r Call) bool { return r.Tool == a.Tool && r.Args == a.ArgsDigest && r.Met == "" })
}

// Result forgets the call whose result is here, unless a gateway matched it, because that gateway
// may tell of the result later.
func (c *Calls) Result(call floodmark.CallID) {
	if call != "" {
		*c = lists.Without(*c, func(r Call) bool { return r.Call == call && r.Met == "" })
	}
}

// Unmatched returns the first call that no gateway matched, that has another name than id, and for
// whose mark holds returns true.
func (c Calls) Unmatched(id floodmark.CallID, tool floodmark.ToolRef, args floodmark.Digest, holds func(floodmark.Label) bool) (floodmark.CallID, bool) {
	for _, r := range c {
		if r.Met == "" && r.Call != id && r.Tool == tool && r.Args == args && holds(r.Mark) {
			return r.Call, true
		}
	}
	return "", false
}

// Match notes which call a gateway matched.
func (c Calls) Match(f floodmark.CallFollowed) {
	for i := range c {
		if r := &c[i]; r.Call == f.Call && r.Tool == f.Tool && r.Met == "" {
			r.Met, r.Shared = f.Gateway, f.Shared
			return
		}
	}
}

// Matched reports whether a gateway matched its call of this name to one that the agent's hook told
// of.
func (c Calls) Matched(gateway floodmark.CallID) bool {
	return slices.ContainsFunc(c, func(r Call) bool { return r.Met == gateway && gateway != "" })
}

// Shared returns the shared server of a call that a gateway matched.
func (c Calls) Shared(call floodmark.CallID) string {
	for _, r := range c {
		if r.Call == call && r.Met != "" && r.Shared != "" {
			return r.Shared
		}
	}
	return ""
}

// CloseTurn forgets the calls that no gateway matched.
func (c *Calls) CloseTurn() { *c = lists.Without(*c, func(r Call) bool { return r.Met == "" }) }
