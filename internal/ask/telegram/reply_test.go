package telegram_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
)

func (d *desk) said(t *testing.T, want string) {
	t.Helper()
	d.until(t, want, func() bool {
		return slices.ContainsFunc(d.server.Messages(), func(m bottest.Message) bool { return m.Text == want })
	})
}

// If a question offers no choices, a person types the place as a reply.
func TestATypedPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{who: telegram.Audience{Chat: group, Users: []int64{anna}}})
		q := d.ticket("t-1")
		q.Call.Pick = &approval.Pick{Argument: "command", Words: "type what stands behind the @"}
		d.ask(t, q)
		card := d.card(t)
		if len(card.Labels) != 1 || !strings.Contains(card.Text, "To allow it, reply: type what stands behind the @.") {
			t.Fatalf("buttons %q below %s", card.Labels, card.Text)
		}
		d.server.Reply(mallory, group, card.ID, "right.example")
		if got := <-d.incidents; !strings.Contains(got, "telegram-stranger: user 666") {
			t.Errorf("incident %q", got)
		}
		d.server.Reply(anna, anna, card.ID, "right.example")           // another chat
		d.server.Reply(anna, group, card.ID+1000, "right.example")     // another message
		d.server.Reply(anna, group, card.ID, " ")                      // nothing
		d.server.Reply(anna, group, card.ID, strings.Repeat("x", 513)) // too much
		d.said(t, "This question is answered by its buttons.")
		d.until(t, "all to be dealt with", func() bool { return len(d.server.Pending()) == 0 })
		if list := d.answered(); len(list) != 0 {
			t.Errorf("answered %+v", list)
		}
		d.server.Reply(anna, group, card.ID, "wrong.example")
		d.said(t, "That is not where it goes.")
		d.server.Reply(anna, group, card.ID, " right.example ")
		d.said(t, "Approved.")
		got := d.answered()[1]
		if got.Picked != "right.example" || got.Verb != approval.Approve || got.Offer != 1 || got.Calls != 1 || got.Ticket != "t-1" || got.By != "telegram:4711" || got.Code != "" {
			t.Errorf("answered %+v", got)
		}
		d.until(t, "the card to say so", func() bool { return strings.HasPrefix(d.server.Messages()[0].Text, "Allowed by user 4711") })
		d.server.Reply(anna, group, card.ID, "right.example")
		d.until(t, "it to be dealt with", func() bool { return len(d.server.Pending()) == 0 })
		if n := len(d.answered()); n != 2 {
			t.Errorf("answered %d times", n)
		}
	})
}

// A reply to a card with buttons is not an answer.
func TestAReplyIsNoYes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*approval.Ticket){
			"an ordinary card": func(*approval.Ticket) {},
			"one to choose on": func(q *approval.Ticket) {
				q.Call.Pick = &approval.Pick{Argument: "command", Words: "pick", Among: []string{"right.example", "b", "c"}}
			},
			"one not shown whole":    func(q *approval.Ticket) { q.Calls, q.Call.Pick = 2, &approval.Pick{Words: "type"} },
			"one that says no words": func(q *approval.Ticket) { q.Call.Pick = &approval.Pick{} },
		} {
			d := newDesk(t, setup{})
			q := d.ticket("t-1")
			change(&q)
			d.ask(t, q)
			d.server.Reply(anna, anna, d.card(t).ID, "right.example")
			d.said(t, "This question is answered by its buttons.")
			if list := d.answered(); len(list) != 0 {
				t.Errorf("%s: answered %+v", name, list)
			}
			d.stop()
		}
	})
}

// A reply may come before Telegram has confirmed the card. An owner's reply waits for it and a
// stranger's does not, and neither says that another program reads the bot's updates.
func TestAReplyToACardOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, setup{})
		d.server.Break(func(method string, n int) *bottest.Fault {
			if method != "sendMessage" || n > 1 {
				return nil
			}
			return &bottest.Fault{After: true, Delay: 300 * time.Millisecond, Status: 200, Body: fmt.Sprintf(`{"ok":true,"result":{"message_id":1001,"chat":{"id":%d}}}`, anna)}
		})
		q := d.ticket("t-1")
		q.Call.Pick = &approval.Pick{Argument: "command", Words: "type what stands behind the @"}
		asked := make(chan error, 1)
		go func() { asked <- d.channel.Ask(t.Context(), q) }()
		d.until(t, "the card", func() bool { return len(d.server.Messages()) == 1 })
		card := d.card(t)
		d.server.Reply(mallory, anna, card.ID, "right.example")
		d.server.Reply(anna, anna, card.ID, "right.example")
		d.until(t, "them to be heard", func() bool { return d.server.Calls("getUpdates") > 1 })
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
		d.skip(2 * time.Second)
		d.said(t, "Approved.")
		if got := d.answered(); len(got) != 1 || got[0].Picked != "right.example" || got[0].By != "telegram:4711" {
			t.Errorf("answered %+v", got)
		}
		if list := d.bot.Problems(); len(list) != 0 {
			t.Errorf("problems %q", list)
		}
	})
}

// After a restart a reply waits until its question is asked again.
func TestAReplyToACardOfAFormerLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "memo")
		d := newDesk(t, setup{file: file, young: true})
		q := d.ticket("t-1")
		q.Call.Pick = &approval.Pick{Argument: "command", Words: "type what stands behind the @"}
		d.ask(t, q)
		card := d.card(t)
		d.stop()
		next := newDesk(t, setup{server: d.server, file: file, young: true})
		heard := next.server.Calls("getUpdates")
		next.server.Reply(anna, anna, card.ID, "right.example")
		next.skip(2 * time.Second)
		next.until(t, "it to be heard", func() bool { return next.server.Calls("getUpdates") > heard+1 })
		q.Again = true
		next.ask(t, q)
		next.skip(2 * time.Second)
		next.said(t, "Approved.")
		if n := len(next.server.Messages()); n != 2 {
			t.Errorf("%d messages: %s", n, texts(next.server))
		}
	})
}
