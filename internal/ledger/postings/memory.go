package postings

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/floodmark/floodmark"
)

// A Memory holds the postings of many contents. It consists of sorted runs and merges runs of
// similar size, so that adding stays cheap and a look-up searches few runs.
type Memory struct {
	runs [][]place
	old  []*frozen            // runs that were too large for memory
	open func() (File, error) // makes a file for such a run
	most int                  // how many places a run in memory may have
	err  error                // why a file could not be read
}

// A place is a posting of one node, in 16 bytes.
type place struct {
	hash   Hash
	node   uint32
	offset uint32
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{} }

// NewSpilling returns an empty Memory that stores runs of more than most places in files. If a file
// cannot be created or written, runs stay in memory.
func NewSpilling(most int, open func() (File, error)) *Memory { return &Memory{open: open, most: most} }

// Err returns why a file could not be read, or nil. After an error, results of Find may be
// incomplete.
func (ix *Memory) Err() error { return ix.err }

// Bytes returns roughly how many bytes of memory ix takes.
func (ix *Memory) Bytes() int64 {
	n := int64(0)
	for _, run := range ix.runs {
		n += int64(cap(run)) * placeBytes
	}
	for _, f := range ix.old {
		n += int64(len(f.filter))*8 + int64(cap(f.begins))*placeBytes
	}
	return n
}

// Add adds the postings of node n.
func (ix *Memory) Add(n floodmark.NodeID, p Postings) {
	ix.AddAll([]Placed{{Node: n, Postings: p}})
}

// A Placed is the postings of the content at a node.
type Placed struct {
	Node     floodmark.NodeID
	Postings Postings
}

// AddAll adds the postings of many nodes at once, which is faster than adding each.
func (ix *Memory) AddAll(list []Placed) {
	n := 0
	for _, c := range list {
		n += len(c.Postings)
	}
	if n == 0 {
		return
	}
	first := len(ix.runs) // the first of the runs that are merged with the new one
	all := n
	for ; first > 0 && len(ix.runs[first-1]) < 2*all; first-- {
		all += len(ix.runs[first-1])
	}
	ix.runs = append(ix.runs, sortedRun(list, n))
	if all > n {
		run := mergeRuns(ix.runs[first:], all)
		ix.runs = append(slices.Delete(ix.runs, first, len(ix.runs)), run)
	}
	if ix.open != nil && len(ix.runs[0]) > ix.most {
		ix.spill()
	}
}

// spill moves the first run, which is the largest, into a file.
func (ix *Memory) spill() {
	file, err := ix.open()
	if err != nil {
		ix.open = nil // this run and all later ones stay in memory
		return
	}
	f, err := freeze(inMemory(ix.runs[0]), len(ix.runs[0]), file)
	if err != nil {
		ix.open = nil
		return
	}
	ix.old, ix.runs = append(ix.old, f), slices.Delete(ix.runs, 0, 1)
	ix.join()
}

// joinedFiles is how many small files are merged into one, because a look-up searches each file.
const joinedFiles = 4

// join merges the newest files into one if they are small. On error it keeps them as they are.
func (ix *Memory) join() {
	few, n := ix.old[max(0, len(ix.old)-joinedFiles):], 0
	for _, f := range few {
		n += f.n
	}
	if len(few) < joinedFiles || slices.ContainsFunc(few, func(f *frozen) bool { return f.n/joinedFiles >= ix.most }) {
		return
	}
	file, err := ix.open()
	if err != nil {
		return
	}
	if f, err := freeze(joined(few), n, file); err == nil {
		ix.old = append(ix.old[:len(ix.old)-len(few)], f)
		clear(few[1:]) // nothing refers to their files any more
	}
}

