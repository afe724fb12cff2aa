package provenance

import (
	"slices"

	"github.com/floodmark/floodmark"
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
const MaxBlame = 5

// Blame returns the sources because of which live content is believed at most
// at limit, the least believed first, then the oldest. Content that was made
// from others is followed back to what it was made from, even if that is no
// longer live itself.
func (l *Ledger) Blame(limit floodmark.Trust) []floodmark.NodeID {
	var asked []bool    // made when something is asked
	everything := false // a live summary of all older content was passed
	var roots worst
	for i := len(l.entries) - 1; i >= 0; i-- {
		e := &l.entries[i]
		if e.effective.Trust > limit || (e.dead && !everything && (asked == nil || !asked[i])) {
			continue
		}
		own := l.own(&e.source).Trust
		if own <= limit {
			roots.add(floodmark.NodeID(i), own)
		}
		if own == e.effective.Trust { // nothing it was made from is worse
			continue
		}
		everything = everything || e.source.Whole
		if asked == nil && len(e.source.Inputs) > 0 {
			asked = make([]bool, len(l.entries))
		}
		for _, in := range e.source.Inputs {
			asked[in] = true
		}
	}
	if roots.n == 0 {
		return nil
	}
	return slices.Clone(roots.nodes[:roots.n])
}

// worst are the least believed of the nodes it was given, the older ones first
// among equals. Nodes come from the newest to the oldest.
type worst struct {
	n     int
	nodes [MaxBlame]floodmark.NodeID
	trust [MaxBlame]floodmark.Trust
}

func (w *worst) add(n floodmark.NodeID, t floodmark.Trust) {
	at := 0
	for at < w.n && w.trust[at] < t {
		at++
	}
	if at == MaxBlame {
		return
	}
	w.n = min(w.n+1, MaxBlame)
	copy(w.nodes[at+1:w.n], w.nodes[at:])
	copy(w.trust[at+1:w.n], w.trust[at:])
	w.nodes[at], w.trust[at] = n, t
}

// NewBelow reports whether a source believed less than limit is live now that
// was not when from was the next node: a newer one, or one that came back.
func (l *Ledger) NewBelow(from floodmark.NodeID, limit floodmark.Trust, but func(floodmark.NodeID) bool) bool {
	for i := range l.entries {
		e := &l.entries[i]
		if !e.dead && e.effective.Trust < limit && (floodmark.NodeID(i) >= from || e.since > from) && (but == nil || !but(floodmark.NodeID(i))) {
			return true
		}
	}
	return false
}

// Within reports whether nothing that is here would lower a mark. What was
// announced and has not arrived is not here: nobody has read it.
func (l *Ledger) Within(mark floodmark.Label) bool {
	for i := range l.entries {
		e := &l.entries[i]
		if !e.dead && mark.Join(e.effective) != mark && !slices.Contains(l.pending, floodmark.NodeID(i)) {
			return false
		}
	}
	return true
}

// Export returns what another session must know to have the same mark: the
// live sources and what they were made from, numbered from 0, each once.
// Labels are the sources' own; [Ledger.Endorsements] go along with them.
func (l *Ledger) Export() []floodmark.Source {
	needed := l.needed(floodmark.NodeID(len(l.entries)))
	moved := make([]floodmark.NodeID, len(l.entries))
	known := make(map[string]floodmark.NodeID)
	var out []floodmark.Source
	for i := range l.entries {
		if !needed[i] {
			continue
		}
		s := l.entries[i].source
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

// needed marks the live sources older than before and all they were made from.
func (l *Ledger) needed(before floodmark.NodeID) []bool {
	needed := make([]bool, len(l.entries))
	everything := false
	for i := min(int(before), len(l.entries)) - 1; i >= 0; i-- {
		e := &l.entries[i]
		if e.dead && !needed[i] && !everything {
			continue
		}
		needed[i] = true
		everything = everything || e.source.Whole
		for _, in := range e.source.Inputs {
			needed[in] = true
		}
	}
	return needed
}
