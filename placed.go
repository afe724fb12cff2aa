package floodmark

import "iter"

// Placed yields which content a fact puts at which nodes of its session. The index is kept by
// content and read by node, and every session numbers its own nodes: the index uses this to map one
// to the other, also for what a branch takes over from its parent or gives back to it.
func Placed(f Fact) iter.Seq2[NodeID, Digest] {
	return func(yield func(NodeID, Digest) bool) {
		var sources []Source
		switch f := f.(type) {
		case ContentSeen:
			sources = []Source{f.Source}
		case ContentArrived:
			sources = []Source{{Node: f.Node, Digest: f.Digest}}
		case SessionForked:
			sources = f.Sources
		case ChildEnded:
			sources = f.Sources
		case ArtifactRead:
			sources = f.Sources
		default:
		}
		for _, s := range sources {
			if !s.Digest.IsZero() && !yield(s.Node, s.Digest) {
				return
			}
		}
	}
}
