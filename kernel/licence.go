package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// assentBytes is the length up to which an owner's turn that asks for nothing
// may be a plain «yes»: then what was asked in the turn before still counts.
const assentBytes = 30

// licensed reports whether the owner asked for this effect on these values. A
// path named for reading is not named for deleting, and what was asked last
// week is not asked now: each value that decides where the effect lands must
// stand in one clause with a verb that asks for it, in this turn.
func (st *step) licensed(j *judged) bool {
	asking := st.asking(j.use.Licence)
	if len(asking) == 0 {
		return false
	}
	for i, a := range j.question.Args {
		leaf := j.leaves[i]
		about := j.use.Arg(leaf.Top)
		if a.Role == floodmark.Content || !lands(about) || leaf.Value == "" || leaf.Kind == hook.Null || leaf.Kind == hook.Bool {
			continue
		}
		named := func(c *provenance.Stated) bool { return c.Has(leaf.Value, leaf.Kind, roleName(about, leaf)) }
		if !slices.ContainsFunc(asking, named) {
			return false
		}
	}
	return true
}

// lands reports whether an argument decides where an effect lands, rather than
// how it looks there.
func lands(a catalog.Arg) bool {
	switch a.Is {
	case catalog.IsAmount, catalog.IsWhen, catalog.IsName, catalog.IsText, catalog.IsFlag:
		return false
	}
	return true
}

// asking returns the clauses of this turn in which the owner used one of the
// verbs.
func (st *step) asking(verbs []string) []*provenance.Stated {
	var found []*provenance.Stated
	for _, text := range st.thisTurn() {
		for _, clause := range provenance.Clauses(text) {
			var c provenance.Stated
			if c.Add(clause); c.Licenses(verbs) {
				found = append(found, &c)
			}
		}
	}
	return found
}

// thisTurn is what the owner said in this turn, and in the one before if this
// one is only a short assent. A branch has its parent's words.
func (st *step) thisTurn() []string {
	now := st.s.Owner[min(st.s.TurnBegan, len(st.s.Owner)):]
	if all := strings.Join(now, " "); len(all) <= assentBytes && !provenance.Asks(all) {
		return st.s.Owner[min(st.s.LastTurnBegan, len(st.s.Owner)):]
	}
	return now
}
