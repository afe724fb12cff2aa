package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options configure a bot.
type Options struct {
	Client *Client
	// Key is the secret that authenticates buttons. After a change, earlier cards cannot be
	// answered.
	Key []byte
	// File is where the bot records which message shows which question, so that it knows after a
	// restart. If it is empty, nothing is recorded.
	File string
	Now  func() time.Time
	// Incident is called for suspicious events: a press by a stranger, or a forged button. It is
	// optional.
	Incident func(kind, text string)
}

// A Bot is one Telegram bot: its messages, its updates, and its problems. A [Channel] and a [Gate]
// can share one.
type Bot struct {
	opts    Options
	client  *Client
	key     []byte
	memo    *memo
	sender  *sender
	poller  *poller
	started time.Time

	mu      sync.Mutex // guards what is below
	channel *Channel
	gates   []*Gate
	next    uint64             // counts the cards of gates, for their names
	wrong   map[string]trouble // the current problems, by the operation that failed
}

type trouble struct {
	text  string
	since time.Time
}

// Open builds a bot. It makes no calls before Run.
func Open(o Options) (*Bot, error) {
	if o.Client == nil || len(o.Key) == 0 || o.Now == nil {
		return nil, errors.New("telegram: a bot needs a client, a key and a clock")
	}
	if o.Incident == nil {
		o.Incident = func(string, string) {}
	}
	m, err := openMemo(o.File)
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	mac := hmac.New(sha256.New, o.Key)
	mac.Write([]byte("telegram buttons"))
	b := &Bot{
		opts: o, client: o.Client, key: mac.Sum(nil), memo: m, sender: newSender(o.Now),
		started: o.Now(), wrong: map[string]trouble{},
	}
	b.poller = newPoller(b)
	return b, nil
}

// Close releases what Open opened. Run must have ended.
func (b *Bot) Close() error {
	b.client.Close()
	return b.memo.close()
}

// Uses reports whether the bot uses the same account as a client: two bots with one token would
// take each other's presses.
func (b *Bot) Uses(c *Client) bool { return b.client.base == c.base && b.client.token == c.token }

// Run sends and polls until ctx ends. No Telegram error ends it: see [Bot.Problems].
func (b *Bot) Run(ctx context.Context) error {
	var work sync.WaitGroup
	work.Go(func() { b.sender.run(ctx) })
	work.Go(func() { b.poller.run(ctx) })
	work.Go(func() { b.tidy(ctx) })
	work.Wait()
	return nil
}

// tidyEvery is how often expired cards are looked for. settleIn is how long after a start questions
// of the earlier run may still be asked again.
const (
	tidyEvery = time.Second
	settleIn  = 30 * time.Second
)

// tidy marks expired cards, and cards of an earlier run that were not asked again.
func (b *Bot) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		channel, gates := b.parts()
		if channel != nil {
			channel.expire()
		}
		if !b.young() {
			b.forget(channel, gates)
		}
	}
}

// young reports whether questions of the earlier run may still be asked again.
func (b *Bot) young() bool { return b.opts.Now().Sub(b.started) < settleIn }

func (b *Bot) parts() (*Channel, []*Gate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.channel, slices.Clip(b.gates)
}

// forget ends the cards of an earlier run whose questions were not asked again.
func (b *Bot) forget(channel *Channel, gates []*Gate) {
	for _, n := range b.memo.all() {
		switch {
		case n.Kind == kindQuestion && channel != nil && channel.has(n.Ticket):
		case n.Kind == kindGate && slices.ContainsFunc(gates, func(g *Gate) bool { return g.has(n.Ticket) }):
		default:
			b.over(n)
		}
	}
}

// over marks a card of an earlier run as over, unless its outcome was shown on it meanwhile.
func (b *Bot) over(n noted) {
	if b.memo.end(n.Kind, n.Ticket) {
		b.edit(n.Chat, n.Message, overCard())
	}
}

// edit queues a change of a card.
func (b *Bot) edit(chat, message int64, t Text) {
	if message == 0 {
		return
	}
	now := b.opts.Now()
	err := b.sender.add(&errand{
		urgency: oldCard, by: now, until: now.Add(editWorthIt),
		do: func(ctx context.Context) error { return b.client.Edit(ctx, chat, message, t) },
		done: func(err error) {
			if said, ok := errors.AsType[*Error](err); ok && said.Status == 400 {
				err = nil // already edited, or deleted by a user
			}
			b.note("change a card", err)
		},
	})
	b.note("queue", err)
}

