package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// licensed reports whether the owner asked for this effect on these values. A
// path named for reading is not named for deleting, and what was asked last
// week is not asked now: each value that decides where the effect lands, or
// how much it is, must stand in one clause with a verb that asks for it, in
// this turn; an address must stand there as where it goes. The rest must have
// been said in this turn too.
func (st *step) licensed(j *judged) bool {
	said := st.thisTurn()
	asked := asks(said, j.use.Licence)
	if len(asked.wanted) == 0 {
		return false
	}
	var turn provenance.Stated
	for _, text := range said {
		turn.Add(text)
	}
	for i, a := range j.action.Arguments {
		leaf := j.leaves[i]
		about := j.use.Arg(leaf.Top)
		if a.Role == floodmark.Content || leaf.Value == "" || leaf.Kind == hook.Null || leaf.Kind == hook.Bool ||
			slices.Contains(j.use.Selectors, leaf.Top) {
			continue
		}
		role := roleName(about, leaf)
		ruledOut := func(r *provenance.Request) bool { return r.Has(leaf.Value, leaf.Kind, role) }
		if slices.ContainsFunc(asked.ruledOut, ruledOut) {
			return false
		}
		if !lands(about) {
			if !turn.Has(leaf.Value, leaf.Kind, role) {
				return false
			}
			continue
		}
		named := func(r *provenance.Request) bool { return namedAs(r, j.use, about, leaf) }
		if !slices.ContainsFunc(asked.wanted, named) {
			return false
		}
	}
	return true
}

// namedAs reports whether a clause names a value as what the argument is.
func namedAs(r *provenance.Request, use catalog.Use, about catalog.Arg, leaf hook.Leaf) bool {
	role := roleName(about, leaf)
	switch {
	case about.Is == catalog.IsAmount:
		return r.HasAsAmount(leaf.Value, leaf.Kind, role)
	case about.Is == catalog.IsDestination, about.Role == floodmark.Undeclared,
		about.Is == catalog.IsURL && slices.Contains(use.Effects, floodmark.Send):
		return r.HasAsTarget(leaf.Value, leaf.Kind, role)
	}
	return r.Has(leaf.Value, leaf.Kind, role)
}

// lands reports whether an argument decides where an effect lands or how much
// it is, rather than how it looks there.
func lands(a catalog.Arg) bool {
	switch a.Is {
	case catalog.IsWhen, catalog.IsName, catalog.IsText, catalog.IsFlag:
		return false
	}
	return true
}

// An asked is what an owner asked for, and what he ruled out.
type asked struct{ wanted, ruledOut []*provenance.Request }

// asks returns the clauses in which the owner used one of the verbs. «Don't
// send it» takes back what he asked for before; if it names somebody, it is
// about him alone.
func asks(said, verbs []string) asked {
	var a asked
	for _, text := range said {
		for _, r := range provenance.Requests(text) {
			switch {
			case r.Licenses(verbs):
				a.wanted = append(a.wanted, r)
			case !r.Forbids(verbs):
			case r.Names():
				a.ruledOut = append(a.ruledOut, r)
			default:
				a.wanted = nil
			}
		}
	}
	return a
}

// thisTurn is what the owner said in this turn, and in the one before if this
// one only says yes. Where he said nothing he asked for nothing. A branch has
// the words of the turn it was begun in.
func (st *step) thisTurn() []string {
	owner := st.s.Owner
	now := owner[min(st.s.TurnBegan, len(owner)):]
	if len(now) > 0 && !slices.ContainsFunc(now, func(text string) bool { return !provenance.Assents(text) }) {
		return owner[min(st.s.LastTurnBegan, len(owner)):]
	}
	return now
}
