package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/alike"
	"github.com/floodmark/floodmark/internal/ledger/believed"
)

// Levels is a set of trust levels.
type Levels uint8

func level(t floodmark.Trust) Levels { return 1 << t }

// LevelsOf returns the set of these levels.
func LevelsOf(levels ...floodmark.Trust) Levels {
	var set Levels
	for _, t := range levels {
		set |= level(t)
	}
	return set
}

// Has reports whether t is in the set.
func (ls Levels) Has(t floodmark.Trust) bool { return ls&level(t) != 0 }

// MaxBlame bounds the sources named in an explanation: a person reads no more.
const MaxBlame = believed.Most

// Blame returns the sources that lower the trust of live content to limit or less, the least
// trusted first, then the oldest. Sources that live content was made from are among them, even if
// they are not live themselves.
func (l *Ledger) Blame(limit floodmark.Trust) []floodmark.NodeID {
	if !l.before(len(l.entries)).heirs {
		return l.live.Roots(limit)
	}
	var asked []bool    // sources that something with a lowered trust was made from; made when needed
	everything := false // all older sources are asked for, because there is a summary of them
	var roots believed.Worst
	for i, stands := range slices.Backward(l.stands) {
		if floodmark.Trust(stands&^alike.Dead) > limit || (stands&alike.Dead != 0 && !everything && (asked == nil || !asked[i])) {
			continue
		}
		e := &l.entries[i]
		if e.own <= limit {
			roots.Add(floodmark.NodeID(i), e.own)
		}
		if e.own == e.effective.Trust { // no source it was made from is less trusted
			continue
		}
		s := l.packed.Gist(floodmark.NodeID(i))
		everything = everything || s.Whole
		if asked == nil && len(s.Inputs) > 0 {
			asked = make([]bool, len(l.entries))
		}
		for _, in := range s.Inputs {
			asked[in] = true
		}
	}
	return roots.Nodes()
}

// NewBelow reports whether a source trusted less than limit became live, or live again, since from
// was the next node. Sources for which skip returns true are ignored.
func (l *Ledger) NewBelow(from floodmark.NodeID, limit floodmark.Trust, skip func(floodmark.NodeID) bool) bool {
	since := func(n floodmark.NodeID) floodmark.NodeID { return floodmark.NodeID(l.entries[n].since) }
	return l.live.Newer(from, limit, since, skip)
}

// Guarded returns the oldest live source with exactly this secrecy; empty if there is none.
func (l *Ledger) Guarded(s floodmark.Secrecy) []floodmark.NodeID { return l.live.First(s) }

// Within reports whether no live content would lower this mark. Content that was announced and has
// not arrived is ignored, because the session has not read it.
func (l *Ledger) Within(mark floodmark.Label) bool {
	return mark.AtLeastAsSafe(l.before(len(l.entries)).here)
}

// Export returns what another session must know to have the same mark: the
// live sources and what they were made from, numbered from 0, each once.
// The labels are the sources' own, so the other session needs [Ledger.Endorsements], too.
func (l *Ledger) Export() []floodmark.Source {
	needed := l.needed(floodmark.NodeID(len(l.entries)))
	moved := make([]floodmark.NodeID, len(l.entries))
	known := make(map[string]floodmark.NodeID)
	var out []floodmark.Source
	for i := range l.entries {
		if !needed[i] {
			continue
		}
		s := l.packed.At(floodmark.NodeID(i))
		inputs := make([]floodmark.NodeID, 0, len(s.Inputs))
		for _, in := range s.Inputs {
			inputs = append(inputs, moved[in])
		}
		s.Inputs = mergeInputs(nil, inputs)
		key := exportKey(s)
		n, seen := known[key]
		if !seen {
			n = floodmark.NodeID(len(out))
			s.Node, known[key] = n, n
			out = append(out, s)
		}
		moved[i] = n
	}
	return out
}

// needed marks the live sources older than before, and all sources that these were made from.
func (l *Ledger) needed(before floodmark.NodeID) []bool {
	needed := make([]bool, len(l.entries))
	everything := false
	for i := min(int(before), len(l.entries)) - 1; i >= 0; i-- {
		if l.entries[i].dead && !needed[i] && !everything {
			continue
		}
		needed[i] = true
		s := l.packed.Gist(floodmark.NodeID(i))
		everything = everything || s.Whole
		for _, in := range s.Inputs {
			needed[in] = true
		}
	}
	return needed
}
