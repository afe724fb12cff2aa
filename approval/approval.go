// Package approval is about asking a person: what we ask, how they answer, and
// what an answer allows. It also holds the contract of everything that can
// carry a question. It asks nobody itself, and it keeps no code: a typed one
// is proved by its MAC.
package approval

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"github.com/floodmark/floodmark"
)

// A Ticket is a question on its way to a person.
type Ticket struct {
	ID      floodmark.TicketID
	Session floodmark.SessionID
	// Code is what the owner types. It goes to the owner's channel and nowhere
	// else: not into a reply, a log or the journal. A call that is added to an
	// open question comes with a new code for all of it.
	Code string
	// Call is what is new in the question, Calls how many it holds now.
	Call    Question
	Calls   int
	Expires time.Time
}

// A Question is one call as a person sees it.
type Question struct {
	Action floodmark.Action
	// Line says it in one line: source, argument, action, way out.
	Line string
	// Sources are what lowered the session's trust, oldest first.
	Sources []floodmark.Source
	// Pattern is the wider approval that minutes would give; empty if none.
	Pattern string
}

// An Approver carries a ticket to a person. The answer comes back later, as a
// message or a click, so Ask returns as soon as the question is on its way.
type Approver interface {
	Ask(ctx context.Context, t Ticket) error
}

// CodeMAC is what the journal keeps of a code: enough to prove a typed one,
// useless to whoever reads the journal without the key.
func CodeMAC(key []byte, s floodmark.SessionID, t floodmark.TicketID, code string) floodmark.Digest {
	m := hmac.New(sha256.New, key)
	b := make([]byte, 0, 128)
	for _, part := range [...]string{"approval code", string(s), string(t), code} {
		b = append(append(b, part...), 0)
	}
	m.Write(b)
	return floodmark.Digest(m.Sum(b[:0]))
}

// sameCode compares in constant time.
func sameCode(a, b floodmark.Digest) bool { return hmac.Equal(a[:], b[:]) }
