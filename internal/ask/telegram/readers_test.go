package telegram_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
)

var (
	readTickets = flag.String("tickets", "", "questions, as lab/protection's TestTickets writes them")
	readCards   = flag.String("cards", "", "where to write the cards for readers; what is right goes to the same name with .key")
)

// TestCardsForReaders prints cards as they are sent, one after another, for test readers who say
// what they would press.
func TestCardsForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if *readTickets == "" || *readCards == "" {
			t.Skip("without -tickets and -cards nobody reads")
		}
		text, err := os.ReadFile(*readTickets)
		if err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Attack bool
			Ticket approval.Ticket
		}
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, setup{})
		var cards, key strings.Builder
		for i, q := range list {
			q.Ticket.ID, q.Ticket.Session, q.Ticket.Expires = floodmark.TicketID(fmt.Sprint("t-", i)), "s", d.now().Add(2*time.Minute)
			q.Ticket.Call.Action.Tool.Agent, q.Ticket.Call.Action.Tool.Server = "Your assistant", ""
			d.ask(t, q.Ticket)
			m := d.server.Messages()[len(d.server.Messages())-1]
			// What the recordings call their services is no name a person has.
			shown := regexp.MustCompile(`agentdojo-\w+/`).ReplaceAllString(framed(m), "")
			fmt.Fprintf(&cards, "===== card %d =====\n%s\n\n[%s]\n\n", i+1, shown, strings.Join(m.Labels, "]  ["))
			right := "honest"
			if q.Attack {
				right = "attack"
			}
			fmt.Fprintf(&key, "%d %s %s\n", i+1, right, q.Ticket.Call.Place())
		}
		for name, b := range map[string]string{*readCards: cards.String(), *readCards + ".key": key.String()} {
			if err := os.WriteFile(name, []byte(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// framed is a message as plain text, with framed parts between backquotes.
func framed(m bottest.Message) string {
	var b strings.Builder
	in := ""
	for _, g := range glyphs(m) {
		if (g.kind == "code") != (in == "code") {
			b.WriteByte('`')
		}
		in = g.kind
		b.WriteRune(g.r)
	}
	if in == "code" {
		b.WriteByte('`')
	}
	return b.String()
}
