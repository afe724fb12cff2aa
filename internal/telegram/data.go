package telegram

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// What a button carries. A modified app can send any bytes as a button's data, so they are
// authenticated: the last part is a MAC over everything the button stands for, including what does
// not fit into it. A button of an earlier card, an earlier order of answers or another daemon does
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
	maxTicketBytes = 38 // «t-» and a UUID
	maxDataBytes   = 64 // Telegram's own
)

// What a button is for.
const (
	kindQuestion = "q"
	kindGate     = "g"
)

// A choice is one answer of a card: its button's label, and what it stands for.
type choice struct {
	label string
	// spelled is in the text because a button would cut it.
	spelled string
	cmd     approval.Command
	// bound is everything that must be unchanged when it is pressed.
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

// open splits a button's data. It verifies nothing.
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

// stands finds, by the MAC, the choice of a card that a button stands for.
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
