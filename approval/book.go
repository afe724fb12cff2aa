package approval

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
)

// A Book holds what one session knows of questions and answers, computed from its facts. The zero
// Book is empty and grants nothing.
type Book struct {
	Tickets []Open   `json:"tickets,omitempty"`
	Grants  []Grant  `json:"grants,omitempty"`
	Denials []Denial `json:"denials,omitempty"`
	// Closed are the most recent questions that have ended.
	Closed []Closed `json:"closed,omitempty"`
	// Guesses count the wrong codes by channel.
	Guesses []Guess `json:"guesses,omitempty"`
	// Waits are the expiry times of the most recent questions, oldest first.
	Waits []time.Time `json:"waits,omitempty"`
	// Hosts are the grants that outlive the session: see [floodmark.GrantHosts] and
	// [floodmark.GrantHere].
	Hosts []Grant `json:"hosts,omitempty"`
	// Boxed is the newest call allowed in a box; nil if there is none.
	Boxed *Boxed `json:"boxed,omitempty"`
	// InBoxes are the calls allowed in a box that have no result yet.
	InBoxes []floodmark.CallID `json:"inBoxes,omitempty"`
}

// A Closed is a question that has ended. It is kept so that a late answer can be told how the
// question ended.
type Closed struct {
	ID      floodmark.TicketID `json:"id"`
	CodeMAC floodmark.Digest   `json:"codeMac"`
	Verdict floodmark.Verdict  `json:"verdict"`
	By      string             `json:"by,omitempty"`
	Channel string             `json:"channel,omitempty"`
}

// A Guess counts the wrong codes typed through one channel since the last right one. Until then,
// codes from that channel are refused.
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
	// Held is when people are first notified; zero if they were notified at once.
	Held  time.Time `json:"held,omitzero"`
	Turn  int       `json:"turn"`
	Wrong int       `json:"wrong,omitempty"`
	// Approved says that the question was approved. It stays in the book until it expires: a denial
	// that arrives before the call runs can still take the approval back.
	Approved bool `json:"approved,omitempty"`
	// First is the first person to approve, if two people must.
	First string `json:"first,omitempty"`
	// By and Channel say who approved the question, and where.
	By      string `json:"by,omitempty"`
	Channel string `json:"channel,omitempty"`
	// Spoke says that other people's words were read after the question was asked.
	Spoke bool `json:"spoke,omitempty"`
	// Moved says that a call changed something after such words were read.
	Moved bool `json:"moved,omitempty"`
}

// Seen returns a digest of everything that a question shows. An approval by ticket, which has no
// code, must send it back. So nobody approves a call unread that was added to the question later,
// or that was asked about again at a lower mark.
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
	// Used is the last call that the grant allowed.
	Used floodmark.CallID `json:"used,omitempty"`
	// Spoke says that other people's words were read after the question was asked. This does not
	// change the call that was shown, so the grant stays valid until something else changes: see
	// [Book.Changed].
	Spoke bool `json:"spoke,omitempty"`
	// Own says that results of the grant's own calls lowered the mark. The grant stays valid as
	// with Spoke.
	Own bool `json:"own,omitempty"`
	// Moved says that, before the approval, a call changed something after other people's words
	// were read.
	Moved bool `json:"moved,omitempty"`
	// Draft says that the grant was given while the owner only observed. Afterwards it covers
	// nothing, and the question is asked again.
	Draft bool `json:"draft,omitempty"`
}

// exact reports whether a grant is for exactly the call that was shown. A call that takes further
// commands is never known exactly.
func (g Grant) exact() bool {
	return (g.once() || g.Scope == floodmark.GrantTurn || g.Scope == floodmark.GrantMinutes) &&
		!slices.Contains(g.Shown.Codes, floodmark.Interactive)
}

// once reports whether one call uses up the grant.
func (g Grant) once() bool {
	return g.Scope == floodmark.GrantOnce || g.Scope == floodmark.GrantOutside
}

// A Denial is a call that a person refused. The same call is not asked about again in the same
// turn, and does not run in it, even if the policy would allow it by then.
type Denial struct {
	Tool       floodmark.ToolRef `json:"tool"`
	ArgsDigest floodmark.Digest  `json:"argsDigest"`
	// Outside says that only running it outside of its box, or letting its box reach hosts, was refused.
	Outside bool `json:"outside,omitempty"`
}

func denial(s floodmark.Shown) Denial {
	outside := len(s.Hosts) > 0 || len(s.Offers) > 0 && s.Offers[0].Scope == floodmark.GrantOutside
	return Denial{Tool: s.Tool, ArgsDigest: s.ArgsDigest, Outside: outside}
}

// The limits of a book: beyond them the oldest entries are dropped.
const (
	MaxTickets = 32
	MaxGrants  = 64
	MaxClosed  = 32
	MaxAsked   = 256
	MaxGuesses = 16 // channels; all further channels share one count
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

// AskedSince counts the questions whose expiry is after t.
func (b *Book) AskedSince(t time.Time) int {
	n := 0
	for _, until := range b.Waits {
		if until.After(t) {
			n++
		}
	}
	return n
}

// Extend adds a call to an open question, or replaces it if the question already shows it. From
// then on only the new code is accepted, because the old code does not prove that this call was
// read.
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
	o.First = ""                                                       // the first approver has not seen this call
	o.Spoke, o.Moved = false, len(o.Shown) > 1 && (o.Spoke || o.Moved) // the other calls are unchanged
}

