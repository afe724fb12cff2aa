// Package verify is about external gates: programs or people elsewhere that must agree before a
// call proceeds. It says which calls a gate concerns, what a gate is shown and what its answer may
// be. It calls no gate itself.
package verify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
)

// A Request is all that a gate is shown of a call that is about to proceed. It has no field for
// content: what the call would write is left out of Params, and so are secrets.
type Request struct {
	// ID names the request. A retry has the same ID, so that the gate can recognise it.
	ID string
	At time.Time
	// Session and Agent are those of the call. Provider says how the owner talks to the agent, if
	// that is known.
	Session, Agent, Provider string
	Tool                     string
	// Params are the arguments as one JSON object.
	Params []byte
	// Digest is the digest of the exact arguments, which binds an answer to them. It is never sent,
	// because the gate could use it to guess the arguments that it is not shown.
	Digest floodmark.Digest
	// Reach is how far the call gets if it is allowed.
	Reach floodmark.Reach
	// Lines describe the arguments to people, in a few short lines without control characters.
	Lines []string
}

// Same reports whether two requests show the same call, so that an answer to one is also an answer
// to the other. Their IDs and times may differ.
func (r Request) Same(o Request) bool {
	return r.Session == o.Session && r.Agent == o.Agent && r.Provider == o.Provider && r.Tool == o.Tool && r.Reach == o.Reach && r.Digest == o.Digest && string(r.Params) == string(o.Params) && slices.Equal(r.Lines, o.Lines)
}

// An Answer is what a gate said. The zero Answer refuses.
type Answer struct {
	Allow  bool
	Reason string
}

// A Verifier asks one gate. An error means that the gate gave no answer. It should be a [Failure],
// which says why in words for people. Verify must return when ctx ends.
type Verifier interface {
	// Name returns the name of the gate in the settings, the policy and the journal.
	Name() string
	Verify(ctx context.Context, r Request) (Answer, error)
}

// The limits of asking.
const (
	// MaxAnswerBytes bounds what is read of an answer.
	MaxAnswerBytes = 64 << 10
	// MaxReasonChars bounds what is kept of the reason in an answer (see docs/reference/seeds.md).
	MaxReasonChars = 500
	// MaxParamsBytes bounds what a gate is shown. A larger call is refused and not cut, because the
	// gate would not see the rest.
	MaxParamsBytes = 256 << 10
)

// Clean returns a gate's reason in a form that may be kept and shown: one line of at most
// [MaxReasonChars] characters, without control characters and invisible ones.
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

// A Failure says why a gate gave no answer.
type Failure struct {
	Kind FailureKind
	// Text tells people what was done and what went wrong. It contains no secret and nothing that
	// the gate sent.
	Text string
}

func (f *Failure) Error() string { return f.Text }

// A FailureKind is a word for why a gate gave no answer.
type FailureKind string

// The kinds of failure.
const (
	TimedOut     FailureKind = "timeout"        // the gate did not answer within its own timeout
	Deadline     FailureKind = "deadline"       // the agent's hook had to answer earlier
	Stopped      FailureKind = "stopped"        // the monitor was stopped in the meantime
	Unreachable  FailureKind = "unreachable"    // no connection
	Untrusted    FailureKind = "tls"            // the connection could not be trusted
	Redirected   FailureKind = "redirect"       // the gate redirected to another address
	Status       FailureKind = "status"         // the gate answered with an error status
	Malformed    FailureKind = "malformed"      // the answer was not understood
	TooLarge     FailureKind = "too-large"      // the answer was too long
	Unconfigured FailureKind = "not-configured" // no settings say how to reach the gate
	Unshowable   FailureKind = "unshowable"     // the call is too large to be shown
	Crowded      FailureKind = "crowded"        // too many other requests are open
	Broken       FailureKind = "error"          // anything else
)

// Excusable reports whether failMode allow may apply. It may not if the settings are wrong, or if
// the agent can cause the failure: the agent chooses how long its hook waits, how long its
// arguments are and how many calls it makes at once, and a program it runs may be able to stop the
// monitor.
func (k FailureKind) Excusable() bool {
	switch k {
	case Deadline, Stopped, Unconfigured, Unshowable, Crowded:
		return false
	case TimedOut, Unreachable, Untrusted, Redirected, Status, Malformed, TooLarge, Broken:
		return true
	}
	return false
}

// AsFailure returns why a gate gave no answer. If err is not a [Failure], its text is not used,
// because it is not meant for people.
func AsFailure(err error) *Failure {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Failure{Kind: TimedOut, Text: "it did not answer in time"}
	}
	return &Failure{Kind: Broken, Text: "it could not be asked"}
}
