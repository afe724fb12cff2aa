// Package packed keeps the sources of a session in a quarter of the memory that the values take:
// as bytes in which texts that neighbours share are written once. The garbage collector need not
// scan them. The package does not know what a source means.
package packed

import (
	"iter"

	"github.com/floodmark/floodmark"
)

// block is how many sources are packed together. The newest stay unpacked until they fill a block:
// most sessions have fewer, and content that has not arrived yet is among them.
const block = 64

// usual is room for as many sources as most sessions have.
const usual = 16

// Sources are the sources of one session, by their nodes. Equal sources are kept in the same
// form, in whatever order they were changed. The zero Sources holds none.
type Sources struct {
	full  []string // each a block, see [pack]
	young []floodmark.Source
}

// Len returns the number of sources.
func (s *Sources) Len() int { return len(s.full)*block + len(s.young) }

// Add appends a source, whose node is [Sources.Len] before the call.
func (s *Sources) Add(src floodmark.Source) {
	if len(s.young) == 0 {
		s.young = make([]floodmark.Source, 0, usual)
	}
	if s.young = append(s.young, src); len(s.young) == block {
		s.full, s.young = append(s.full, pack(s.young)), nil
	}
}

// At returns the source of a node, which must be less than [Sources.Len].
func (s *Sources) At(n floodmark.NodeID) floodmark.Source {
	if at, i := split(n); at < len(s.full) {
		return unpack(s.full[at], i, n)
	}
	return s.young[int(n)%block]
}

// All returns the sources in order.
func (s *Sources) All() iter.Seq[floodmark.Source] {
	return func(yield func(floodmark.Source) bool) {
		for n := range s.Len() {
			if !yield(s.At(floodmark.NodeID(n))) {
				return
			}
		}
	}
}

// List returns the sources in order, in a new slice; nil if there are none.
func (s *Sources) List() []floodmark.Source {
	if s.Len() == 0 {
		return nil
	}
	all := make([]floodmark.Source, 0, s.Len())
	for src := range s.All() {
		all = append(all, src)
	}
	return all
}

// A Gist is the part of a source that can lower the label of others: all but its texts.
type Gist struct {
	Label  floodmark.Label
	Digest floodmark.Digest
	Inputs []floodmark.NodeID
	Links  int
	Whole  bool
	Waits  bool // for what a call announced
	Secret bool // something secret was found in it
}

// Own returns the same as [floodmark.Source.Own].
func (g *Gist) Own() floodmark.Label {
	if g.Secret {
		return g.Label.Join(floodmark.Label{Trust: floodmark.System, Secrecy: floodmark.Secret})
	}
	return g.Label
}

// Gist returns a source without its texts. It is faster than [Sources.At].
func (s *Sources) Gist(n floodmark.NodeID) Gist {
	if at, i := split(n); at < len(s.full) {
		u := reader{in: s.full[at], at: offset(s.full[at], i)}
		g, _ := u.gist()
		return g
	}
	src := &s.young[int(n)%block]
	return Gist{src.Label, src.Digest, src.Inputs, src.Links, src.Whole, src.Call != "", len(src.Secrets) > 0}
}

// Put replaces the source of a node, which must be less than [Sources.Len].
func (s *Sources) Put(n floodmark.NodeID, src floodmark.Source) {
	at, i := split(n)
	if at == len(s.full) {
		s.young[i] = src
		return
	}
	list := unpackAll(s.full[at], at)
	list[i] = src
	s.full[at] = pack(list)
}

// Cut removes the sources from node n on.
func (s *Sources) Cut(n floodmark.NodeID) {
	at, i := split(n)
	if at < len(s.full) {
		s.young = unpackAll(s.full[at], at)
		clear(s.full[at:])
		s.full = s.full[:at]
	}
	clear(s.young[i:])
	if s.young = s.young[:i]; i == 0 {
		s.young = nil
	}
	if at == 0 {
		s.full = nil
	}
}

func split(n floodmark.NodeID) (at, i int) { return int(n) / block, int(n) % block }
