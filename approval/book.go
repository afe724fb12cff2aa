package approval

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
)

// A Book is what one session knows of questions and answers: a fold over its
// facts. The zero Book is empty and grants nothing.
type Book struct {
	Tickets []Open   `json:"tickets,omitempty"`
	Grants  []Grant  `json:"grants,omitempty"`
	Denials []Denial `json:"denials,omitempty"`
	// Closed are the last questions that have ended, and Guesses the wrong codes by channel.
	Closed  []Closed `json:"closed,omitempty"`
	Guesses []Guess  `json:"guesses,omitempty"`
	// Waits are the expiry times of the last questions, oldest first.
	Waits []time.Time `json:"waits,omitempty"`
	// Hosts are grants that outlive the session: see [floodmark.GrantHosts] and [floodmark.GrantHere].
	Hosts []Grant `json:"hosts,omitempty"`
	// Boxed is nil unless a call was let through in a box.
	Boxed *Boxed `json:"boxed,omitempty"`
	// InBoxes are the calls allowed in a box that have no result yet.
	InBoxes []floodmark.CallID `json:"inBoxes,omitempty"`
}

// A Closed is a question that has ended, kept to tell a late answer how.
type Closed struct {
	ID      floodmark.TicketID `json:"id"`
	CodeMAC floodmark.Digest   `json:"codeMac"`
	Verdict floodmark.Verdict  `json:"verdict"`
	By      string             `json:"by,omitempty"`
	Channel string             `json:"channel,omitempty"`
}

// A Guess counts the wrong codes typed through one channel since a right one, and says until when
// codes are refused there.
type Guess struct {
	Channel string    `json:"channel,omitempty"`
	Wrong   int       `json:"wrong,omitempty"`
	Until   time.Time `json:"until,omitzero"`
}

// An Open is a question that was asked and not yet answered.
type Open struct {
	ID      floodmark.TicketID `json:"id"`
	CodeMAC floodmark.Digest   `json:"codeMac"`
	Shown   []floodmark.Shown  `json:"shown"`
	Expires time.Time          `json:"expires"`
	// Held is when people are first told of it; zero if they were at once.
	Held  time.Time `json:"held,omitzero"`
	Turn  int       `json:"turn"`
	Wrong int       `json:"wrong,omitempty"`
	// Approved says that it was approved. It is kept until it expires: a denial that arrives before
	// the call runs still wins.
	Approved bool `json:"approved,omitempty"`
	// First is the first of two people to approve it, where it takes two.
	First string `json:"first,omitempty"`
	// By and Channel say who approved it, and where.
	By      string `json:"by,omitempty"`
	Channel string `json:"channel,omitempty"`
	// Spoke says that other people's words were read since it was asked, and Moved that a call
	// changed something after that.
	Spoke bool `json:"spoke,omitempty"`
	Moved bool `json:"moved,omitempty"`
}

// Seen is a digest of all that a question shows. An approval by ticket must send it back, as it
// would send the code elsewhere: a call that joined since, or came back at a lower mark, is not
// approved unread.
func (o Open) Seen() string {
	data, err := json.Marshal(o.Shown)
	if err != nil {
		return ""
	}
	return floodmark.DigestOf(string(data)).String()
}

// A Grant is what an approval allows.
type Grant struct {
	Ticket floodmark.TicketID   `json:"ticket"`
	Scope  floodmark.GrantScope `json:"scope"`
	Shown  floodmark.Shown      `json:"shown"`
	Turn   int                  `json:"turn"`
	Until  time.Time            `json:"until,omitzero"`
	// Used is the last call that it allowed.
	Used floodmark.CallID `json:"used,omitempty"`
	// Spoke says that other people's words were read since it was asked for, and Own that results
	// of its own calls lowered the mark. Neither changes the call that was shown, so the grant
	// holds until something else changes: see [Book.Changed].
	Spoke bool `json:"spoke,omitempty"`
	Own   bool `json:"own,omitempty"`
	// Moved says that a call changed something between those words and the approval.
	Moved bool `json:"moved,omitempty"`
	// Draft means that it was given while the owner only observed. After that it covers nothing,
	// and its question is asked again.
	Draft bool `json:"draft,omitempty"`
}

