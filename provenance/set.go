package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// MaxSet bounds the sources of a source set that are kept apart. What is over
// it is joined into one that nobody can endorse.
const MaxSet = 64

// maxVia bounds the passages kept of one source: its first and the newest.
const maxVia = 4

// Set returns what something written by the session is made from: all live
// sources older than before and what these were made from. It is flat: the
// label of the whole is the join of the labels in it.
func (l *Ledger) Set(before floodmark.NodeID) []floodmark.Source {
	needed := make([]bool, len(l.entries))
	everything := false
	for i := len(l.entries) - 1; i >= 0; i-- {
		e := &l.entries[i]
		live := !e.dead && floodmark.NodeID(i) < before
		if !live && !needed[i] && !everything {
			continue
		}
		needed[i] = true
		everything = everything || e.source.Whole
		for _, in := range e.source.Inputs {
			needed[in] = true
		}
	}
	var list []floodmark.Source
	for i := range l.entries {
		if needed[i] {
			list = append(list, l.entries[i].source)
		}
	}
	return MergeSets(list)
}

// MergeSets returns the sources of several sets as one, each once. Those that
// no endorsement could raise are joined.
func MergeSets(sets ...[]floodmark.Source) []floodmark.Source {
	var out []floodmark.Source
	rest, joined := floodmark.Clean(), false
	for _, set := range sets {
		for _, s := range set {
			s = flat(s)
			switch {
			case slices.ContainsFunc(out, func(o floodmark.Source) bool { return SameSource(o, s) }):
			case s.Label.Trust >= floodmark.Local || len(out) == MaxSet:
				rest, joined = rest.Join(s.Label), true
			default:
				out = append(out, s)
			}
		}
	}
	if joined && rest != floodmark.Clean() {
		out = append(out, floodmark.Source{
			Kind: floodmark.NodeHistory, Label: rest,
			Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: restName},
		})
	}
	for i := range out {
		out[i].Node = floodmark.NodeID(i)
	}
	return out
}

// restName is what the joined part of a set is called.
const restName = "other content of that session"

// flat is a source on its own.
func flat(s floodmark.Source) floodmark.Source {
	s.Node, s.Inputs, s.Whole, s.Call = 0, nil, false, ""
	return s
}

// SameSource reports whether two sources are the same content with the same
// label from the same place, however they came here.
func SameSource(a, b floodmark.Source) bool {
	return a.Digest == b.Digest && a.Label == b.Label && a.Origin == b.Origin
}

// SetLabel is the join of a set's own labels.
func SetLabel(set []floodmark.Source) floodmark.Label {
	l := floodmark.Clean()
	for _, s := range set {
		l = l.Join(s.Label)
	}
	return l
}

// Passed is a source that came on through one more artifact.
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
