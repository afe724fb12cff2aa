// Package packed stores the sources of a session in a quarter of the memory that the values take:
// as bytes in which a text shared by neighbouring sources is written once. The garbage collector
// need not scan these bytes. The package does not know what a source means.
package packed

import (
	"iter"

	"github.com/floodmark/floodmark"
)

// block is how many sources are packed together. The newest sources stay unpacked until they fill a
// block, because they still change when announced content arrives. Most sessions never fill a
// block.
const block = 64

// usual is how many sources most sessions have.
const usual = 16

// Sources are the sources of one session, by their nodes. Two equal lists of sources are stored in
// the same form, whatever changes led to them. The zero Sources is empty.
type Sources struct {
	full  []string           // packed blocks, see [pack]
	young []floodmark.Source // the sources after the last full block
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

// A Gist is a source without its texts. It is all that can affect the labels of other sources.
type Gist struct {
	Label  floodmark.Label
	Digest floodmark.Digest
	Inputs []floodmark.NodeID
	Links  int
	Whole  bool
	Waits  bool // the content was announced by a call and has not arrived
	Secret bool // a secret was found in the content
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
