package kernel

import (
	"iter"

	"github.com/floodmark/floodmark"
)

// Placed yields which content a fact puts at which nodes of its session. The
// index is kept by content and read by node, and every session numbers its
// nodes itself: whoever keeps the index uses this to bring the two together,
// also for what a branch takes over from its parent or gives back to it.
func Placed(f floodmark.Fact) iter.Seq2[floodmark.NodeID, floodmark.Digest] {
	return func(yield func(floodmark.NodeID, floodmark.Digest) bool) {
		var sources []floodmark.Source
		switch f := f.(type) {
		case floodmark.ContentSeen:
			sources = []floodmark.Source{f.Source}
		case floodmark.ContentArrived:
			sources = []floodmark.Source{{Node: f.Node, Digest: f.Digest}}
		case floodmark.SessionForked:
			sources = f.Sources
		case floodmark.ChildEnded:
			sources = f.Sources
		case floodmark.ArtifactRead:
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
