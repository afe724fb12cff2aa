// Package approval is about asking a person: what we ask, how they answer, and what an answer
// allows. It also holds the contract of everything that delivers questions to people. It delivers
// no question itself and stores no code, only a MAC that verifies a typed code.
package approval

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// A Ticket is a question to a person.
type Ticket struct {
	ID floodmark.TicketID
	// Tenant and Session are the tenant and session of the question.
	Tenant  string
	Session floodmark.SessionID
	// Code is what the owner types. It is sent only to the owner's channel, never in a reply, a log
	// or the journal. When a call is added to an open question, a new code replaces the old one for
	// the whole question.
	Code string
	// Call is the new call in the question.
	Call Question
	// Calls is how many calls the question contains now.
	Calls int
	// Seen is the current [Open.Seen], which an approval must send back.
	Seen    string
	Expires time.Time
	// Held is when quiet hours end, if the question was asked during them. People are notified only
	// then. An approver that gets the question through [Approver.Ask] may show it, unless it is a
	// [Keeper].
	Held time.Time
	// Again says that the question was open when the monitor stopped and is now asked again. It has
	// a new code and one Ticket for each of its calls.
	Again bool
}

// A Question is one call as a person sees it.
type Question struct {
	Action floodmark.Action
	// Line describes the call in one line: source, argument, action, remedy.
	Line string
	// Sources are the sources that lowered the session's trust, oldest first.
	Sources []floodmark.Source
	// Pattern describes the wider grant that an approval with minutes gives; empty if none.
	Pattern string
	// Offers are the approvals a person can choose from, at most [MaxOffers], the narrowest first.
	// The first is for this call alone.
	Offers []Offer
	// Pick is set if an argument that matters was seen only in foreign content. An approval must
	// then also contain the value of that argument.
	Pick *Pick
	// Vouch is set if the question is about content instead of a call. It names the content as a
	// person would.
	Vouch Origin
	// Two says that two people must approve the call.
	Two bool
	// Asked is the beginning of the owner's last message, as a reminder for an owner who reads the
	// question hours later.
	Asked string
	// Source says in plain words who wrote the content that led to the call. Consequence says in
	// plain words what happens after an approval.
	Source, Consequence string
	// About is the catalog's description of the tool.
	About string
	// Pays says that the tool moves money. Unknown says that no catalog describes the tool.
	Pays, Unknown bool
	// Notes are about the arguments of Action, in the same order; it may be empty.
	Notes []Note
	// Led is the content that led to the call; zero if there is none.
	Led Origin
	// Box says in one line whether the call runs in a box; empty if it never can.
	Box string
	// Beware are our own warnings about the data in the call.
	Beware []string
	// Reasons are the reasons of the decision, the deciding one first.
	Reasons []floodmark.Reason
	// Whole are the values that their short forms do not fully show.
	Whole []floodmark.Whole
	// Push is what the call would push; nil if there is no push that can be inspected.
	Push *hook.Push
	// Remote is what «origin» means in the project of the session.
	Remote hook.Remote
}

// An Offer is one approval that a question offers. It is recorded with the question, so that no
// grant is wider than what was shown.
type Offer = floodmark.Offer

// MaxOffers is how many offers a person can tell apart at a glance.
const MaxOffers = 3

// A Pick is a value that a person must enter besides approving, so that a destination is not
// approved unread.
type Pick struct {
	// Argument names the argument with that value, as in [floodmark.Argument.Path].
	Argument string
	// Others are further arguments whose values must be entered too, because only foreign content
	// named them.
	Others []string
	// Among are three values in random order, one of which is the real one. If it is empty, the
	// person types the end of the value, see [Tail].
	Among []string
	// Words are the instruction, such as «type what stands behind the @».
	Words string
}

// PickEnd is how many characters a person types of a value without a domain or host name.
const PickEnd = 6

// An Approver sends a ticket to a person. The answer comes back later, as a message or a click, so
// Ask returns as soon as the question is sent. Ask is called for the calls of one question in
// order, one at a time.
type Approver interface {
	Ask(ctx context.Context, t Ticket) error
}

// A Keeper is an [Approver] that notifies nobody and keeps questions for people who look for them.
// It gets each question during the event of its session, before people are notified, and also
// during quiet hours. Its Ask must not block.
type Keeper interface {
	Approver
	Keeps()
}

// A Closer is an [Approver] that is also called when one of its questions ends, so that it can
// update what it shows. The monitor calls Closed after the answer is durable, perhaps more than
// once.
type Closer interface {
	Closed(ctx context.Context, s floodmark.SessionID, t floodmark.TicketID, o Outcome) error
}

// An Outcome says how a question ended.
type Outcome struct {
	// Verdict is Allow for an approved question, Restrict for a denied one, and Confirm for one
	// that expired or was voided.
	Verdict floodmark.Verdict
	Expired bool
	// By and Channel say who answered, and where. For a voided question, By says why it was voided.
	By, Channel string
	At          time.Time
}

// CodeMAC returns the keyed hash of a code that the journal stores. It verifies a typed code, and
// reveals nothing without the key.
func CodeMAC(key []byte, s floodmark.SessionID, t floodmark.TicketID, code string) floodmark.Digest {
	m := hmac.New(sha256.New, key)
	b := make([]byte, 0, 128)
	for _, part := range [...]string{"approval code", string(s), string(t), code} {
		b = append(append(b, part...), 0)
	}
	m.Write(b)
	return floodmark.Digest(m.Sum(b[:0]))
}

