package telegram

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// The data of a button. A modified app can send any bytes as a button's data, so the data is
// authenticated. Its last part is a MAC over everything that the button stands for, including what
// does not fit into the data. The buttons of an earlier version of a card or of another daemon do
// not verify.
//
//	f1 TAG KIND TICKET . MAC
//	 2   4    1   ≤38  1  16   = at most 62 of 64 bytes
//
// The tag names the daemon that sent the card. It stays the same over restarts.

const (
	dataVersion    = "f1"
	tagBytes       = 4
	macBytes       = 16 // 96 bits, written in base64
	maxTicketBytes = 38 // "t-" and a UUID
	maxDataBytes   = 64 // Telegram's limit
)

// The kinds of buttons: of a question of the Channel, and of a Gate.
const (
	kindQuestion = "q"
	kindGate     = "g"
)

// A choice is one possible answer of a card: the label of its button, and the command it stands
// for.
type choice struct {
	label string
	// spelled is the full answer if it is too long for the label. The card's text shows it.
	spelled string
	cmd     approval.Command
	// bound is everything that must still be the same when the button is pressed.
	bound []string
}

// seal encodes a button's data.
func seal(key []byte, tag, kind, ticket string, bound []string) string {
	return dataVersion + tag + kind + ticket + "." + prove(key, tag, kind, ticket, bound)
}

func prove(key []byte, tag, kind, ticket string, bound []string) string {
	m := hmac.New(sha256.New, key)
	for _, part := range append([]string{"telegram button", tag, kind, ticket}, bound...) {
		m.Write(append([]byte(part), 0))
	}
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))[:macBytes]
}

// A sealed is a button's data, not yet verified.
type sealed struct{ tag, kind, ticket, mac string }

// open splits a button's data. It does not verify the MAC.
func open(data string) (sealed, bool) {
	rest, ok := strings.CutPrefix(data, dataVersion)
	if !ok || len(data) > maxDataBytes || len(rest) < tagBytes+1+1+1+macBytes {
		return sealed{}, false
	}
	s := sealed{tag: rest[:tagBytes], kind: rest[tagBytes : tagBytes+1], mac: rest[len(rest)-macBytes:]}
	ticket, ok := strings.CutSuffix(rest[tagBytes+1:len(rest)-macBytes], ".")
	s.ticket = ticket
	return s, ok && ticket != "" && len(ticket) <= maxTicketBytes && (s.kind == kindQuestion || s.kind == kindGate)
}

// stands returns the choice whose MAC a button's data has.
func (s sealed) stands(key []byte, choices []choice) (choice, bool) {
	for _, c := range choices {
		if hmac.Equal([]byte(prove(key, s.tag, s.kind, s.ticket, c.bound)), []byte(s.mac)) {
			return c, true
		}
	}
	return choice{}, false
}

// fits reports whether a ticket's name fits into a button.
func fits(t floodmark.TicketID) bool {
	return t != "" && len(t) <= maxTicketBytes && !strings.ContainsRune(string(t), 0)
}
