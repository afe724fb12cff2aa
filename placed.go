package floodmark

import "iter"

// Placed yields the nodes of the session that a fact gives content to, each with the digest of its
// content. The index of values is stored by digest and read by node, so it needs this mapping. It
// includes content that a branch takes over from its parent or returns to it.
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
