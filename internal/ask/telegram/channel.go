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

// Answer applies an owner's command; [monitor.Monitor.Answer] is one.
type Answer func(context.Context, journal.Session, approval.Command) (monitor.Answered, error)

// A Channel sends a tenant's questions to people in Telegram, and passes their answers to the
// monitor.
type Channel struct {
	bot    *Bot
	who    Audience
	tenant string
	answer Answer

	mu    sync.Mutex // guards what is below, and the cards
	cards map[floodmark.TicketID]*card
	ended []floodmark.TicketID // the last questions that ended; Closed can come before Ask
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
	message int64 // the message with the newest version; 0 until one was sent
	over    bool
	ending  Text // the text of the card once it is over
	// former is set if an earlier run sent the message. Then the data of its buttons is known, but
	// not its text.
	former bool
	asked  bool // whether Ask was called for it in this run
}

// maxCards bounds the open questions. keptEnded bounds the closed ones that are remembered.
const (
	maxCards  = 4096
	keptEnded = 1024
)

// Channel returns a channel by which the bot asks a tenant's questions. A bot has one channel.
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

// recall restores the cards that an earlier run has sent.
func (ch *Channel) recall() {
	for _, n := range ch.bot.memo.all() {
		if n.Kind != kindQuestion || n.Chat != ch.who.Chat || n.Tenant != ch.tenant || !ch.bot.opts.Now().Before(n.Expires) || !fits(floodmark.TicketID(n.Ticket)) {
			continue
		}
		t := approval.Ticket{ID: floodmark.TicketID(n.Ticket), Tenant: n.Tenant, Session: n.Session, Calls: n.Calls, Seen: n.Seen, Expires: n.Expires}
		ch.cards[t.ID] = &card{ticket: t, choices: restored(n), message: n.Message, former: true}
	}
}

// Ask implements [approval.Approver]. It returns when the card is sent, or when it is certain that
// it cannot be. If Telegram does not answer, it retries until the question expires.
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

// take records a question, or a further call of a question, and returns the version of the card to
// send. The version is zero if nothing needs to be sent.
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
	t.Code = "" // the code is not used by this channel
	if i := slices.IndexFunc(c.calls, same); i >= 0 {
		c.calls[i] = t.Call
	} else {
		c.calls = append(c.calls, t.Call)
	}
	there := c.former && t.Again && c.ticket.Session == t.Session && c.ticket.Calls == t.Calls && c.ticket.Seen == t.Seen
	c.ticket = t
	if there {
		return c, 0, nil // an earlier run has sent this card
	}
	c.former, c.choices = false, choicesOf(t, c.calls)
	if t.Again && len(c.calls) < t.Calls {
		return c, 0, nil // the other calls of the question follow
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

// stale reports whether a version of a card need not be sent any more.
func (ch *Channel) stale(c *card, version int) bool {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return c.over || c.version != version || !ch.bot.opts.Now().Before(c.ticket.Expires)
}

// send sends a card, and edits an older message of the question so that it refers to the new one.
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
		// The question ended while the card was being sent, perhaps by a quick answer.
		ch.bot.edit(ch.who.Chat, id, ended)
		return nil
	case !current:
		ch.bot.edit(ch.who.Chat, id, closedCard("This question has changed", "Answer the newer card."))
		return nil
	case older != 0:
		ch.bot.edit(ch.who.Chat, older, closedCard("This question has grown", "Answer the newer card."))
	}
	// If the note cannot be written, the question may be sent twice after a restart.
	_ = ch.bot.memo.note(noted{
		Kind: kindQuestion, Ticket: string(t.ID), Session: t.Session, Tenant: t.Tenant,
		Chat: ch.who.Chat, Message: id, Calls: t.Calls, Seen: t.Seen, Expires: t.Expires, Bound: bound,
	})
	ch.mu.Lock()
	over = c.over
	ch.mu.Unlock()
	if over { // the question ended before the note was written
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

// remember records that a question ended. Its caller holds the lock.
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
	message, text := c.message, c.ending // a card that is being sent is edited by send
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

// has reports whether a question is open, or ended in this run, so that its card says how. It
// forgets a question of an earlier run that was not asked again, because that was answered
// meanwhile. If it is asked later nevertheless, it gets a new card.
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
			return true // the buttons remain, without effect
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
