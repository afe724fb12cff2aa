package approval

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/floodmark/floodmark"
)

// A Verb names what an owner's command does.
type Verb string

// The commands an owner can type.
const (
	Approve  Verb = ".approve"  // .approve <tool|all> <code> [minutes] [#offer] [always] [=place]
	Deny     Verb = ".deny"     // .deny <tool|all> <code>
	Endorse  Verb = ".endorse"  // .endorse <digest> [code]
	Withdraw Verb = ".withdraw" // .withdraw <digest>
	Status   Verb = ".status"   // .status

	// Revoke ends an approval. It cannot be typed into conversations.
	Revoke Verb = ".revoke"
)

// A Command is an owner's answer: typed, such as «.approve exec bf619df9 30», or given through an
// authenticated channel.
type Command struct {
	Verb Verb
	Tool string // a tool's name, or All
	Code string
	// Ticket replaces the code in authenticated channels.
	Ticket floodmark.TicketID
	// Calls is how many calls of the ticket the owner was shown. Zero means one.
	Calls int
	// Seen is the [Open.Seen] of what the owner was shown. If it is empty, it is not checked.
	Seen string
	For  time.Duration // zero: until the turn ends
	// Offer is the number of the chosen offer, from 1. Zero takes the narrowest.
	Offer int
	// Picked is what the person entered, if the question has a [Pick].
	Picked string
	// Always takes the offer for the whole repository.
	Always bool
	Digest string // what to endorse: a digest or its beginning
	// By and Channel say who answered, and where.
	By, Channel string
	// Typed says that the command was typed into a conversation, so that only the agent's word says
	// who typed it.
	Typed bool
}

// All approves all calls that were shown under a code, for any tool. A question in an older journal
// may contain several calls.
const All = "all"

// The limits of a command.
const (
	CodeLength      = 8              // hex characters: 4 billion codes
	MaxFor          = 24 * time.Hour // longer is a typing error
	MinDigestDigits = 8              // hex digits that name content
	MaxCommandBytes = 1024           // a longer message is not a command
)

// ErrNotCommand says that a message is not a command at all.
var ErrNotCommand = errors.New("not a command")

// ParseCommand reads an owner's message. It returns [ErrNotCommand] for ordinary text. For a
// malformed command it returns another error, which may be shown to the owner.
func ParseCommand(text string) (Command, error) {
	if len(text) > MaxCommandBytes {
		return Command{}, ErrNotCommand
	}
	f := strings.Fields(text)
	if len(f) == 0 {
		return Command{}, ErrNotCommand
	}
	switch v := Verb(f[0]); v {
	case Approve, Deny:
		return parseAnswer(v, text)
	case Endorse, Withdraw:
		return parseVouch(v, f[1:])
	case Status:
		if len(f) != 1 {
			return Command{}, fmt.Errorf("write: %s", Status)
		}
		return Command{Verb: v}, nil
	case Revoke: // cannot be typed into conversations
	}
	return Command{}, ErrNotCommand
}

// parseVouch reads which content the owner endorses or withdraws.
func parseVouch(v Verb, f []string) (Command, error) {
	coded := v == Endorse && len(f) == 2
	if len(f) != 1 && !coded || !isHex(f[0]) || len(f[0]) < MinDigestDigits || len(f[0]) > 64 {
		return Command{}, fmt.Errorf("write: %s <the first %d or more digits of the content's digest>", v, MinDigestDigits)
	}
	c := Command{Verb: v, Digest: strings.ToLower(f[0])}
	if !coded {
		return c, nil
	}
	if c.Code = strings.ToLower(f[1]); len(c.Code) != CodeLength || !isHex(c.Code) {
		return Command{}, errNoCode()
	}
	return c, nil
}

// errNoCode says what a code looks like.
func errNoCode() error { return fmt.Errorf("a code has %d hex digits, such as 0123abcd", CodeLength) }

// IsCode reports whether a word has the form of a code.
func IsCode(word string) bool { return len(word) == CodeLength && isHex(word) }

// maxCodes bounds the codes looked for in one text.
const maxCodes = 64

// Codes returns the words of a text that have the form of a code, at most maxCodes of them.
func Codes(text string) []string {
	var found []string
	word := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for w := range strings.FieldsFuncSeq(text, word) {
		if len(w) == CodeLength && isHex(w) {
			if found = append(found, strings.ToLower(w)); len(found) == maxCodes {
				break
			}
		}
	}
	return found
}

// parseAnswer reads an answer. The text after the first « =», to the end of the line, is what the
// person entered.
func parseAnswer(v Verb, text string) (Command, error) {
	usage := fmt.Errorf("write: %s <tool|all> <code> [minutes] [#offer] [always] [=place]", v)
	if v == Deny {
		usage = fmt.Errorf("write: %s <tool|all> <code>", v)
	}
	text, picked, picks := strings.Cut(text, " =")
	f := strings.Fields(text)[1:]
	if len(f) < 2 || v == Deny && (len(f) > 2 || picks) {
		return Command{}, usage
	}
	c := Command{Verb: v, Tool: f[0], Code: strings.ToLower(f[1]), Picked: strings.TrimSpace(picked)}
	if len(c.Code) != CodeLength || !isHex(c.Code) {
		return Command{}, errNoCode()
	}
	for _, w := range f[2:] {
		offer, isOffer := strings.CutPrefix(w, "#")
		switch {
		case isOffer && c.Offer == 0 && !c.Always:
			n, err := strconv.ParseUint(offer, 10, 8)
			if err != nil || n == 0 || n > MaxOffers {
				return Command{}, fmt.Errorf("behind # stands the number of an offer, from 1 to %d", MaxOffers)
			}
			c.Offer = int(n)
		case w == "always" && c.For == 0 && c.Offer == 0 && !c.Always:
			c.Always = true
		case c.Always:
			return Command{}, usage
		case !isOffer && c.For == 0:
			minutes, err := strconv.ParseUint(w, 10, 32)
			if err != nil || minutes == 0 {
				return Command{}, errors.New("minutes must be a whole number above 0")
			}
			// Bounded before it is multiplied: a huge number would turn negative.
			c.For = time.Duration(min(minutes, uint64(MaxFor/time.Minute))) * time.Minute
		default:
			return Command{}, usage
		}
	}
	return c, nil
}

func isHex(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return false
		}
	}
	return s != ""
}
