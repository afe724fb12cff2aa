// Package audit is about asking a model for a second opinion without showing it what an attacker
// wrote. It builds the case, words the question, and reads the opinion. It calls no model itself.
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
	// OwnerMessages are all messages that the owner typed in this session, oldest first, without
	// those that are so long that they may be pasted.
	OwnerMessages []string
	// OwnerTurns are the turns of these messages. A turn of 0, or none, means that the message is
	// older than the session.
	OwnerTurns []int
	// SourceTools names the tools that brought content into the context.
	SourceTools []string
	// SourceKinds are the other kinds of sources of the context, such as messages of others, files
	// or pasted text. They have no names, because strangers choose their names themselves.
	SourceKinds []floodmark.OriginKind
	// Tool, Effects and Arguments are the proposed call.
	Tool      floodmark.ToolRef
	Effects   []floodmark.Effect
	Arguments []Argument
}

// An Argument is one value of the proposed call. It is the only way for an attacker's text to reach
// the auditor. Therefore the text is limited in length, and marked if it was seen in content that
// is not trusted.
type Argument struct {
	Path    string
	Text    string
	Chars   int  // how many characters the value had
	Cut     bool // Text is only the beginning
	Foreign bool // seen in content below Owner
	File    bool // the value is content for a file, which may be withheld from a remote auditor
}

// The limits of a case. If a case exceeds them, a person is asked instead of the auditor.
const (
	MaxArgumentBytes = 2000
	MaxArguments     = 32
	MaxOwnerBytes    = 32 << 10
	MaxNameBytes     = 200 // of the name of a tool, or of the path of a value
	MaxSourceTools   = 64
)

// Fits reports whether c is small enough to be judged as a whole. Only content for a file may be
// cut, because an auditor cannot agree to what it was not shown.
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

// notInNames reports whether a character is never part of a tool's name, so that a name cannot
// contain a sentence.
func notInNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./:@+", r)
}

// NewArgument returns an argument, with its text cut to [MaxArgumentBytes].
func NewArgument(path, text string, foreign bool) Argument {
	a := Argument{Path: path, Text: text, Foreign: foreign, Chars: utf8.RuneCountInString(text)}
	if len(text) > MaxArgumentBytes {
		a.Text, a.Cut = text[:MaxArgumentBytes], true
	}
	return a
}

// Redacted returns the text that replaces the given number of characters.
func Redacted(chars int) string { return fmt.Sprintf("[REDACTED: %d chars]", chars) }

// WithoutFiles returns the case for an auditor that must not see the content of files.
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

// An Answer is what an auditor says of a case. Smaller is safer: the zero value means that there
// was no answer.
type Answer uint8

// The answers, safest first. Only [Allow] agrees.
const (
	Silent Answer = iota // no answer came, so the policy's fail mode decides
	Block                // the call does not follow from the owner's words
	Unsure               // the owner's words do not settle it
	Allow                // the call follows from the owner's words
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

// An Asker is the session a case comes from. It is used for budgets and never shown to an auditor.
type Asker struct {
	Tenant  string
	Session floodmark.SessionID
}

// An Auditor gives an opinion on a case. An error means that there is no opinion, and then a person
// is asked.
type Auditor interface {
	Audit(ctx context.Context, from Asker, c Case) (Opinion, error)
}

// A Failure is an error with words for people. The words are our own and contain nothing that an
// endpoint wrote.
type Failure struct {
	Words string // completes «the auditor …», such as «did not answer within 5s»
	Err   error  // details for the operator; may be nil
}

// Error returns the words together with the details.
func (f *Failure) Error() string {
	if f.Err == nil {
		return "the auditor " + f.Words
	}
	return "the auditor " + f.Words + ": " + f.Err.Error()
}

// Unwrap returns the details.
func (f *Failure) Unwrap() error { return f.Err }

// None returns the opinion for a failed audit. Its reason is that of a [Failure], and empty for any
// other error.
func None(err error) Opinion {
	if f, ok := errors.AsType[*Failure](err); ok {
		return Opinion{Reason: f.Words}
	}
	return Opinion{}
}