// note records an error as a problem. If err is nil, it removes the problem of that operation.
func (b *Bot) note(what string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.wrong, what)
		return
	}
	t := b.wrong[what]
	if t.since.IsZero() {
		t.since = b.opts.Now()
	}
	t.text = err.Error()
	b.wrong[what] = t
}

// Problems returns, for people, what keeps the bot from sending or receiving. It is empty if all is
// well.
func (b *Bot) Problems() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
	for _, t := range b.wrong {
		list = append(list, fmt.Sprintf("%s (since %s)", t.text, t.since.UTC().Format("15:04 UTC")))
	}
	slices.Sort(list)
	return list
}

// An Audience is the chat in which questions are asked, and the people who may answer.
type Audience struct {
	// Chat is a person's own chat with the bot, or a group.
	Chat int64
	// Users are the users who may answer. No other user may answer, in any chat.
	Users []int64
}

// Check returns an error if an audience has no chat or no users, or if the person of a private chat
// is not among them.
func (a Audience) Check() error {
	switch {
	case a.Chat == 0:
		return errors.New("chatId: say where to ask (your own number asks in your chat with the bot)")
	case len(a.Users) == 0:
		return errors.New("allowedUserIds: say who may answer; without it anybody in the chat could")
	case slices.ContainsFunc(a.Users, func(u int64) bool { return u <= 0 }):
		return errors.New("allowedUserIds: a user's number is above 0 (a group is not a user)")
	case a.Chat > 0 && !slices.Contains(a.Users, a.Chat):
		return errors.New("chatId: this person is asked but may not answer (add the number to allowedUserIds)")
	}
	return nil
}

// may reports whether a press comes from a permitted user, in the chat where the question was
// asked.
func (a Audience) may(p Press) bool {
	return !p.From.IsBot && slices.Contains(a.Users, p.From.ID) && p.Message != nil && p.Message.Chat.ID == a.Chat
}

// A part of a bot asks people, and handles the presses on its cards.
type part interface {
	audience() Audience
	has(ticket string) bool
	// press handles a press by a permitted user. It returns false if the press should be tried
	// again later, because its question may be asked again shortly.
	press(ctx context.Context, p Press, s sealed) bool
}

// heed handles a press on one of our buttons. It returns false if the press should be tried again
// later.
func (b *Bot) heed(ctx context.Context, p Press, s sealed) bool {
	one := b.asks(p, s)
	if one == nil {
		b.tell(ctx, p, "Nothing waits for this button any more.", true)
		return true
	}
	if !one.audience().may(p) {
		b.opts.Incident("telegram-stranger", fmt.Sprintf("user %d, who may not answer, touched a button in Telegram", p.From.ID))
		b.tell(ctx, p, "You are not authorised to answer this question.", true)
		return true
	}
	return one.press(ctx, p, s)
}

// asks returns the channel or gate that a press is for. Of several gates it is the one whose call
// is waiting. If that call is over, it is a gate whose audience includes the user, so that the user
// gets an answer.
func (b *Bot) asks(p Press, s sealed) part {
	channel, gates := b.parts()
	if s.kind == kindQuestion {
		if channel == nil {
			return nil
		}
		return channel
	}
	if i := slices.IndexFunc(gates, func(g *Gate) bool { return g.has(s.ticket) }); i >= 0 {
		return gates[i]
	}
	if i := slices.IndexFunc(gates, func(g *Gate) bool { return g.who.may(p) }); i >= 0 {
		return gates[i]
	}
	if len(gates) == 0 {
		return nil
	}
	return gates[0]
}

// tell shows the user who pressed a button the result. Telegram forgets a press after a while, so
// this may fail, and nothing depends on it.
func (b *Bot) tell(ctx context.Context, p Press, text string, alert bool) {
	err := b.client.Reply(ctx, p.ID, text, alert)
	if said, ok := errors.AsType[*Error](err); ok && said.Status == 400 {
		err = nil
	}
	b.note("answer a button", err)
}

// forged reports a press on a button whose data does not verify.
func (b *Bot) forged(ctx context.Context, p Press) {
	b.opts.Incident("telegram-button", fmt.Sprintf("user %d touched a button in Telegram that does not belong to its question", p.From.ID))
	b.tell(ctx, p, "This button is out of date. Use the newest card of this question.", true)
}
