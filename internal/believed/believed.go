// Package believed keeps which sources of a session count, by how much they are believed, so that
// nothing has to go through all of them. It holds numbers of sources and knows nothing of what
// is in one.
package believed

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// Most is how many sources are named: a person reads no more.
const Most = 5

// A Book holds the sources of a session, above all the live ones. Its zero value holds none.
type Book struct {
	levels [floodmark.System + 1]level
	first  [floodmark.Public + 1][]floodmark.NodeID // the oldest that is so secret, if one is

	// These hold of all sources, live or not, in order: those that are secret by themselves,
	// and those whose content an older one has, or is not known.
	Secret, twins []floodmark.NodeID
}

// A level is what is believed as much, oldest first.
type level struct {
	live  []floodmark.NodeID
	back  []comeback         // those that were new again
	roots []floodmark.NodeID // the first that are believed no more by themselves either
}

// A comeback is a source that was new again when some node was the next; since is the largest
// of these up to here.
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

// cut drops the last of a list for as long as they are to go. An empty list is nil.
func cut[T any](list []T, goes func(T) bool) []T {
	for len(list) > 0 && goes(list[len(list)-1]) {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// Add takes in a live source that is newer than all that are here: since when it was new again,
// or 0, how much it is believed by itself, and its label with what it was made from.
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

// First returns the oldest that is exactly so secret, and none if no one is.
func (b *Book) First(s floodmark.Secrecy) []floodmark.NodeID { return slices.Clone(b.first[s]) }

// Note takes in a source that is newer than all that are here, live or not.
func (b *Book) Note(n floodmark.NodeID, secret, twin bool) {
	if secret {
		b.Secret = append(b.Secret, n)
	}
	if twin {
		b.twins = append(b.twins, n)
	}
}

// Twin returns the oldest twin that is the same.
func (b *Book) Twin(same func(floodmark.NodeID) bool) (floodmark.NodeID, bool) {
	for _, n := range b.twins {
		if same(n) {
			return n, true
		}
	}
	return 0, false
}

// Newer reports whether one that is believed less than limit is new to who was told of all when
// from was the next node. Those that but excuses are not; since says when a source was new again.
func (b *Book) Newer(from floodmark.NodeID, limit floodmark.Trust, since func(floodmark.NodeID) floodmark.NodeID, but func(floodmark.NodeID) bool) bool {
	for t := range b.levels[:min(int(limit), len(b.levels))] {
		l := &b.levels[t]
		for i := len(l.live) - 1; i >= 0 && l.live[i] >= from; i-- {
			if but == nil || !but(l.live[i]) {
				return true
			}
		}
		for i := len(l.back) - 1; i >= 0 && l.back[i].since > from; i-- {
			if n := l.back[i].node; n < from && since(n) > from && (but == nil || !but(n)) {
				return true
			}
		}
	}
	return false
}

// Roots returns those that are believed at most at limit by themselves: the least believed
// first, then the oldest.
func (b *Book) Roots(limit floodmark.Trust) (nodes []floodmark.NodeID) {
	for t := floodmark.Untrusted; t <= min(limit, floodmark.System); t++ {
		nodes = append(nodes, b.levels[t].roots...)
	}
	return nodes[:min(len(nodes), Most)]
}

// A Worst is the least believed of the sources it was given, the older ones first among equals.
// Nodes come from the newest to the oldest.
type Worst struct {
	n     int
	nodes [Most]floodmark.NodeID
	trust [Most]floodmark.Trust
}

// Add gives it one.
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

// Nodes returns them; nil if there are none.
func (w *Worst) Nodes() []floodmark.NodeID {
	return append([]floodmark.NodeID(nil), w.nodes[:w.n]...)
}
