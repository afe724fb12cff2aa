// Package packed keeps the sources of a session in a quarter of the memory that the values take:
// as bytes, in which what neighbours have in common stands once, and which the collector of
// garbage need not look through. It knows nothing of what a source means.
package packed

import (
	"iter"

	"github.com/floodmark/floodmark"
)

// block is how many sources are packed together. The newest stay as they are until there are as
// many: most sessions have fewer, and what has not arrived yet is among them.
const block = 64

// usual is how many sources most sessions have.
const usual = 16

// Sources are those of one session, by their nodes. How they are kept follows from what they
// are, not from how they came to be it. The zero Sources holds none.
type Sources struct {
	full  []string // each a block, see [pack]
	young []floodmark.Source
}

// Len returns how many there are.
func (s *Sources) Len() int { return len(s.full)*block + len(s.young) }

// Add takes in the next one, whose node is [Sources.Len].
func (s *Sources) Add(src floodmark.Source) {
	if len(s.young) == 0 {
		s.young = make([]floodmark.Source, 0, usual)
	}
	if s.young = append(s.young, src); len(s.young) == block {
		s.full, s.young = append(s.full, pack(s.young)), nil
	}
}

// At returns the source of a node that is here.
func (s *Sources) At(n floodmark.NodeID) floodmark.Source {
	if at, i := split(n); at < len(s.full) {
		return unpack(s.full[at], i, n)
	}
	return s.young[int(n)%block]
}

// All are the sources in order.
func (s *Sources) All() iter.Seq[floodmark.Source] {
	return func(yield func(floodmark.Source) bool) {
		for n := range s.Len() {
			if !yield(s.At(floodmark.NodeID(n))) {
				return
			}
		}
	}
}

// List are the sources in order, in memory of their own; nil if there are none.
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

// A Gist is what of a source lowers others: all but its words.
type Gist struct {
	Label  floodmark.Label
	Digest floodmark.Digest
	Inputs []floodmark.NodeID
	Links  int
	Whole  bool
	Waits  bool // for what a call announced
	Secret bool // something secret was found in it
}

// Own is [floodmark.Source.Own].
func (g *Gist) Own() floodmark.Label {
	if g.Secret {
		return g.Label.Join(floodmark.Label{Trust: floodmark.System, Secrecy: floodmark.Secret})
	}
	return g.Label
}

// Gist is [Sources.At] where no words are needed, and quicker.
func (s *Sources) Gist(n floodmark.NodeID) Gist {
	if at, i := split(n); at < len(s.full) {
		u := reader{in: s.full[at], at: offset(s.full[at], i)}
		g, _ := u.gist()
		return g
	}
	src := &s.young[int(n)%block]
	return Gist{src.Label, src.Digest, src.Inputs, src.Links, src.Whole, src.Call != "", len(src.Secrets) > 0}
}

// Put replaces the source of a node that is here.
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

// Cut forgets the sources from a node on.
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
