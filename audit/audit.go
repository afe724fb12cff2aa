// Package audit is about asking a model for a second opinion without showing
// it what an attacker wrote. It builds the case, words the question, and reads
// the opinion; it calls no model itself.
package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// A Case is all an auditor is ever shown. It has no field for tool output or
// for the agent's own prose, so neither can reach the auditor by mistake.
type Case struct {
	// OwnerMessages are all the owner typed in this session, oldest first, without
	// what is so long that it may be pasted. OwnerTurns are the turns in which he
	// did: 0, or none, for what he had said before the session began.
	OwnerMessages []string
	OwnerTurns    []int
	// SourceTools names the tools that brought content into the context.
	SourceTools []string
	// SourceKinds is what else did: messages of others, files, what was pasted.
	// It is a kind and no name, because strangers choose how they call themselves.
	SourceKinds []floodmark.OriginKind
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
	Chars   int  // how many characters the value had
	Cut     bool // Text is only the beginning
	Foreign bool // seen in content below Owner
	File    bool // what a file is to hold: it may be kept from an auditor elsewhere
}

// The limits of a case. Over them the auditor is not asked, and a person is.
const (
	MaxArgumentBytes = 2000
	MaxArguments     = 32
	MaxOwnerBytes    = 32 << 10
	MaxNameBytes     = 200 // of a tool, or of the way to a value
	MaxSourceTools   = 64
)

// Fits reports whether c is small enough to be judged as a whole. An auditor
// cannot agree to what was not shown: only what a file is to hold may be cut.
func (c Case) Fits() bool {
	n := 0
	for _, m := range c.OwnerMessages {
		n += len(m)
	}
	if n == 0 || n > MaxOwnerBytes || len(c.Arguments) > MaxArguments || len(c.SourceTools) > MaxSourceTools {
		return false
	}
	for _, name := range append([]string{c.Tool.String()}, c.SourceTools...) {
		if len(name) > MaxNameBytes || strings.ContainsFunc(name, notInNames) {
			return false
		}
	}
	for _, a := range c.Arguments {
		if len(a.Path) > MaxNameBytes || len(a.Text) > MaxArgumentBytes || a.Cut && !a.File {
			return false
		}
	}
	return true
}

// notInNames are characters that no tool's name has: a name is a word, and no
// place for a sentence.
func notInNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@+", r)
}

// NewArgument caps the text of one argument.
func NewArgument(path, text string, foreign bool) Argument {
	a := Argument{Path: path, Text: text, Foreign: foreign, Chars: utf8.RuneCountInString(text)}
	if len(text) > MaxArgumentBytes {
		a.Text, a.Cut = text[:MaxArgumentBytes], true
	}
	return a
}

// Redacted is what stands where something of so many characters was left out.
func Redacted(chars int) string { return fmt.Sprintf("[REDACTED: %d chars]", chars) }

// WithoutFiles is the case for an auditor that must not see what files hold.
func (c Case) WithoutFiles() Case {
	list := make([]Argument, len(c.Arguments))
	for i, a := range c.Arguments {
		if a.File {
			a.Text, a.Cut = Redacted(a.Chars), false
		}
		list[i] = a
	}
	c.Arguments = list
	return c
}

// An Answer is what an auditor says of a case. Smaller is safer: the zero value
// is that nothing was said.
type Answer uint8

// The answers, safest first. Only [Allow] agrees.
const (
	Silent Answer = iota // no answer came: what follows is the policy's fail mode
	Block                // it does not follow from the owner's words
	Unsure               // it cannot be told from them
	Allow                // it follows from them
)

func (a Answer) String() string {
	switch a {
	case Block:
		return "block"
	case Unsure:
		return "unsure"
	case Allow:
		return "allow"
	default:
		return "silent"
	}
}

// An Opinion is what an auditor answered. The zero Opinion does not agree.
type Opinion struct {
	Says   Answer
	Reason string
}

// Agrees reports whether the call may proceed.
func (o Opinion) Agrees() bool { return o.Says == Allow }

// An Asker is the session a case comes from. It is for budgets, and is no part
// of what an auditor is shown.
type Asker struct {
	Tenant  string
	Session floodmark.SessionID
}

// An Auditor gives an opinion on a case. An error means no opinion, and no
// opinion means that a person is asked.
type Auditor interface {
	Audit(ctx context.Context, from Asker, c Case) (Opinion, error)
}

// A Failure is an error with words for people. They are ours: nothing that an
// endpoint wrote stands in them.
type Failure struct {
	Words string // «the auditor» … «did not answer within 5s»
	Err   error  // for the operator's log; may be nil
}

// Error has all that is known.
func (f *Failure) Error() string {
	if f.Err == nil {
		return "the auditor " + f.Words
	}
	return "the auditor " + f.Words + ": " + f.Err.Error()
}

// Unwrap returns what went wrong.
func (f *Failure) Unwrap() error { return f.Err }

// None is the opinion that there is none, with the reason if it is ours to say.
func None(err error) Opinion {
	if f, ok := errors.AsType[*Failure](err); ok {
		return Opinion{Reason: f.Words}
	}
	return Opinion{}
}
