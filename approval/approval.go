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
	ID floodmark.TicketID
	// Tenant and Session say whose question it is.
	Tenant  string
	Session floodmark.SessionID
	// Code is what the owner types. It goes to the owner's channel and nowhere
	// else: not into a reply, a log or the journal. A call that is added to an
	// open question comes with a new code for all of it.
	Code string
	// Call is what is new in the question, Calls how many it holds now.
	Call    Question
	Calls   int
	Expires time.Time
	// Again says that it was asked before, by a monitor that has ended since.
	// It comes with a new code, and with one Ticket for each of its calls.
	Again bool
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
	// Offers are the approvals a person can choose from, at most [MaxOffers],
	// the narrowest first: the first is this call alone.
	Offers []Offer
	// Pick is set if an argument that matters was seen only in content from
	// outside: then an approval must also say what that argument is.
	Pick *Pick
	// Source says who wrote what led here, Consequence what happens after a
	// yes, both in plain words.
	Source, Consequence string
}

// An Offer is one approval that a question offers. It is written down with the
// question, so that no grant is wider than what was shown.
type Offer = floodmark.Offer

// MaxOffers is how many offers a person can still tell apart at a glance.
const MaxOffers = 3

// A Pick is what a person must say besides yes, so that nobody approves a place
// he has not read.
type Pick struct {
	// Argument names it, as in [floodmark.Argument.Path].
	Argument string
	// Among are three values in random order, one of them the real one. If it
	// is empty the person types the last [PickEnd] characters of the value.
	Among []string
}

// PickEnd is how many characters a person types of a value.
const PickEnd = 6

// An Approver carries a ticket to a person. The answer comes back later, as a
// message or a click, so Ask returns as soon as the question is on its way.
type Approver interface {
	Ask(ctx context.Context, t Ticket) error
}

// A Closer is an [Approver] that also wants to know how its questions ended, so
// that it can say so where it asked. The monitor tells it after the answer is
// durable, perhaps more than once.
type Closer interface {
	Closed(ctx context.Context, s floodmark.SessionID, t floodmark.TicketID, o Outcome) error
}

// An Outcome is how a question ended.
type Outcome struct {
	// Verdict is Allow if it was approved, Restrict if it was denied, Confirm if
	// nobody answered: it expired, or was voided.
	Verdict floodmark.Verdict
	Expired bool
	// By and Channel say who answered, and where. Of a voided question By says
	// why it was.
	By, Channel string
	At          time.Time
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
