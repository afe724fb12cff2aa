package telegram

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Answer carries out an owner's command; [monitor.Monitor.Answer] is one.
type Answer func(context.Context, journal.Session, approval.Command) (monitor.Answered, error)

// A Channel carries questions to people in Telegram and their answers back.
type Channel struct {
	bot    *Bot
	who    Audience
	tenant string
	answer Answer

	mu    sync.Mutex // guards what is below, and the cards
	cards map[floodmark.TicketID]*card
	ended []floodmark.TicketID // the last that ended, in case an answer comes before its question
}

var (
	_ approval.Approver = (*Channel)(nil)
	_ approval.Closer   = (*Channel)(nil)
)

// A card is one question as it is shown.
type card struct {
	ticket  approval.Ticket
	calls   []approval.Question
	choices []choice
	version int   // grows with each call that is added
	sent    int   // the last version whose sending has ended
	message int64 // shows the newest version; 0 until one was sent
	over    bool
	ending  Text // what it says once it is over
	// former says that an earlier run sent the message, so that its buttons' data is known but not
	// its text.
	former bool
	asked  bool // in this run
}

// maxCards bounds the open questions, keptEnded the closed ones kept for a while.
const (
	maxCards  = 4096
	keptEnded = 1024
)

// Channel makes the bot ask a tenant's questions. A bot has one channel.
func (b *Bot) Channel(who Audience, tenant string, answer Answer) (*Channel, error) {
	if err := who.Check(); err != nil {
		return nil, err
	}
	ch := &Channel{bot: b, who: who, tenant: tenant, answer: answer, cards: map[floodmark.TicketID]*card{}}
	ch.recall()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.channel = ch
	return ch, nil
}

// recall restores the cards that an earlier run left on the phone.
func (ch *Channel) recall() {
	for _, n := range ch.bot.memo.all() {
		if n.Kind != kindQuestion || n.Chat != ch.who.Chat || n.Tenant != ch.tenant || !ch.bot.opts.Now().Before(n.Expires) || !fits(floodmark.TicketID(n.Ticket)) {
			continue
		}
		t := approval.Ticket{ID: floodmark.TicketID(n.Ticket), Tenant: n.Tenant, Session: n.Session, Calls: n.Calls, Seen: n.Seen, Expires: n.Expires}
		ch.cards[t.ID] = &card{ticket: t, choices: restored(n), message: n.Message, former: true}
	}
}

// Ask implements [approval.Approver]. It returns when the card is sent, or once it is clear that it
// cannot be; while Telegram is only slow it retries until the question expires.
func (ch *Channel) Ask(ctx context.Context, t approval.Ticket) error {
	if t.Tenant != ch.tenant {
		return nil
	}
	if !fits(t.ID) {
		return errors.New("telegram: the question's name does not fit into a button")
	}
	c, version, err := ch.take(t)
	if err != nil || version == 0 {
		return err
	}
	sent := make(chan error, 1)
	err = ch.bot.sender.add(&errand{
		urgency: newCard, by: t.Expires, until: t.Expires,
		moot: func() bool { return ch.stale(c, version) },
		do:   func(ctx context.Context) error { return ch.send(ctx, c, version) },
		done: func(err error) { ch.arrived(c, version); sent <- err },
	})
	if err != nil {
		ch.arrived(c, version)
		ch.bot.note("ask", err)
		return err
	}
	select {
	case err = <-sent:
		ch.bot.note("ask", err)
		return err
	case <-ctx.Done():
		return errors.New("telegram: the question is not sent yet; it is tried until it expires")
	}
}

