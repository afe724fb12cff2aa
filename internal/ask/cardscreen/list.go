package cardscreen

import (
	"slices"

	"github.com/floodmark/floodmark/wire"
)

// Listed returns questions in the order of a list. Those that an agent still waits for come first;
// among equals, the newest comes first.
func Listed(list []*wire.Question) []*wire.Question {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *wire.Question) int {
		if a.GetOver() != b.GetOver() {
			return map[bool]int{false: -1, true: 1}[a.GetOver()]
		}
		return b.GetExpires().AsTime().Compare(a.GetExpires().AsTime())
	})
	return list
}

// Worded reports whether a question came with all its words.
func Worded(q *wire.Question) bool {
	return len(q.GetCalls()) > 0 && !slices.ContainsFunc(q.GetCalls(), func(c *wire.AskedCall) bool { return len(c.GetCard()) == 0 })
}

// Picks reports whether an approval has to say where a call goes.
func Picks(q *wire.Question) bool {
	return slices.ContainsFunc(q.GetCalls(), func(c *wire.AskedCall) bool { return c.GetPick() != nil })
}

// Two says how many of the two people have approved a question that needs both.
func Two(q *wire.Question) string {
	if q.GetApprovedBy() == "" {
		return "it takes two people; neither has approved it yet"
	}
	return "one of two: " + q.GetApprovedBy() + " has approved it, and another person has to"
}
