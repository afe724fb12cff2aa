// Package alike groups the sources of a session that no rule can tell apart, so that a rule is
// asked of each group once and not of each source. It holds numbers, and the places sources came
// from; the caller supplies what a rule asks.
package alike

import (
	"bytes"

	"github.com/floodmark/floodmark"
)

// Dead is the bit of [Sources.Stands] for a source that does not count; the rest is its trust.
const Dead = 1 << 7

// Sources are the sources of one session as they are now. Sources are only added, and of an
// existing one only how it stands changes.
type Sources interface {
	// Stands returns a byte for each source, see [Dead]. The session owns it.
	Stands() []byte
	// Origin returns where the n-th source came from.
	Origin(n int) floodmark.Origin
}

// A Book remembers the groups of one session, with what rules asked of them. It changes no
// answer. It belongs to the caller that judges the session; the zero Book remembers nothing.
type Book struct {
	at     []byte  // how each source stood
	of     []int32 // its group then, if it was not dead
	groups []group
	places map[string]int32 // of each place, the newest group
	log    []change         // of groups since all classes were brought up to date
	kept   map[any]*classes
	passed []passed
	bytes  int
}

// A group is live sources that have the same kind, tool, place and trust.
type group struct {
	first int32 // the oldest that ever was in it
	n     int32
	older int32 // another group with the same place; -1 if there is none
	trust floodmark.Trust
	place string
}

type change struct{ group, by int32 }

// maxBytes bounds what a book remembers; when it is full, sources are asked one by one. The
// sizes of a source, of a group and of a class are measured and rounded up.
const (
	maxBytes    = 32 << 20
	sourceBytes = 5
	groupBytes  = 112
	classBytes  = 160
)

// block is how many sources are compared at once with their former bytes.
const block = 512

// Size returns about how many bytes of memory the book takes.
func (b *Book) Size() int64 { return int64(b.bytes) }

// full reports whether the book may remember no more.
func (b *Book) full() bool { return b.bytes > maxBytes }

// update brings the groups up to date. It returns false if there are too many.
func (b *Book) update(s Sources) bool {
	stands := s.Stands()
	if len(stands) < len(b.at) { // it was another session's
		*b = Book{}
	}
	for from := 0; from < len(stands); from += block {
		to := min(from+block, len(stands))
		if to <= len(b.at) && bytes.Equal(b.at[from:to], stands[from:to]) {
			continue
		}
		for i := from; i < to; i++ {
			if i == len(b.at) {
				if b.full() {
					return false
				}
				b.at, b.of = append(b.at, Dead), append(b.of, 0)
				b.bytes += sourceBytes
			}
			b.look(s, i, stands[i])
		}
	}
	if len(b.log) > len(b.groups)+2*block {
		for _, c := range b.kept {
			if !c.over {
				b.renew(s, c)
				c.upTo = 0
			}
		}
		b.log = b.log[:0]
	}
	return true
}

// look takes note of how one source stands.
func (b *Book) look(s Sources, i int, stands byte) {
	if b.at[i] == stands {
		return
	}
	if b.at[i]&Dead == 0 {
		b.add(b.of[i], -1)
	}
	if b.at[i] = stands; stands&Dead == 0 {
		b.of[i] = b.find(s, i, floodmark.Trust(stands))
		b.add(b.of[i], 1)
	}
}

func (b *Book) add(g, by int32) {
	b.groups[g].n += by
	b.log = append(b.log, change{g, by})
}

// maxLook bounds how many groups of a place are compared with a source. Beyond it two groups may
// be the same, which only costs more.
const maxLook = 64

// find returns the group of a source, and makes one if there is none.
func (b *Book) find(s Sources, i int, trust floodmark.Trust) int32 {
	o := s.Origin(i)
	newest, ok := b.places[o.Place]
	if !ok {
		newest = -1
	}
	for g, n := newest, 0; g >= 0 && n < maxLook; g, n = b.groups[g].older, n+1 {
		other := s.Origin(int(b.groups[g].first))
		if b.groups[g].trust == trust && other.Kind == o.Kind && other.Server == o.Server && (other.Name == o.Name || o.Kind != floodmark.FromTool) {
			return g
		}
	}
	g := int32(len(b.groups))
	b.groups = append(b.groups, group{first: int32(i), older: newest, trust: trust, place: o.Place})
	if b.places == nil {
		b.places = map[string]int32{}
	}
	b.places[o.Place] = g
	b.bytes += groupBytes
	return g
}
