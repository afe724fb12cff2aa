package policy

import "github.com/floodmark/floodmark/policy/condition"

// What a policy is asked, which its conditions look at, too.
type (
	// A Question is everything a decision about one step may depend on.
	Question = condition.Question
	// A Raised is an effect with the trust it is judged at.
	Raised = condition.Raised
	// Reach is what the flow rules look at: what could leave, and to where.
	Reach = condition.Reach
	// Sources are what is in the context of a session.
	Sources = condition.Sources
	// Counts are the sources by what conditions ask of them.
	Counts = condition.Counts
)