// exact reports a grant for exactly the call that was shown. A call that takes further commands is
// never known in full.
func (g Grant) exact() bool {
	return (g.once() || g.Scope == floodmark.GrantTurn || g.Scope == floodmark.GrantMinutes) &&
		!slices.Contains(g.Shown.Codes, floodmark.Interactive)
}

// once reports a grant that one call uses up.
func (g Grant) once() bool {
	return g.Scope == floodmark.GrantOnce || g.Scope == floodmark.GrantOutside
}

// A Denial is a call a person refused. The same call is not asked about again
// in that turn.
type Denial struct {
	Tool       floodmark.ToolRef `json:"tool"`
	ArgsDigest floodmark.Digest  `json:"argsDigest"`
}

// The limits of a book: beyond them the oldest entries are dropped.
const (
	MaxTickets = 32
	MaxGrants  = 64
	MaxClosed  = 32
	MaxAsked   = 256
	MaxGuesses = 16 // channels; more are one
)

// Open adds a new question.
func (b *Book) Open(f floodmark.TicketOpened, turn int) {
	b.Tickets = append(b.Tickets, Open{ID: f.Ticket, CodeMAC: f.CodeMAC, Shown: slices.Clone(f.Shown), Expires: f.Expires, Held: f.Held, Turn: turn})
	if extra := len(b.Tickets) - MaxTickets; extra > 0 {
		b.Tickets = slices.Delete(b.Tickets, 0, extra)
	}
	b.Waits = append(b.Waits, f.Expires)
	if extra := len(b.Waits) - MaxAsked; extra > 0 {
		b.Waits = slices.Delete(b.Waits, 0, extra)
	}
}

// AskedSince counts the questions that expire after a time.
func (b *Book) AskedSince(t time.Time) int {
	n := 0
	for _, until := range b.Waits {
		if until.After(t) {
			n++
		}
	}
	return n
}

// Extend adds a call to an open question, or replaces it with the same call as it stands now. From
// then on only the new code answers: the old one does not prove that this call was read.
func (b *Book) Extend(f floodmark.TicketExtended) {
	i := b.find(f.Ticket)
	if i < 0 {
		return
	}
	o := &b.Tickets[i]
	again := slices.ContainsFunc(o.Shown, func(s floodmark.Shown) bool { return SameCall(s, f.Shown) && asItWas(s, f.Shown) })
	o.Shown, o.CodeMAC = o.With(f.Shown), f.CodeMAC
	if again {
		return
	}
	o.First = ""                                                       // the first approver has not seen this
	o.Spoke, o.Moved = false, len(o.Shown) > 1 && (o.Spoke || o.Moved) // the other calls are unchanged
}

// With returns the calls of a question after adding one, or replacing one by its current form.
func (o Open) With(call floodmark.Shown) []floodmark.Shown {
	return append(slices.DeleteFunc(slices.Clone(o.Shown), func(s floodmark.Shown) bool { return SameCall(s, call) }), call)
}

// SameCall reports whether two show the same call, in any state.
func SameCall(a, b floodmark.Shown) bool { return a.Tool == b.Tool && a.ArgsDigest == b.ArgsDigest }

// asItWas reports whether a call is shown again unchanged, with a new code only.
func asItWas(a, b floodmark.Shown) bool {
	return a.Mark == b.Mark && a.Node == b.Node && a.Two == b.Two && a.Boxed == b.Boxed && a.Others == b.Others && slices.Equal(a.Hosts, b.Hosts) && a.Here == b.Here && slices.Equal(a.Codes, b.Codes)
}

// Count records the first of two approvals.
func (b *Book) Count(f floodmark.TicketCounted) {
	if i := b.find(f.Ticket); i >= 0 {
		b.Tickets[i].First = f.Person
	}
}

// Refuse records a wrong code. One that names no ticket counts against all open ones, because it
// may have been a guess at any.
func (b *Book) Refuse(f floodmark.TicketRefused) {
	for i := range b.Tickets {
		if f.Ticket == "" || b.Tickets[i].ID == f.Ticket {
			b.Tickets[i].Wrong++
		}
	}
	if f.Ticket != "" {
		return
	}
	g := b.guess(f.Channel)
	if g == nil {
		channel := f.Channel
		if len(b.Guesses) >= MaxGuesses-1 {
			channel = ""
		}
		b.Guesses = append(b.Guesses, Guess{Channel: channel})
		g = &b.Guesses[len(b.Guesses)-1]
	}
	if g.Wrong++; !f.Until.IsZero() {
		g.Wrong, g.Until = 0, f.Until
	}
}