// take records a question, or one more call of one, and returns the version to send; zero if
// nothing has changed.
func (ch *Channel) take(t approval.Ticket) (*card, int, error) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	c := ch.cards[t.ID]
	if c == nil && slices.Contains(ch.ended, t.ID) {
		return nil, 0, nil
	}
	if c == nil {
		if len(ch.cards) >= maxCards {
			return nil, 0, fmt.Errorf("telegram: more than %d questions are open", maxCards)
		}
		c = &card{}
		ch.cards[t.ID] = c
	}
	same := func(q approval.Question) bool {
		return q.Action.Tool == t.Call.Action.Tool && q.Action.ArgsDigest == t.Call.Action.ArgsDigest
	}
	c.asked = true
	t.Code = "" // not for this channel
	if i := slices.IndexFunc(c.calls, same); i >= 0 {
		c.calls[i] = t.Call
	} else {
		c.calls = append(c.calls, t.Call)
	}
	there := c.former && t.Again && c.ticket.Session == t.Session && c.ticket.Calls == t.Calls && c.ticket.Seen == t.Seen
	c.ticket = t
	if there {
		return c, 0, nil // already on the phone
	}
	c.former, c.choices = false, choicesOf(t, c.calls)
	if t.Again && len(c.calls) < t.Calls {
		return c, 0, nil // the others follow
	}
	c.version++
	return c, c.version, nil
}

// arrived records that the sending of a card has ended, with or without an error.
func (ch *Channel) arrived(c *card, version int) {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	c.sent = max(c.sent, version)
}

// stale reports that a card need not be sent any more.
func (ch *Channel) stale(c *card, version int) bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return c.over || c.version != version || !ch.bot.opts.Now().Before(c.ticket.Expires)
}

// send sends a card, and makes an older one point to it.
func (ch *Channel) send(ctx context.Context, c *card, version int) error {
	ch.mu.Lock()
	t := c.ticket
	text := questionCard(approval.Head(c.calls), c.calls, c.choices)
	text.say("\n\n")
	if len(c.choices) == 1 {
		text.say(howTo(t, c.calls) + "\n")
	}
	text.say("No answer within " + until(t.Expires.Sub(ch.bot.opts.Now())) + " means no.")
	rows := keyboardOf(ch.bot.key, ch.bot.memo.tag, kindQuestion, string(t.ID), c.choices)
	var bound [][]string
	for _, one := range c.choices {
		bound = append(bound, one.bound)
	}
	ch.mu.Unlock()
	id, err := ch.bot.client.Send(ctx, ch.who.Chat, text, rows)
	if err != nil {
		return err
	}
	ch.mu.Lock()
	older, over, current, ended := c.message, c.over, c.version == version, c.ending
	if current {
		c.message = id
	}
	ch.mu.Unlock()
	switch {
	case over:
		// It ended while this was under way, perhaps by a quick answer.
		ch.bot.edit(ch.who.Chat, id, ended)
		return nil
	case !current:
		ch.bot.edit(ch.who.Chat, id, closedCard("This question has changed", "Answer the newer card."))
		return nil
	case older != 0:
		ch.bot.edit(ch.who.Chat, older, closedCard("This question has grown", "Answer the newer card."))
	}
	// Without the note it is at worst asked twice after a restart.
	_ = ch.bot.memo.note(noted{
		Kind: kindQuestion, Ticket: string(t.ID), Session: t.Session, Tenant: t.Tenant,
		Chat: ch.who.Chat, Message: id, Calls: t.Calls, Seen: t.Seen, Expires: t.Expires, Bound: bound,
	})
	ch.mu.Lock()
	over = c.over
	ch.mu.Unlock()
	if over { // it ended before the note was written
		ch.bot.memo.end(kindQuestion, string(t.ID))
	}
	return nil
}

// Closed implements [approval.Closer].
func (ch *Channel) Closed(_ context.Context, s floodmark.SessionID, t floodmark.TicketID, o approval.Outcome) error {
	ch.mu.Lock()
	c := ch.cards[t]
	if c != nil && c.ticket.Session != s {
		ch.mu.Unlock()
		return nil
	}
	ch.remember(t)
	ch.mu.Unlock()
	if c == nil {
		if n, ok := ch.bot.memo.card(kindQuestion, string(t)); ok && n.Session == s {
			ch.bot.memo.end(kindQuestion, string(t))
			ch.bot.edit(n.Chat, n.Message, closedCard(endingWords(o), ""))
		}
		return nil
	}
	ch.end(c, o)
	return nil
}

