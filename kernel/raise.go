package kernel

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/policy"
)

// raise changes the effects of a call that deletes only what this session wrote, and the trust at
// which a push is judged that the owner asked for.
func (st *step) raise(q *policy.Question, b *floodmark.Basis) {
	if b.Tidies { // a call that may overwrite a file may as well remove it
		q.Effects = slices.Clone(q.Effects)
		for i, e := range q.Effects {
			if e == floodmark.Change {
				q.Effects[i] = floodmark.Write
			}
		}
	}
	if b.Pushed && st.settings().Relax {
		q.Raised = append(q.Raised, policy.Raised{Effect: floodmark.Send, Trust: floodmark.Owner})
	}
}

// tidies reports whether a command deletes nothing but what this session wrote.
func (st *step) tidies(use *catalog.Use) bool {
	return use.Tidies && !slices.ContainsFunc(st.resolved(use.Removes), func(p string) bool {
		return !st.made(fileRef(p))
	})
}

// made reports whether this session has a record of one of some artifacts.
func (st *step) made(refs ...floodmark.ArtifactRef) bool {
	return len(st.ours(refs...)) > 0
}
