// Package verify is about gates outside: a program or a person elsewhere that
// must agree before a call proceeds. It says which calls a gate concerns, what
// a gate is shown and what its answer may be; it calls no gate itself.
package verify

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// A Request is all a gate is shown of a call that is about to proceed. It has
// no field for content: what the call would write is left out of Params, and so
// are secrets.
type Request struct {
	// ID names this asking. A gate that is tried again is tried with the same
	// one, so that it can tell.
	ID string
	At time.Time
	// Session and Agent say whose call it is, Provider how the owner talks to
	// the agent, if that is known.
	Session, Agent, Provider string
	Tool                     string
	// Params are the arguments as one JSON object.
	Params []byte
	// Digest is that of the exact arguments. It binds an answer to them and is
	// never sent: with it one could try what they are.
	Digest floodmark.Digest
	// Reach is how far the call gets if it is allowed.
	Reach floodmark.Reach
	// Lines are the arguments for people, a few short lines without control
	// characters.
	Lines []string
}

// Same reports whether two requests show the same call: an answer to one is an
// answer to the other. Their names and times may differ.
func (r Request) Same(o Request) bool {
	return r.Session == o.Session && r.Agent == o.Agent && r.Provider == o.Provider && r.Tool == o.Tool && r.Reach == o.Reach && r.Digest == o.Digest && string(r.Params) == string(o.Params)
}

// An Answer is what a gate said. The zero Answer refuses.
type Answer struct {
	Allow  bool
	Reason string
}

// A Verifier asks one gate. An error means that it gave no answer: best a
// [Failure], which says why in words for people. It must return when ctx ends.
type Verifier interface {
	// Name is what the settings, the policy and the journal call it.
	Name() string
	Verify(ctx context.Context, r Request) (Answer, error)
}

// The limits of asking.
const (
	// MaxAnswerBytes bounds what is read of an answer, MaxReasonChars what is
	// kept of its reason (seed 3).
	MaxAnswerBytes = 64 << 10
	MaxReasonChars = 500
	// MaxParamsBytes bounds what a gate is shown. A larger call is refused
	// and not cut: what is cut off would go unseen.
	MaxParamsBytes = 256 << 10
)

// Clean returns a gate's reason as it may be kept and shown: one line of at most
// [MaxReasonChars] characters without anything that steers a terminal or cannot
// be seen.
func Clean(reason string) string {
	var b strings.Builder
	n, space := 0, true
	for _, r := range reason {
		switch {
		case unicode.IsSpace(r):
			if space {
				continue
			}
			r, space = ' ', true
		case r == utf8.RuneError || !unicode.IsPrint(r) || unicode.In(r, unicode.Cf, unicode.Co):
			continue
		default:
			space = false
		}
		if n == MaxReasonChars {
			break
		}
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}

// A Failure is why a gate gave no answer.
type Failure struct {
	Kind FailureKind
	// Text says it to people: what was done, what went wrong. It holds no
	// secret and nothing the gate sent.
	Text string
}

func (f *Failure) Error() string { return f.Text }

// A FailureKind is a word for why a gate gave no answer.
type FailureKind string

// The kinds of failure.
const (
	TimedOut     FailureKind = "timeout"        // it did not answer within its own time
	Deadline     FailureKind = "deadline"       // the agent's hook had to answer earlier
	Stopped      FailureKind = "stopped"        // the monitor was being stopped meanwhile
	Unreachable  FailureKind = "unreachable"    // no connection
	Untrusted    FailureKind = "tls"            // the connection could not be trusted
	Redirected   FailureKind = "redirect"       // it pointed elsewhere
	Status       FailureKind = "status"         // it answered that something is wrong
	Malformed    FailureKind = "malformed"      // its answer was not understood
	TooLarge     FailureKind = "too-large"      // its answer was too long
	Unconfigured FailureKind = "not-configured" // no setting says how to reach it
	Unshowable   FailureKind = "unshowable"     // the call is too large to be shown
	Crowded      FailureKind = "crowded"        // too many others are asked about already
	Broken       FailureKind = "error"          // anything else
)

// Excusable reports whether failMode allow may apply. It may not where the
// settings are wrong, or where the caller decides how it fails: the
// agent chooses how long its hook waits, how long its arguments are and how much
// it does at once, and what it runs may be able to stop us.
func (k FailureKind) Excusable() bool {
	switch k {
	case Deadline, Stopped, Unconfigured, Unshowable, Crowded:
		return false
	case TimedOut, Unreachable, Untrusted, Redirected, Status, Malformed, TooLarge, Broken:
		return true
	}
	return false
}

// AsFailure returns why a gate gave no answer. What an error of another kind
// says is not for people.
func AsFailure(err error) *Failure {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Failure{Kind: TimedOut, Text: "it did not answer in time"}
	}
	return &Failure{Kind: Broken, Text: "it could not be asked"}
}