// remember records that a question ended. The lock is held.
func (ch *Channel) remember(t floodmark.TicketID) {
	if ch.ended = append(ch.ended, t); len(ch.ended) > keptEnded {
		ch.ended = slices.Delete(ch.ended, 0, len(ch.ended)-keptEnded)
	}
}

// end shows on a card how its question ended, once.
func (ch *Channel) end(c *card, o approval.Outcome) {
	ch.mu.Lock()
	if c.over {
		ch.mu.Unlock()
		return
	}
	c.over = true
	delete(ch.cards, c.ticket.ID)
	ch.remember(c.ticket.ID)
	c.ending = questionCard(ending(o), c.calls, nil)
	if c.former && o.Expired {
		c.ending = overCard() // it may have been answered while the monitor was down
	}
	message, text := c.message, c.ending // a card under way is edited on arrival
	ch.mu.Unlock()
	ch.bot.memo.end(kindQuestion, string(c.ticket.ID))
	ch.bot.edit(ch.who.Chat, message, text)
}

// expire ends the expired cards.
func (ch *Channel) expire() {
	now := ch.bot.opts.Now()
	ch.mu.Lock()
	var list []*card
	for _, c := range ch.cards {
		if !now.Before(c.ticket.Expires) {
			list = append(list, c)
		}
	}
	ch.mu.Unlock()
	for _, c := range list {
		ch.end(c, approval.Outcome{Verdict: floodmark.Confirm, Expired: true, At: now})
	}
}

func (ch *Channel) audience() Audience { return ch.who }

// has reports whether a question is open, or ended in this run: then its card says how. A question
// of an earlier run that was not asked again was answered when that run ended; if asked later, it
// gets a new card.
func (ch *Channel) has(ticket string) bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	c := ch.cards[floodmark.TicketID(ticket)]
	if c != nil && !c.asked {
		delete(ch.cards, floodmark.TicketID(ticket))
		return false
	}
	return c != nil || slices.Contains(ch.ended, floodmark.TicketID(ticket))
}

// answerTime bounds the handling of one answer.
const answerTime = 15 * time.Second

// press handles a press by a permitted user. It returns false if the question may be asked again
// shortly, after a restart.
func (ch *Channel) press(ctx context.Context, p Press, s sealed) bool {
	ch.mu.Lock()
	c := ch.cards[floodmark.TicketID(s.ticket)]
	var list []choice
	var session floodmark.SessionID
	if c != nil {
		list, session = c.choices, c.ticket.Session
	}
	ch.mu.Unlock()
	if c == nil {
		if ch.bot.young() {
			return false
		}
		ch.bot.tell(ctx, p, "This question is over: it was answered already, or its time ran out.", true)
		if err := ch.bot.client.Strip(ctx, p.Message.Chat.ID, p.Message.ID); err != nil {
			return true // the buttons stay, and do nothing
		}
		return true
	}
	chosen, ok := s.stands(ch.bot.key, list)
	if !ok {
		ch.bot.forged(ctx, p)
		return true
	}
	notice, err := ch.give(ctx, c, session, chosen.cmd, p.From.ID)
	if err != nil {
		ch.bot.tell(ctx, p, "Your answer could not be recorded, so it does not count. Touch the button again.", true)
		return true
	}
	ch.bot.tell(ctx, p, notice, false)
	return true
}

// give passes an answer to the monitor, and shows the result on the card.
func (ch *Channel) give(ctx context.Context, c *card, s floodmark.SessionID, cmd approval.Command, user int64) (string, error) {
	cmd.By = byPrefix + strconv.FormatInt(user, 10)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	did, err := ch.answer(bounded, journal.Session{Tenant: ch.tenant, ID: s}, cmd)
	if err != nil {
		return "", err
	}
	for _, f := range did.Facts {
		if a, is := f.(floodmark.TicketAnswered); is && a.Ticket == cmd.Ticket {
			ch.end(c, approval.Outcome{Verdict: a.Verdict, By: a.By, Channel: a.Channel, At: ch.bot.opts.Now()})
		}
	}
	return did.Notice, nil
}