// guess returns the count of a channel. With too many channels, all others share the one without a
// name.
func (b *Book) guess(channel string) *Guess {
	if i := slices.IndexFunc(b.Guesses, func(g Guess) bool { return g.Channel == channel }); i >= 0 {
		return &b.Guesses[i]
	}
	if len(b.Guesses) < MaxGuesses {
		return nil
	}
	return &b.Guesses[slices.IndexFunc(b.Guesses, func(g Guess) bool { return g.Channel == "" })]
}

// Guessed returns how many wrong codes were typed through a channel, and until when codes are
// refused there.
func (b *Book) Guessed(channel string) (wrong int, until time.Time) {
	if g := b.guess(channel); g != nil {
		return g.Wrong, g.Until
	}
	return 0, time.Time{}
}

// Answer records a person's answer: the question is closed, and a denial also ends what the same
// question had granted before. A voided question (Confirm) is closed without an answer.
func (b *Book) Answer(f floodmark.TicketAnswered) {
	i := b.find(f.Ticket)
	if i >= 0 && f.Verdict == floodmark.Restrict {
		for _, s := range b.Tickets[i].Shown {
			b.Denials = append(b.Denials, Denial{Tool: s.Tool, ArgsDigest: s.ArgsDigest})
		}
	}
	if g := b.guess(f.Channel); g != nil && f.Verdict != floodmark.Confirm {
		g.Wrong = 0
	}
	if f.Verdict == floodmark.Allow {
		if i >= 0 {
			b.Tickets[i].Approved, b.Tickets[i].By, b.Tickets[i].Channel = true, f.By, f.Channel
		}
		return
	}
	for _, g := range b.Grants {
		if g.Ticket == f.Ticket && f.Verdict == floodmark.Restrict {
			b.Denials = append(b.Denials, Denial{Tool: g.Shown.Tool, ArgsDigest: g.Shown.ArgsDigest})
		}
	}
	b.End(f.Ticket)
	if i >= 0 {
		b.Closed = append(b.Closed, Closed{ID: f.Ticket, CodeMAC: b.Tickets[i].CodeMAC, Verdict: f.Verdict, By: f.By, Channel: f.Channel})
		if extra := len(b.Closed) - MaxClosed; extra > 0 {
			b.Closed = slices.Delete(b.Closed, 0, extra)
		}
		b.Tickets = orNil(slices.Delete(b.Tickets, i, i+1))
	}
}

// Give records a grant. The call it was given for is no longer asked about.
func (b *Book) Give(f floodmark.GrantGiven) {
	g := Grant{Ticket: f.Ticket, Scope: f.Scope, Shown: f.Shown, Turn: f.Turn, Until: f.Until, Draft: f.Draft}
	if i := b.find(f.Ticket); i >= 0 {
		g.Moved = b.Tickets[i].Moved
		g.Spoke = g.exact() && b.Tickets[i].Spoke && !g.Moved
		b.Tickets[i].Shown = orNil(slices.DeleteFunc(b.Tickets[i].Shown, func(s floodmark.Shown) bool {
			return s.Tool == f.Shown.Tool && s.ArgsDigest == f.Shown.ArgsDigest
		}))
	}
	if (g.Scope == floodmark.GrantHosts || g.Scope == floodmark.GrantHere) && !g.Draft { // drafts are not kept
		b.Hosts = append(b.Hosts, g)
		b.Hosts = b.Hosts[max(0, len(b.Hosts)-MaxGrants):]
		return
	}
	b.Grants = append(b.Grants, g)
	if extra := len(b.Grants) - MaxGrants; extra > 0 {
		b.Grants = slices.Delete(b.Grants, 0, extra)
	}
}

