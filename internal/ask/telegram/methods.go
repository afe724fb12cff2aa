package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
)

// A User is a person or a bot.
type User struct {
	ID       int64  `json:"id"`
	IsBot    bool   `json:"is_bot"`
	Name     string `json:"first_name"`
	Username string `json:"username"`
}

// A Chat is a conversation. The number of a private chat is its user's number.
type Chat struct {
	ID    int64  `json:"id"`
	Type  string `json:"type"`
	Title string `json:"title"`
}

// A Message is a sent message.
type Message struct {
	ID   int64 `json:"message_id"`
	Chat Chat  `json:"chat"`
}

// A Press is a user's press on a button. Message is nil if the bot may not see the message of the
// button.
type Press struct {
	ID      string   `json:"id"`
	From    User     `json:"from"`
	Message *Message `json:"message"`
	Data    string   `json:"data"`
}

// An Update is one event.
type Update struct {
	ID    int64  `json:"update_id"`
	Press *Press `json:"callback_query"`
	// Wrote is only used if it is a reply to a card, or during the setup of a bot.
	Wrote *Wrote `json:"message"`
}

// A Wrote is a message to the bot. To is the message that it replies to.
type Wrote struct {
	From User     `json:"from"`
	Chat Chat     `json:"chat"`
	Text string   `json:"text"`
	To   *Message `json:"reply_to_message"`
}

// An Entity marks a part of a text, counted in UTF-16 units. If a message has entities, Telegram
// does not parse its text for formatting.
type Entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// A Button is a button below a message.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

type keyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

type previews struct {
	Off bool `json:"is_disabled"`
}

type outgoing struct {
	Chat     int64     `json:"chat_id"`
	Message  int64     `json:"message_id,omitempty"`
	Text     string    `json:"text"`
	Entities []Entity  `json:"entities,omitempty"`
	Keyboard *keyboard `json:"reply_markup,omitempty"`
	Previews previews  `json:"link_preview_options"`
}

// Me returns the bot's own user.
func (c *Client) Me(ctx context.Context) (User, error) {
	var u User
	err := c.call(ctx, "getMe", struct{}{}, &u, maxAnswerBytes, c.time)
	return u, err
}

// Webhook returns the address of the bot's webhook, or "" if there is none. While a webhook is set,
// updates cannot be fetched.
func (c *Client) Webhook(ctx context.Context) (string, error) {
	var w struct {
		URL string `json:"url"`
	}
	err := c.call(ctx, "getWebhookInfo", struct{}{}, &w, maxAnswerBytes, c.time)
	return w.URL, err
}

// Chat returns a chat by its number.
func (c *Client) Chat(ctx context.Context, id int64) (Chat, error) {
	var chat Chat
	err := c.call(ctx, "getChat", map[string]int64{"chat_id": id}, &chat, maxAnswerBytes, c.time)
	return chat, err
}

// Send sends a message and returns its number. Links get no preview, because fetching it would
// reveal the question to the server of the link.
func (c *Client) Send(ctx context.Context, chat int64, t Text, rows [][]Button) (int64, error) {
	out := outgoing{Chat: chat, Text: t.String(), Entities: t.entities, Previews: previews{Off: true}}
	if len(rows) > 0 {
		out.Keyboard = &keyboard{Rows: rows}
	}
	var m Message
	err := c.call(ctx, "sendMessage", out, &m, maxAnswerBytes, c.time)
	return m.ID, err
}

// Edit replaces the text of a message and removes its buttons.
func (c *Client) Edit(ctx context.Context, chat, message int64, t Text) error {
	out := outgoing{Chat: chat, Message: message, Text: t.String(), Entities: t.entities, Previews: previews{Off: true}}
	return c.call(ctx, "editMessageText", out, nil, maxAnswerBytes, c.time)
}

// Strip removes the buttons of a message.
func (c *Client) Strip(ctx context.Context, chat, message int64) error {
	in := map[string]int64{"chat_id": chat, "message_id": message}
	return c.call(ctx, "editMessageReplyMarkup", in, nil, maxAnswerBytes, c.time)
}

// maxAlertRunes is the longest reply that Telegram shows.
const maxAlertRunes = 200

// Reply tells the user who pressed a button the result; an alert has to be closed by hand.
func (c *Client) Reply(ctx context.Context, press, text string, alert bool) error {
	in := struct {
		ID    string `json:"callback_query_id"`
		Text  string `json:"text,omitempty"`
		Alert bool   `json:"show_alert,omitempty"`
	}{press, cutRunes(floodmark.Visible(text), maxAlertRunes), alert}
	return c.call(ctx, "answerCallbackQuery", in, nil, maxAnswerBytes, c.time)
}

// maxUpdates is how many updates Telegram returns at once.
const maxUpdates = 100

// Updates returns the updates from a number on, and lets Telegram forget all earlier ones. If the
// number is zero, Telegram forgets nothing. It waits until there is an update, at most for the
// given time.
func (c *Client) Updates(ctx context.Context, from int64, wait time.Duration, kinds ...string) ([]Update, error) {
	in := struct {
		Offset  int64    `json:"offset,omitempty"`
		Limit   int      `json:"limit"`
		Timeout int      `json:"timeout"`
		Kinds   []string `json:"allowed_updates,omitempty"`
	}{from, maxUpdates, int(wait / time.Second), kinds}
	var list []json.RawMessage
	if err := c.call(ctx, "getUpdates", in, &list, maxUpdateBytes, c.time+wait); err != nil {
		return nil, err
	}
	return readUpdates(list[:min(len(list), maxUpdates)]), nil
}

// readUpdates decodes the updates. Of a malformed update it keeps only the number, so that it can
// be acknowledged and neither hides the others nor comes again for ever.
func readUpdates(list []json.RawMessage) []Update {
	out := make([]Update, 0, len(list))
	for _, one := range list {
		var u Update
		if json.Unmarshal(one, &u) != nil {
			var bare struct {
				ID int64 `json:"update_id"`
			}
			if json.Unmarshal(one, &bare) != nil {
				continue
			}
			u = Update{ID: bare.ID}
		}
		if u.ID > 0 { // an update without a number cannot be acknowledged
			out = append(out, u)
		}
	}
	slices.SortStableFunc(out, func(a, b Update) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(out, func(a, b Update) bool { return a.ID == b.ID })
}
