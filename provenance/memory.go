package provenance

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/floodmark/floodmark"
)

// A MemoryIndex is an [Index] in memory. It keeps sorted runs and merges those
// of similar size, so that adding stays cheap and a look-up meets few of them.
type MemoryIndex struct {
	runs [][]place
}

// A place is a posting of one node, in 16 bytes.
type place struct {
	hash   Hash
	node   uint32
	offset uint32
}

var _ Index = (*MemoryIndex)(nil)

// NewMemoryIndex returns an empty index.
func NewMemoryIndex() *MemoryIndex { return &MemoryIndex{} }

// Add takes in the postings of node n.
func (ix *MemoryIndex) Add(n floodmark.NodeID, p Postings) {
	if len(p) == 0 {
		return
	}
	run := make([]place, len(p))
	for i, posting := range p {
		run[i] = place{hash: posting.Hash, node: uint32(n), offset: posting.Offset}
	}
	if !slices.IsSortedFunc(run, comparePlaces) {
		slices.SortFunc(run, comparePlaces)
	}
	for last := len(ix.runs) - 1; last >= 0 && len(ix.runs[last]) < 2*len(run); last-- {
		run = mergeRuns(ix.runs[last], run)
		ix.runs = ix.runs[:last]
	}
	ix.runs = append(ix.runs, run)
}

// Find returns where a token was seen, oldest node first.
func (ix *MemoryIndex) Find(h Hash) []floodmark.Span {
	var spans []floodmark.Span
	for _, run := range ix.runs {
		at := search(run, h)
		if at == len(run) || run[at].hash != h {
			continue
		}
		end := at + 1
		for end < len(run) && run[end].hash == h {
			end++
		}
		spans = slices.Grow(spans, end-at)
		for _, p := range run[at:end] {
			spans = append(spans, floodmark.Span{Node: floodmark.NodeID(p.node), Offset: int(p.offset)})
		}
	}
	slices.SortFunc(spans, compareSpans)
	return spans
}

// searchStep is how far from where it should be a hash is looked for first: most
// stand no farther in a run of a few hundred.
const searchStep = 8

// search returns where the first place of a hash is, or would be. Hashes are
// spread evenly, so it begins where the hash should be: the memory of a session
// that was asked long ago is slow, and halving the run would touch more of it.
func search(run []place, h Hash) int {
	guess, _ := bits.Mul64(uint64(h), uint64(len(run)))
	low, high := int(guess), int(guess)
	for step := searchStep; low > 0 && run[low-1].hash >= h; step *= 2 {
		low = max(0, low-step)
	}
	for step := searchStep; high < len(run) && run[high].hash < h; step *= 2 {
		high = min(len(run), high+step)
	}
	at, _ := slices.BinarySearchFunc(run[low:high], h, func(p place, h Hash) int { return cmp.Compare(p.hash, h) })
	return low + at
}

func comparePlaces(a, b place) int {
	if a.hash != b.hash {
		return cmp.Compare(a.hash, b.hash)
	}
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.offset, b.offset))
}

func compareSpans(a, b floodmark.Span) int {
	if a.Node != b.Node {
		return cmp.Compare(a.Node, b.Node)
	}
	return cmp.Compare(a.Offset, b.Offset)
}

func mergeRuns(a, b []place) []place {
	merged := make([]place, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if comparePlaces(a[0], b[0]) <= 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}