// With returns the calls of a question after adding call. It replaces an older form of the same
// call.
func (o Open) With(call floodmark.Shown) []floodmark.Shown {
	return append(slices.DeleteFunc(slices.Clone(o.Shown), func(s floodmark.Shown) bool { return SameCall(s, call) }), call)
}

// SameCall reports whether a and b show the same call, possibly at different times.
func SameCall(a, b floodmark.Shown) bool { return a.Tool == b.Tool && a.ArgsDigest == b.ArgsDigest }

// asItWas reports whether a call is shown again unchanged, so that only the code is new.
func asItWas(a, b floodmark.Shown) bool {
	return a.Mark == b.Mark && a.Node == b.Node && a.Two == b.Two && a.Boxed == b.Boxed && a.Others == b.Others && slices.Equal(a.Hosts, b.Hosts) && a.Here == b.Here && slices.Equal(a.Codes, b.Codes)
}

// Count records the first of two approvals.
func (b *Book) Count(f floodmark.TicketCounted) {
	if i := b.find(f.Ticket); i >= 0 {
		b.Tickets[i].First = f.Person
	}
}

// Refuse records a wrong code. If the code names no ticket, it is counted for all open tickets,
// because it may have been a guess at any of them.
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

// guess returns the count of a channel; nil if there is none yet. If there are too many channels,
// all further ones share the count with the empty name.
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

// Answer records a person's answer. An approved question stays until it expires; every other answer
// closes it and ends what it had granted before. The verdict Confirm closes a voided question.
func (b *Book) Answer(f floodmark.TicketAnswered) {
	i := b.find(f.Ticket)
	if i >= 0 && f.Verdict == floodmark.Restrict {
		for _, s := range b.Tickets[i].Shown {
			b.Denials = append(b.Denials, denial(s))
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
			b.Denials = append(b.Denials, denial(g.Shown))
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

// Give records a grant. The question no longer contains the call that the grant is for.
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

// Use records that a grant allowed a call, whose result will be the given node. A grant for a
// single call is removed. A grant for identical calls stays valid after that result, even if it is
// not trusted. A grant for a pattern does not, because its calls are not known beforehand.
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

// Ran records that a call was allowed, by the grants of a ticket or by none. If the call reuses the
// id of an approved call, the grant of that earlier call forgets the id.
func (b *Book) Ran(call floodmark.CallID, by floodmark.TicketID) {
	for i := range b.Grants {
		if b.Grants[i].Used == call && b.Grants[i].Ticket != by {
			b.Grants[i].Used = ""
		}
	}
}

// Hear records that words of others were read. These lower the mark, but a grant for exactly the
// shown call stays valid. Otherwise anyone who writes into the same group could prevent every
// approval.
func (b *Book) Hear() {
	for i := range b.Tickets {
		b.Tickets[i].Spoke = true
	}
	for i := range b.Grants {
		b.Grants[i].Spoke = b.Grants[i].exact() && !b.Grants[i].Moved
	}
}

// Gave records the result of a call. The result does not end a grant for exactly this call, unless
// it contains secrets.
func (b *Book) Gave(call floodmark.CallID, label floodmark.Label) {
	for i := range b.Grants {
		g := &b.Grants[i]
		if call != "" && g.Used == call && g.exact() && label.Secrecy > floodmark.Secret {
			g.Shown.Mark, g.Own = g.Shown.Mark.Join(label), true
		}
	}
}

// Fell records that a call's result is trusted less than was announced. It ends the call's grant,
// because the approval did not show that.
func (b *Book) Fell(call floodmark.CallID) {
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return call == "" || g.Used != call }))
}

// Changed records a change on which an approved call may depend. Grants that stayed valid despite
// new content (Spoke, Own) end now, except the grant that allowed the changing call itself.
func (b *Book) Changed(by floodmark.TicketID, args floodmark.Digest) {
	for i := range b.Tickets {
		b.Tickets[i].Moved = b.Tickets[i].Moved || b.Tickets[i].Spoke
	}
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return (g.Spoke || g.Own) && (g.Ticket != by || g.Shown.ArgsDigest != args) }))
}

// Follows records that a call was allowed that has no effect of its own. The call is treated as a
// change if an approval or question is for another call of the same tool, because it may for
// example change the folder of a shell.
func (b *Book) Follows(t floodmark.ToolRef, by floodmark.TicketID, args floodmark.Digest) {
	changes := false // this runs for every allowed call, so nothing is copied
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

// Sink ends the grants that were given at a higher mark than the session has now. They do not come
// back if the mark rises again.
func (b *Book) Sink(mark floodmark.Label) {
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return g.sunk(mark) }))
}

// CloseTurn ends the grants and denials of one turn.
func (b *Book) CloseTurn() {
	b.Grants = orNil(slices.DeleteFunc(b.Grants, func(g Grant) bool { return g.Until.IsZero() && !g.once() }))
	b.Denials = nil
}

// Void ends every question and every grant except those for the whole project. It is called after
// the context was cleared, because the questions no longer describe the session.
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
