package kernel

import (
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// Sessions that share a server of tools may pass content through it: what one gave it, another may
// get. What the server keeps is not known, so all its results carry the mark of every session that
// wrote to it, until the owner vouches for them. A session adds a source for that only if its mark
// is lower than what the server carries already.

// maxTogether bounds the sources that a shared server carries. If there are more, they are joined
// into one.
const maxTogether = 16

// together returns the shared server that this event is about.
func (st *step) together() (floodmark.ArtifactRef, bool) {
	name := st.ev.Shared
	if name == "" && st.ev.Point == hook.AfterToolCall { // told by a hook, which knows no gateway
		name = st.s.metShared(callID(st.ev.Call))
	}
	return floodmark.ArtifactRef{Kind: floodmark.ServerArtifact, Name: name}, name != "" && st.in.Artifacts != nil
}

// metShared returns the shared server of a call that a gateway matched.
func (s *State) metShared(call floodmark.CallID) string {
	for _, r := range s.Running {
		if r.Call == call && r.Met != "" && r.Shared != "" {
			return r.Shared
		}
	}
	return ""
}

// givenBack adds what sessions gave to the shared server of this event, because that server may
// give it to this session.
func (st *step) givenBack() []floodmark.NodeID {
	ref, ok := st.together()
	if !ok {
		return nil
	}
	return st.carry(ref, st.find(ref))
}

// leavesNothing reports whether a call is known to leave nothing behind at its
// server. An undescribed tool may leave something.
func leavesNothing(j *judged) bool {
	return j.use.Profile != nil && len(j.action.Effects) > 0 && !slices.ContainsFunc(j.action.Effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
}

// give records that a session at this mark is about to write to the shared server of this event,
// unless the server carries a mark as low already.
func (st *step) give(mark floodmark.Label, call floodmark.CallID, nodes floodmark.NodeID) {
	ref, ok := st.together()
	if !ok || slices.ContainsFunc(st.out.Artifacts, func(a floodmark.Artifact) bool { return a.Ref == ref }) {
		return
	}
	old := st.find(ref)
	if st.weigh(old).label().AtLeastAsSafe(mark) {
		return
	}
	// The digest is of this gift alone: an endorsement of it covers what the
	// server was given until then, and nothing later.
	digest := floodmark.DigestOf(fmt.Sprintf("given to the server %s by session %s at %d, node %d, at mark %s", ref.Name, st.ev.Session, st.in.At.UnixNano(), nodes, mark))
	st.keep(floodmark.ArtifactWritten{Artifact: ref, Call: call, Digest: digest, Nodes: nodes})
	list := []floodmark.Source{{
		Kind: floodmark.NodeHistory, Label: mark, Digest: digest,
		Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "what sessions gave a shared server", Server: ref.Name},
	}}
	for _, k := range old {
		way := floodmark.Passage{Artifact: ref, Session: k.Version.Session}
		for _, s := range k.Sources {
			if k.Version.Session != st.ev.Session {
				s = provenance.Passed(s, way)
			}
			list = append(list, s)
		}
		if k.Version.Session != st.ev.Session {
			st.out.Gone = append(st.out.Gone, Gone{Ref: ref, Version: k.Version})
		}
	}
	if len(list) > maxTogether {
		list[0].Label = provenance.SetLabel(list)
		list = list[:1]
	}
	for i := range list {
		list[i].Node = floodmark.NodeID(i)
	}
	st.out.Artifacts = append(st.out.Artifacts, floodmark.Artifact{Ref: ref, Sources: list})
}
