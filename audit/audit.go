// Package audit is about asking a model for a second opinion without showing
// it what an attacker wrote. It builds the case, words the question, and reads
// the opinion; it calls nobody itself.
package audit

import (
	"context"

	"github.com/floodmark/floodmark"
)

// A Case is all an auditor is ever shown. It has no field for tool output or
// for the agent's own prose, so neither can reach the auditor by mistake.
type Case struct {
	// OwnerMessages are all the owner typed in this session, oldest first.
	OwnerMessages []string
	// SourceTools names the tools that brought content into the context.
	SourceTools []string
	// Tool, Effects and Arguments are the proposed call.
	Tool      floodmark.ToolRef
	Effects   []floodmark.Effect
	Arguments []Argument
}

// An Argument is one value of the proposed call. Attacker's text can reach the
// auditor only here, so it is capped, and marked where it was seen in content
// that is not believed.
type Argument struct {
	Path    string
	Text    string
	Cut     bool // Text is only the beginning
	Foreign bool // seen in content below Owner
}

// The limits of a case. Over them the auditor is not asked, and a person is.
const (
	MaxArgumentBytes = 500
	MaxArguments     = 32
	MaxOwnerBytes    = 32 << 10
)

// Fits reports whether c is small enough to be judged as a whole.
func (c Case) Fits() bool {
	n := 0
	for _, m := range c.OwnerMessages {
		n += len(m)
	}
	return n > 0 && n <= MaxOwnerBytes && len(c.Arguments) <= MaxArguments
}

// NewArgument caps the text of one argument.
func NewArgument(path, text string, foreign bool) Argument {
	a := Argument{Path: path, Text: text, Foreign: foreign}
	if len(text) > MaxArgumentBytes {
		a.Text, a.Cut = text[:MaxArgumentBytes], true
	}
	return a
}

// An Opinion is what an auditor answered. The zero Opinion does not agree.
type Opinion struct {
	Agrees bool
	Reason string
}

// An Auditor gives an opinion on a case. An error means no opinion, and no
// opinion means that a person is asked.
type Auditor interface {
	Audit(ctx context.Context, c Case) (Opinion, error)
}
