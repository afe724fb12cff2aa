// Package believed lists the live sources of a session by their trust, so that no question about
// them has to go through all sources. It stores only the numbers of sources and knows nothing of
// their content.
package believed

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// Most bounds the sources that are named to a person, who would not read more.
const Most = 5

// A Book lists sources of a session. The zero Book is empty.
type Book struct {
	levels [floodmark.System + 1]level              // live sources by effective trust
	first  [floodmark.Public + 1][]floodmark.NodeID // the oldest live source of each secrecy

	// Secret are the sources, live or not, that are secret by themselves. Twins are the sources,
	// live or not, whose content is unknown or also that of an older source. Both are in order.
	Secret, twins []floodmark.NodeID
}

// A level lists sources with the same trust, oldest first.
type level struct {
	live  []floodmark.NodeID // by effective trust
	back  []comeback         // the live sources that became new again
	roots []floodmark.NodeID // the first sources by their own trust, at most [Most]
}

// A comeback is a source that became new again, with the number that the next source would have had
// then. Since is the largest of these numbers in the list up to here.
type comeback struct{ node, since floodmark.NodeID }

// Cut forgets the sources from a node on.
func (b *Book) Cut(n floodmark.NodeID) {
	newer := func(m floodmark.NodeID) bool { return m >= n }
	b.Secret, b.twins = cut(b.Secret, newer), cut(b.twins, newer)
	for t := range b.levels {
		l := &b.levels[t]
		l.live = cut(l.live, newer)
		l.back = cut(l.back, func(c comeback) bool { return c.node >= n })
		l.roots = cut(l.roots, newer)
	}
	for s := range b.first {
		b.first[s] = cut(b.first[s], newer)
	}
}

// cut removes elements from the end of a list while goes returns true for them. An empty result is
// nil.
func cut[T any](list []T, goes func(T) bool) []T {
	for len(list) > 0 && goes(list[len(list)-1]) {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// Add adds a live source that is newer than all sources in the book. Since is when it became new
// again, or 0. Own is its own trust, and effective is its label together with its inputs.
func (b *Book) Add(n, since floodmark.NodeID, own floodmark.Trust, effective floodmark.Label) {
	l := &b.levels[effective.Trust]
	l.live = append(l.live, n)
	if since > 0 {
		if len(l.back) > 0 {
			since = max(since, l.back[len(l.back)-1].since)
		}
		l.back = append(l.back, comeback{n, since})
	}
	if r := &b.levels[own].roots; len(*r) < Most {
		*r = append(*r, n)
	}
	if first := &b.first[effective.Secrecy]; len(*first) == 0 {
		*first = append(*first, n)
	}
}

// First returns the oldest live source with exactly this secrecy; empty if there is none.
func (b *Book) First(s floodmark.Secrecy) []floodmark.NodeID { return slices.Clone(b.first[s]) }

// Note records a source, live or not, that is newer than all sources in the book.
func (b *Book) Note(n floodmark.NodeID, secret, twin bool) {
	if secret {
		b.Secret = append(b.Secret, n)
	}
	if twin {
		b.twins = append(b.twins, n)
	}
}

// Twin returns the oldest twin for which same returns true.
func (b *Book) Twin(same func(floodmark.NodeID) bool) (floodmark.NodeID, bool) {
	for _, n := range b.twins {
		if same(n) {
			return n, true
		}
	}
	return 0, false
}

// Newer reports whether a live source with a trust below limit is new since from was the next node:
// it was added, or became new again, after that. Since returns when a source became new again.
// Sources for which skip returns true are ignored.
func (b *Book) Newer(from floodmark.NodeID, limit floodmark.Trust, since func(floodmark.NodeID) floodmark.NodeID, skip func(floodmark.NodeID) bool) bool {
	for t := range b.levels[:min(int(limit), len(b.levels))] {
		l := &b.levels[t]
		for i := len(l.live) - 1; i >= 0 && l.live[i] >= from; i-- {
			if skip == nil || !skip(l.live[i]) {
				return true
			}
		}
		for i := len(l.back) - 1; i >= 0 && l.back[i].since > from; i-- {
			if n := l.back[i].node; n < from && since(n) > from && (skip == nil || !skip(n)) {
				return true
			}
		}
	}
	return false
}

// Roots returns at most [Most] live sources whose own trust is at most limit, the least trusted
// first and then the oldest.
func (b *Book) Roots(limit floodmark.Trust) (nodes []floodmark.NodeID) {
	for t := floodmark.Untrusted; t <= min(limit, floodmark.System); t++ {
		nodes = append(nodes, b.levels[t].roots...)
	}
	return nodes[:min(len(nodes), Most)]
}

// A Worst collects the least trusted of the sources that are added. Of sources with the same trust,
// the one added last comes first. Sources must be added from the newest to the oldest.
type Worst struct {
	n     int
	nodes [Most]floodmark.NodeID
	trust [Most]floodmark.Trust
}

// Add adds a source with its trust.
func (w *Worst) Add(n floodmark.NodeID, t floodmark.Trust) {
	at := 0
	for at < w.n && w.trust[at] < t {
		at++
	}
	if at == Most {
		return
	}
	w.n = min(w.n+1, Most)
	copy(w.nodes[at+1:w.n], w.nodes[at:])
	copy(w.trust[at+1:w.n], w.trust[at:])
	w.nodes[at], w.trust[at] = n, t
}

// Nodes returns the collected sources; nil if there are none.
func (w *Worst) Nodes() []floodmark.NodeID {
	return append([]floodmark.NodeID(nil), w.nodes[:w.n]...)
}