// PickMAC returns a keyed hash of a value or of its end. The journal stores it to verify what a
// person enters. Case and surrounding spaces are ignored.
func PickMAC(key []byte, s floodmark.SessionID, args floodmark.Digest, what, value string) floodmark.Digest {
	m := hmac.New(sha256.New, key)
	b := make([]byte, 0, 256)
	for _, part := range [...]string{"picked " + what, string(s), args.String(), strings.ToLower(strings.TrimSpace(value))} {
		b = append(append(b, part...), 0)
	}
	m.Write(b)
	return floodmark.Digest(m.Sum(b[:0]))
}

// The parts of a value that a person can enter.
const (
	PickWhole = "whole"
	PickTail  = "end"
)

// Place returns the part of a value that a person must read: the host of a URL, and everything that
// is shown of any other value.
func Place(shown string) string {
	if u, err := url.Parse(shown); err == nil && u.Hostname() != "" {
		return strings.ToLower(u.Hostname())
	}
	return strings.TrimSpace(strings.TrimSuffix(shown, "…"))
}

// Place returns the values that a person must enter, as the question shows them. It is for drawing
// a card. Do not use it to fill in a person's answer, because then nobody has read the value.
func (q Question) Place() string {
	if q.Pick == nil {
		return ""
	}
	var parts []string
	for _, path := range append([]string{q.Pick.Argument}, q.Pick.Others...) {
		for _, a := range q.Action.Arguments {
			if a.Path == path {
				parts = append(parts, Parts(a.Shown)...)
			}
		}
	}
	return strings.Join(Distinct(parts), " ")
}

// Parts returns what a person must enter of a value: its [Place], and for a URL with more than a
// host also its end, because the rest of a URL can contain anything.
func Parts(shown string) []string {
	place := Place(shown)
	if u, err := url.Parse(shown); err == nil && u.Hostname() != "" && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil) {
		return []string{place, lastOf(shown)}
	}
	return []string{place}
}

// Distinct removes duplicates from a list, ignoring case.
func Distinct(parts []string) []string {
	var list []string
	for _, p := range parts {
		if !slices.ContainsFunc(list, func(o string) bool { return strings.EqualFold(o, p) }) {
			list = append(list, p)
		}
	}
	return list
}

// Together normalises several entered parts: their words, in any order, separated by spaces or
// commas.
func Together(said string) string {
	words := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// lastOf returns the last [PickEnd] characters of a value.
func lastOf(value string) string {
	r := []rune(strings.TrimSpace(value))
	return strings.TrimSpace(string(r[max(0, len(r)-PickEnd):]))
}

// Tail returns the end of a value that a person types. It is the part after the @ of a mail
// address, the last labels of a host name (roughly its registered domain), and otherwise the last
// [PickEnd] characters.
func Tail(value string) string {
	value = strings.TrimSpace(value)
	if _, domain, ok := strings.Cut(value, "@"); ok && strings.Contains(domain, ".") {
		return domain
	}
	labels := strings.Split(value, ".")
	if n := len(labels); n > 1 && !strings.ContainsAny(value, " /\\:=\"'") {
		keep := 2
		if len(labels[n-2]) <= 3 { // as in co.uk
			keep = 3
		}
		return strings.Join(labels[max(0, n-keep):], ".")
	}
	return lastOf(value)
}

// TailWords returns the instruction to enter the [Tail] of a value. The path is empty if the
// catalog does not describe the argument, because a foreign name must not appear as our own words.
func TailWords(path, value string) string {
	of := "its value"
	if path != "" {
		of = "the " + nameOf(path, true).one
	}
	switch tail := Tail(value); {
	case strings.HasSuffix(value, "@"+tail):
		return "type what stands behind the @ of " + of
	case strings.Contains(tail, ".") && utf8.RuneCountInString(tail) != PickEnd:
		return "type the name of the site, with its ending"
	}
	if Tail(value) == strings.TrimSpace(value) {
		return "type the whole of " + of
	}
	return fmt.Sprintf("type the last %d characters of %s", PickEnd, of)
}

// Picks reports whether a person entered the value that a shown call requires. If the call requires
// none, anything is accepted.
func Picks(key []byte, s floodmark.SessionID, shown floodmark.Shown, said string) bool {
	if shown.Pick.IsZero() {
		return true
	}
	proved := false
	for _, text := range []string{said, Together(said)} {
		whole := SameDigest(PickMAC(key, s, shown.ArgsDigest, PickWhole, text), shown.Pick)
		tail := SameDigest(PickMAC(key, s, shown.ArgsDigest, PickTail, text), shown.PickEnd)
		proved = proved || whole || tail && !shown.PickEnd.IsZero()
	}
	return said != "" && proved
}

// SameDigest compares two digests in constant time. Codes and picked values are compared only in
// this way, never as text.
func SameDigest(a, b floodmark.Digest) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// SameWord compares two words in constant time, for words that may be codes.
func SameWord(a, b string) bool { return SameDigest(floodmark.DigestOf(a), floodmark.DigestOf(b)) }
