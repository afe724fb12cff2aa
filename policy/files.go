package policy

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// filesNothing reports whether a look at what is written would have nothing to
// look at: the table asks for an opinion on it, and the call carries no text of
// its own, as when an attachment is saved in a folder. Where
// it is written must not have been named by text from outside alone. What is
// saved carries its sources, so that it is worth no more there. A cell that
// wants a person, or refuses, is left as it is.
func (q *Question) filesNothing(cell *floodmark.Reason) bool {
	if cell == nil || cell.Verdict != floodmark.Audit || !q.Reach.NoText || q.SelfProtected {
		return false
	}
	return !slices.ContainsFunc(q.Reach.Paths, func(i int) bool {
		a, ok := q.at(i)
		return !ok || fromOutside(a)
	})
}
