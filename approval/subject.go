package approval

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A Subject is a call that a question may be about. Which approvals the question offers, and what a
// person has to prove besides approving, follow from it.
type Subject struct {
	Action *floodmark.Action
	Basis  *floodmark.Basis
	Leaves []hook.Leaf
	// Mark is the mark that it was judged at.
	Mark floodmark.Label
	// Reasons are those of the policy's ruling.
	Reasons []floodmark.Reason
	// Keeps says that it puts no code into a repository.
	Keeps bool
	// Pattern is what a wider approval would cover; empty if there is none.
	Pattern string
}

// Codes returns the codes of the reasons against the call.
func (s *Subject) Codes() []floodmark.Code {
	var codes []floodmark.Code
	for _, r := range s.Reasons {
		if r.Verdict < floodmark.Allow && !slices.Contains(codes, r.Code) {
			codes = append(codes, r.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// An Offering is what decides which approvals a question offers, beside the call.
type Offering struct {
	// Boxed says that the call would run in a box, Failed that it just failed in its box.
	Boxed, Failed bool
	// Lasting says that its hosts may be granted for more than one call.
	Lasting bool
	// Reviewed says that a person looks at what the call pushes.
	Reviewed bool
	// ToolWide says that the policy lets a question offer every call of a tool.
	ToolWide bool
	Here     Here
}

// A Prover is what the proof of a place is made from: the session's key and name, the code of the
// question, and the messages of the owner.
type Prover struct {
	Key     []byte
	Session floodmark.SessionID
	Code    string
	Owner   []string
}
