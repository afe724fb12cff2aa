package policy

import "github.com/floodmark/floodmark/policy/condition"

// What a policy is asked. The types are in package condition, because conditions look at them, too.
type (
	// A Question is everything a decision about one step may depend on.
	Question = condition.Question
	// A Raised is an effect with the trust it is judged at.
	Raised = condition.Raised
	// Reach is what the flow rules look at: what could leave, and to where.
	Reach = condition.Reach
	// Sources are what is in the context of a session.
	Sources = condition.Sources
	// Counts remember what rules answered about earlier sources.
	Counts = condition.Counts
)