// Use records that a grant allowed a call. A grant for a single call is removed. One for exactly
// this call still holds after the result, which becomes the given node. What a pattern allows is
// not known beforehand, so there an untrusted result does silence the grant.
func (b *Book) Use(f floodmark.GrantUsed, result floodmark.NodeID) {
	for i := range b.Grants {
		g := &b.Grants[i]
		exact := g.Scope == floodmark.GrantTurn || g.Scope == floodmark.GrantMinutes
		if g.Ticket != f.Ticket || g.Shown.Tool != f.Tool || exact && !f.Args.IsZero() && f.Args != g.Shown.ArgsDigest {
			continue
		}
		if g.Used = f.Call; exact {
			g.Shown.Node = result + 1
		}
	}
	b.Grants = slices.DeleteFunc(b.Grants, func(g Grant) bool {
		return g.Ticket == f.Ticket && g.once() && g.Shown.Tool == f.Tool
	})
	b.Grants = orNil(b.Grants)
}

// End ends the grants of a ticket.
func (b *Book) End(t floodmark.TicketID) {
	of := func(g Grant) bool { return g.Ticket == t }
	b.Grants, b.Hosts = orNil(slices.DeleteFunc(b.Grants, of)), orNil(slices.DeleteFunc(b.Hosts, of))
}

// Ran records that a call was allowed, by the grants of a ticket or by none. A later call that
// reuses the name of an approved one is not that call.
func (b *Book) Ran(call floodmark.CallID, by floodmark.TicketID) {
	for i := range b.Grants {
		if b.Grants[i].Used == call && b.Grants[i].Ticket != by {
			b.Grants[i].Used = ""
		}
	}
}

// Hear records that words of others were read. They lower the mark, but a grant for exactly what
// was shown still holds: otherwise writing into the same group could keep the owner from approving
// anything.
func (b *Book) Hear() {
	for i := range b.Tickets {
		b.Tickets[i].Spoke = true
	}
	for i := range b.Grants {
		b.Grants[i].Spoke = b.Grants[i].exact() && !b.Grants[i].Moved
	}
}

// Gave records the result of a call. It does not end a grant for exactly this call, unless it holds
// secrets.
func (b *Book) Gave(call floodmark.CallID, label floodmark.Label) {
	for i := range b.Grants {
		g := &b.Grants[i]
		if call != "" && g.Used == call && g.exact() && label.Secrecy > floodmark.Secret {
			g.Shown.Mark, g.Own = g.Shown.Mark.Join(label), true
		}
	}
}

// Fell records that a call's result is trusted less than was announced: the approval did not show
// that.
func (b *Book) Fell(call floodmark.CallID) {
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return call == "" || g.Used != call }))
}

// Changed records a change on which an approved call may depend: grants that held despite new
// content end, except the one that allowed the changing call itself.
func (b *Book) Changed(by floodmark.TicketID, args floodmark.Digest) {
	for i := range b.Tickets {
		b.Tickets[i].Moved = b.Tickets[i].Moved || b.Tickets[i].Spoke
	}
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return (g.Spoke || g.Own) && (g.Ticket != by || g.Shown.ArgsDigest != args) }))
}

// Follows records that a call was allowed which changes nothing by itself. For another command of
// the same shell it may change the folder.
func (b *Book) Follows(t floodmark.ToolRef, by floodmark.TicketID, args floodmark.Digest) {
	changes := false // each call that is let through comes here, so nothing is copied
	for i := range b.Grants {
		changes = changes || b.Grants[i].Shown.Tool == t
	}
	for i := range b.Tickets {
		changes = changes || b.Tickets[i].about(t)
	}
	if changes {
		b.Changed(by, args)
	}
}

// Sink applies the session's mark. A grant that was given above it ends, even if the mark rises
// again.
func (b *Book) Sink(mark floodmark.Label) {
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return g.sunk(mark) }))
}

// CloseTurn ends everything that was given or asked for one turn.
func (b *Book) CloseTurn() {
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return g.Until.IsZero() && !g.once() }))
	b.Denials = nil
}

// Void ends every question and every grant: after a cleared context, nothing that was shown
// describes the session any more. Grants for the project stay.
func (b *Book) Void() { *b = Book{Guesses: b.Guesses, Waits: b.Waits, Hosts: b.Hosts} }

func (b *Book) find(t floodmark.TicketID) int {
	return slices.IndexFunc(b.Tickets, func(o Open) bool { return o.ID == t })
}

// orNil makes an emptied list equal to one that was never used.
func orNil[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return s
}
