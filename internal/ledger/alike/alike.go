// Package alike groups the sources of a session that no rule can distinguish, so that a rule is
// evaluated once for each group and not for each source. It stores only the numbers of the sources
// and the places they came from; the caller supplies the rules.
package alike

import (
	"bytes"

	"github.com/floodmark/floodmark"
)

// Dead is the bit in [Sources.Stands] of a source that has no effect any more. The other bits are
// the trust of the source.
const Dead = 1 << 7

// Sources are the sources of one session as they are now. Sources are only added, and only the byte
// in Stands of an existing source changes.
type Sources interface {
	// Stands returns a byte for each source, see [Dead]. The caller must not change the slice.
	Stands() []byte
	// Origin returns where the n-th source came from.
	Origin(n int) floodmark.Origin
}

// A Book is a cache of the groups of one session and of the results of rules for them. It never
// changes a result. It belongs to the caller that judges the session. The zero Book is empty.
type Book struct {
	at     []byte  // the byte of each source when it was last looked at
	of     []int32 // the group of each source, if it was not dead
	groups []group
	places map[string]int32 // the newest group of each place
	log    []change         // changes of groups that not all classes include yet
	kept   map[any]*classes
	passed []passed
	bytes  int
}

// A group consists of live sources with the same kind, tool, place and trust.
type group struct {
	first int32 // the oldest source that was ever in the group
	n     int32 // how many sources are in the group now
	older int32 // another group with the same place; -1 if there is none
	trust floodmark.Trust
	place string
}

type change struct{ group, by int32 }

// maxBytes bounds the memory of a book. When it is full, rules are evaluated for each source. The
// sizes of a source, a group and a class are measured and rounded up.
const (
	maxBytes    = 32 << 20
	sourceBytes = 5
	groupBytes  = 112
	classBytes  = 160
)

// block is how many bytes of sources are compared at once with their earlier values.
const block = 512

// Size returns roughly how many bytes of memory the book takes.
func (b *Book) Size() int64 { return int64(b.bytes) }

// full reports whether the book may remember no more.
func (b *Book) full() bool { return b.bytes > maxBytes }

// update brings the groups up to date. It returns false if there are too many.
func (b *Book) update(s Sources) bool {
	stands := s.Stands()
	if len(stands) < len(b.at) { // the book was filled by another session
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

// look records the current byte of one source and moves the source to its group.
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

// maxLook bounds how many groups of a place are compared with a source. With more groups, two of
// them may be equal, which costs time but changes no result.
const maxLook = 64

// find returns the group of a source, which it creates if necessary.
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
