package telegram

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
)

// Some questions ask where a call goes and offer no choices. Then the person types the answer as a
// reply to the card. This is the only text of people that is read. It is only passed to the monitor
// as a pick; the monitor verifies it, and counts wrong ones.

// maxTypedBytes bounds a typed answer.
const maxTypedBytes = 512

// typed returns the command for a typed answer. It returns false if the question does not take one.
func typed(t approval.Ticket, calls []approval.Question) (choice, bool) {
	if len(calls) != 1 || max(t.Calls, 1) != 1 || hides(calls[0], false) {
		return choice{}, false
	}
	p := calls[0].Pick
	if p == nil || len(p.Among) > 0 || p.Words == "" {
		return choice{}, false
	}
	return choice{cmd: approval.Command{
		Verb: approval.Approve, Tool: approval.All, Ticket: t.ID, Calls: 1, Seen: t.Seen, Offer: firstOffer(calls[0]), Channel: "telegram",
	}}, true
}

// howTo says how to approve a question without a button for it.
func howTo(t approval.Ticket, calls []approval.Question) string {
	if _, ok := typed(t, calls); ok {
		return "To allow it, reply: " + cutRunes(floodmark.Visible(calls[0].Pick.Words), maxLineRunes) + "."
	}
	return "To allow it, type «floodmark approve» at your computer."
}

// A meant says what was found out about a message.
type meant int

const (
	notOurs     meant = iota
	perhapsSoon       // it may be a reply to a card of ours that is still being sent
	dealtWith
)

// hear handles a message if it is a reply to one of our cards.
func (b *Bot) hear(ctx context.Context, w Wrote) meant {
	channel, _ := b.parts()
	if channel == nil || w.To == nil || w.Chat.ID != channel.who.Chat {
		return notOurs
	}
	may := !w.From.IsBot && slices.Contains(channel.who.Users, w.From.ID)
	c, soon := channel.shownBy(w.To.ID)
	switch {
	case soon && may:
		return perhapsSoon
	case c == nil:
		return notOurs
	case !may:
		b.opts.Incident("telegram-stranger", fmt.Sprintf("user %d, who may not answer, replied to a question in Telegram", w.From.ID))
		return dealtWith
	}
	channel.reply(ctx, c, w)
	return dealtWith
}

// shownBy finds the open question that a message shows. soon is true if that will only be known
// shortly: a person may reply to a card before Telegram has returned the number of its message, or
// before a question of an earlier run is asked again.
func (ch *Channel) shownBy(message int64) (found *card, soon bool) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	for _, c := range ch.cards {
		if c.message == message && message != 0 {
			return c, !c.asked && ch.bot.young()
		}
		soon = soon || c.sent != c.version
	}
	return nil, soon
}

// reply handles the typed answer of a permitted user.
func (ch *Channel) reply(ctx context.Context, c *card, w Wrote) {
	ch.mu.Lock()
	chosen, ok := typed(c.ticket, c.calls)
	session := c.ticket.Session
	ch.mu.Unlock()
	said := strings.TrimSpace(w.Text)
	if !ok || said == "" || len(said) > maxTypedBytes {
		ch.say(ctx, "This question is answered by its buttons.")
		return
	}
	cmd := chosen.cmd
	cmd.Picked = said
	notice, err := ch.give(ctx, c, session, cmd, w.From.ID)
	if err != nil {
		notice = "Your answer could not be recorded, so it does not count. Reply again."
	}
	ch.say(ctx, notice)
}

// say sends a line to the chat. An error is only recorded as a problem.
func (ch *Channel) say(ctx context.Context, words string) {
	_, err := ch.bot.client.Send(ctx, ch.who.Chat, Plain(cutRunes(floodmark.Visible(words), maxLineRunes)), nil)
	ch.bot.note("answer a reply", err)
}
