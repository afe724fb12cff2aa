// Package approval is about asking a person: what we ask, how they answer, and what an answer
// allows. It also holds the contract of everything that can carry a question. It carries no
// question itself, and it keeps no code: a typed code is proved by its MAC.
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
	// Tenant and Session are those the question belongs to.
	Tenant  string
	Session floodmark.SessionID
	// Code is what the owner types. It goes only to the owner's channel: not into a reply, a log or
	// the journal. A call that joins an open question brings a new code for all of it.
	Code string
	// Call is the new call in the question, Calls how many it holds now, and Seen the current
	// [Open.Seen], which an approval must send back.
	Call    Question
	Calls   int
	Seen    string
	Expires time.Time
	// Held is set in quiet hours: people are told of the question after it. An approver that gets
	// it through [Approver.Ask] may show it, unless it is a [Keeper].
	Held time.Time
	// Again says that it was asked before, until the monitor stopped. It comes with a new code, and
	// with one Ticket for each of its calls.
	Again bool
}

// A Question is one call as a person sees it.
type Question struct {
	Action floodmark.Action
	// Line says it in one line: source, argument, action, remedy.
	Line string
	// Sources are what lowered the session's trust, oldest first.
	Sources []floodmark.Source
	// Pattern is the wider grant of an approval with minutes; empty if none.
	Pattern string
	// Offers are the approvals a person can choose from, at most [MaxOffers],
	// the narrowest first: the first is this call alone.
	Offers []Offer
	// Pick is set if an argument that matters was seen only in foreign content: then an approval
	// must also say what that argument is.
	Pick *Pick
	// Vouch is set if the question is about content instead of a call: the name a person would give
	// that content.
	Vouch Origin
	// Two says that two people must approve it.
	Two bool
	// Asked is how the owner's last message begins, as a reminder for an owner who reads the
	// question hours later.
	Asked string
	// Source says who wrote what led here, Consequence what happens after an approval, both in
	// plain words.
	Source, Consequence string
	// About is the catalog's description of the tool. Pays says that it moves money, Unknown that
	// it is in no catalog.
	About         string
	Pays, Unknown bool
	// Notes are about the arguments of Action, in the same order; empty without any.
	Notes []Note
	// Led is what led here; zero if it was the agent itself.
	Led Origin
	// Box says in a line whether it runs in a box; empty if it never can.
	Box string
	// Beware are our own warnings about what the call carries.
	Beware []string
	// Reasons are those of the decision, the deciding one first.
	Reasons []floodmark.Reason
	// Whole are the values that their short forms do not fully show.
	Whole []floodmark.Whole
	// Push is what the call would push; nil for no push that can be inspected.
	Push *hook.Push
	// Remote is what «origin» means where it was asked.
	Remote hook.Remote
}

// An Offer is one approval that a question offers. It is recorded with the question, so that no
// grant is wider than what was shown.
type Offer = floodmark.Offer

// MaxOffers is how many offers a person can tell apart at a glance.
const MaxOffers = 3

// A Pick is what a person must enter besides approving, so that a place is not approved unread.
type Pick struct {
	// Argument names it, as in [floodmark.Argument.Path]. Others are further ones, if foreign
	// content alone named more than one place; then each has to be typed.
	Argument string
	Others   []string
	// Among are three values in random order, one of them the real one. If it
	// is empty the person types the end of the value, see [Tail].
	Among []string
	// Words are the instruction, such as «type what stands behind the @».
	Words string
}

// PickEnd is how many characters a person types of a value without a domain or host name.
const PickEnd = 6

// An Approver carries a ticket to a person. The answer comes back later, as a message or a click,
// so Ask returns as soon as the question is sent. The calls of one question come in order, one at a
// time.
type Approver interface {
	Ask(ctx context.Context, t Ticket) error
}

// A Keeper is an [Approver] that notifies no person: it keeps questions for people who come and
// look. It gets those of quiet hours at once, and each one in the turn of its session, before
// people are told. It must not block.
type Keeper interface {
	Approver
	Keeps()
}

// A Closer is an [Approver] that is also told how its questions ended, so that it can update them.
// The monitor calls it after the answer is durable, perhaps more than once.
type Closer interface {
	Closed(ctx context.Context, s floodmark.SessionID, t floodmark.TicketID, o Outcome) error
}

// An Outcome is how a question ended.
type Outcome struct {
	// Verdict is Allow if it was approved, Restrict if it was denied, and Confirm if it expired or
	// was voided.
	Verdict floodmark.Verdict
	Expired bool
	// By and Channel say who answered, and where. For a voided question By says why.
	By, Channel string
	At          time.Time
}

// CodeMAC is what the journal keeps of a code: enough to verify a typed one, useless without the
// key.
func CodeMAC(key []byte, s floodmark.SessionID, t floodmark.TicketID, code string) floodmark.Digest {
	m := hmac.New(sha256.New, key)
	b := make([]byte, 0, 128)
	for _, part := range [...]string{"approval code", string(s), string(t), code} {
		b = append(append(b, part...), 0)
	}
	m.Write(b)
	return floodmark.Digest(m.Sum(b[:0]))
}

// PickMAC is what the journal keeps of a value that has to be picked, or of its end: enough to
// verify a picked one. Case and surrounding spaces do not count.
func PickMAC(key []byte, s floodmark.SessionID, args floodmark.Digest, what, value string) floodmark.Digest {
	m := hmac.New(sha256.New, key)
	b := make([]byte, 0, 256)
	for _, part := range [...]string{"picked " + what, string(s), args.String(), strings.ToLower(strings.TrimSpace(value))} {
		b = append(append(b, part...), 0)
	}
	m.Write(b)
	return floodmark.Digest(m.Sum(b[:0]))
}

// What a person can enter of a value.
const (
	PickWhole = "whole"
	PickTail  = "end"
)

// Place is the part of a value that a person reads: the host of a URL, and all that is shown of any
// other value.
func Place(shown string) string {
	if u, err := url.Parse(shown); err == nil && u.Hostname() != "" {
		return strings.ToLower(u.Hostname())
	}
	return strings.TrimSpace(strings.TrimSuffix(shown, "…"))
}

// Place is what has to be picked, as the question shows it. It is for drawing a card. Do not use it
// to fill in a person's answer: that would skip the question.
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

// Parts are what a person must enter of a value: its [Place], and for a URL with more than a host
// also its end, because that part can say anything.
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

// lastOf is how a value ends.
func lastOf(value string) string {
	r := []rune(strings.TrimSpace(value))
	return strings.TrimSpace(string(r[max(0, len(r)-PickEnd):]))
}

// Tail is the end of a value that a person types: the part after the @ of a mail address, the
// registered name of a host as far as it is known, and otherwise the last [PickEnd] characters.
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

// TailWords say what a person must enter for [Tail]. The argument is named by its path if the
// catalog describes it: a foreign name is not shown as our own words.
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

// Picks reports whether what a person entered proves the value of a shown call. A call without a
// pick accepts anything.
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

// SameDigest compares two digests in constant time. Codes and picks are compared only by it, never
// as typed.
func SameDigest(a, b floodmark.Digest) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// SameWord compares two words, one of them a code, as [SameDigest] does.
func SameWord(a, b string) bool { return SameDigest(floodmark.DigestOf(a), floodmark.DigestOf(b)) }