// sortedRun returns the n postings of the contents in order. Because hashes are uniform, it puts
// each posting into a bucket by its first bits, and then sorts the few postings in each bucket.
func sortedRun(list []Placed, n int) []place {
	size := bits.Len(uint(n)) - 1 // about one or two in a bucket
	if len(list) == 1 {
		size = 0 // the postings of one content are in order already
	}
	shift := 64 - size
	ends := make([]uint32, 1<<size+1)
	for _, c := range list {
		for _, p := range c.Postings {
			ends[p.Hash>>shift+1]++
		}
	}
	for i := range len(ends) - 1 {
		ends[i+1] += ends[i]
	}
	run := make([]place, n)
	for _, c := range list {
		for _, p := range c.Postings {
			at := &ends[p.Hash>>shift]
			run[*at] = place{hash: p.Hash, node: uint32(c.Node), offset: p.Offset}
			*at++
		}
	}
	begin := uint32(0)
	for _, end := range ends[:1<<size] {
		if bucket := run[begin:end]; len(bucket) > 1 && !slices.IsSortedFunc(bucket, comparePlaces) {
			slices.SortFunc(bucket, comparePlaces)
		}
		begin = end
	}
	return run
}

// Find returns where a token was seen, from a node on and with the oldest node first. It returns at
// most so many places, because a token may occur in all content.
func (ix *Memory) Find(h Hash, from floodmark.NodeID, most int) []floodmark.Span {
	var spans []floodmark.Span
	for _, run := range ix.runs {
		at := search(run, h)
		if from > 0 {
			at += behind(run[at:], place{hash: h, node: uint32(min(from, math.MaxUint32))})
		}
		end := at
		for end < len(run) && end-at < most && run[end].hash == h {
			end++
		}
		spans = slices.Grow(spans, end-at)
		for _, p := range run[at:end] {
			spans = append(spans, floodmark.Span{Node: floodmark.NodeID(p.node), Offset: int(p.offset)})
		}
	}
	spans = ix.frozen(spans, h, from, most)
	slices.SortFunc(spans, CompareSpans)
	return spans[:min(len(spans), most)]
}

// frozen adds the spans from the files. It returns nil if a file cannot be read.
func (ix *Memory) frozen(spans []floodmark.Span, h Hash, from floodmark.NodeID, most int) []floodmark.Span {
	var found []place
	for _, f := range ix.old {
		var err error
		if found, err = f.find(found[:0], place{hash: h, node: uint32(min(from, math.MaxUint32))}, most); err != nil {
			ix.err = fmt.Errorf("read what was seen: %w", err)
			return nil
		}
		for _, p := range found {
			spans = append(spans, floodmark.Span{Node: floodmark.NodeID(p.node), Offset: int(p.offset)})
		}
	}
	return spans
}

// behind returns how many places at the beginning of a run are before p.
func behind(run []place, p place) int {
	end := 1
	for end < len(run) && comparePlaces(run[end-1], p) < 0 {
		end *= 2
	}
	n, _ := slices.BinarySearchFunc(run[:min(end, len(run))], p, comparePlaces)
	return n
}

// searchStep is how far from its expected index a hash is searched first. In a run of a few hundred
// places, most are no farther away.
const searchStep = 8

// search returns the index of the first place of a hash, or where it would be. It begins at the
// index expected for uniform hashes. A binary search of the whole run would touch more memory,
// which is slow in a session that was idle for long.
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
	switch {
	case a.hash != b.hash:
		return cmp.Compare(a.hash, b.hash)
	case a.node != b.node:
		return cmp.Compare(a.node, b.node)
	default:
		return cmp.Compare(a.offset, b.offset)
	}
}

// mergeRuns merges runs into one of n places, beginning with the last runs, which are the smallest.
// The part merged so far is at the end of the new run, so that nothing else is allocated.
func mergeRuns(runs [][]place, n int) []place {
	merged := make([]place, n)
	done := n
	for _, a := range slices.Backward(runs) {
		b := merged[done:]
		done -= len(a)
		at := done
		for ; len(a) > 0 && len(b) > 0; at++ {
			if a[0].hash < b[0].hash || a[0].hash == b[0].hash && comparePlaces(a[0], b[0]) <= 0 {
				merged[at], a = a[0], a[1:]
			} else {
				merged[at], b = b[0], b[1:]
			}
		}
		copy(merged[at:], a)
	}
	return merged
}
