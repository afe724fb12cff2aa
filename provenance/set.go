package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/packed"
)

// MaxSet bounds the sources that a source set lists one by one. The rest are
// joined into one source, which cannot be endorsed.
const MaxSet = 64

// maxVia bounds the passages kept of one source: its first and the newest.
const maxVia = 4

// Set returns what something written by the session is made from: all live
// sources older than before and what these were made from. The sources in it have
// no inputs, so the label of the whole is the join of their labels.
func (l *Ledger) Set(before floodmark.NodeID) []floodmark.Source {
	before = max(0, min(before, floodmark.NodeID(len(l.entries))))
	m := merger{rest: floodmark.Clean()}
	if before == 0 {
		return nil
	}
	if e := &l.entries[before-1]; !e.cleared { // no older source is dead, so [Ledger.part] made the set already
		m.rest = e.rest
		for _, n := range l.apart[:e.apart] {
			m.out = append(m.out, flat(l.packed.At(n)))
		}
		return m.set()
	}
	for i, needed := range l.needed(before) {
		if needed {
			s := l.packed.At(floodmark.NodeID(i))
			m.add(&s)
		}
	}
	return m.set()
}

// MergeSets returns the sources of several sets as one set, each source once.
// Sources that no endorsement could raise are joined into one.
func MergeSets(sets ...[]floodmark.Source) []floodmark.Source {
	m := merger{rest: floodmark.Clean()}
	for _, set := range sets {
		for i := range set {
			m.add(&set[i])
		}
	}
	return m.set()
}

// A merger makes one set of sources and copies only those that the set lists one by one.
type merger struct {
	out  []floodmark.Source // all below Local
	rest floodmark.Label
}

func (m *merger) add(s *floodmark.Source) {
	switch {
	case s.Label.Trust < floodmark.Local && slices.ContainsFunc(m.out, func(o floodmark.Source) bool { return SameSource(&o, s) }):
	case s.Label.Trust >= floodmark.Local || len(m.out) == MaxSet:
		m.rest = m.rest.Join(s.Label)
	default:
		m.out = append(m.out, flat(*s))
	}
}

// part does for the next source of the ledger what [merger.add] does. It returns rest, joined with
// the source's label unless l.apart has the source.
func (l *Ledger) part(id floodmark.NodeID, s *packed.Gist, rest floodmark.Label) floodmark.Label {
	has := func() bool {
		full := l.packed.At(id)
		return slices.ContainsFunc(l.apart, func(n floodmark.NodeID) bool { return l.same(n, &full) })
	}
	switch {
	case s.Label.Trust < floodmark.Local && l.digests[s.Digest] != id && has():
	case s.Label.Trust >= floodmark.Local || len(l.apart) == MaxSet:
		return rest.Join(s.Label)
	default:
		l.apart = append(l.apart, id)
	}
	return rest
}

func (m *merger) set() []floodmark.Source {
	if m.rest != floodmark.Clean() {
		m.out = append(m.out, floodmark.Source{
			Kind: floodmark.NodeHistory, Label: m.rest,
			Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: restName},
		})
	}
	for i := range m.out {
		m.out[i].Node = floodmark.NodeID(i)
	}
	return m.out
}

// restName is the name of the source into which the rest of a set is joined.
const restName = "other content of that session"

// flat returns a source without what refers to other sources or to a call.
func flat(s floodmark.Source) floodmark.Source {
	s.Node, s.Inputs, s.Whole, s.Call = 0, nil, false, ""
	return s
}

// SameSource reports whether two sources are the same content with the same
// label from the same place, however they came here.
func SameSource(a, b *floodmark.Source) bool {
	return a.Digest == b.Digest && a.Label == b.Label && a.Origin == b.Origin
}

// SetLabel returns the join of the labels of a set's sources.
func SetLabel(set []floodmark.Source) floodmark.Label {
	l := floodmark.Clean()
	for _, s := range set {
		l = l.Join(s.Label)
	}
	return l
}

// Passed returns a source with one more artifact among those that it came through.
func Passed(s floodmark.Source, p floodmark.Passage) floodmark.Source {
	if n := len(s.Via); n > 0 && s.Via[n-1] == p {
		return s
	}
	via := append(slices.Clone(s.Via), p)
	if len(via) > maxVia {
		via = slices.Delete(via, 1, len(via)-maxVia+1)
	}
	s.Via = via
	return s
}
