package config

import (
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/floodmark/floodmark/internal/ask/telegram"
)

// A Telegram is the bot that asks the owner on the phone.
type Telegram struct {
	BotToken Secret `yaml:"botToken"`
	// ChatID is the chat in which questions are asked. AllowedUserIDs are the users who may answer
	// there.
	ChatID         ChatID  `yaml:"chatId"`
	AllowedUserIDs []int64 `yaml:"allowedUserIds"`
	// Server is the address of a Bot API server; empty: Telegram's.
	Server string `yaml:"server"`
	// Tenant is the tenant whose questions are asked; on a laptop always the empty one.
	Tenant string `yaml:"tenant"`
	// Group is the group that the chat belongs to, if answers are routed to groups.
	Group string `yaml:"group"`
}

// A ChatID is a chat's number, with or without quotes.
type ChatID int64

// UnmarshalYAML reads it.
func (c *ChatID) UnmarshalYAML(n *yaml.Node) error {
	id, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil || id == 0 {
		return fmt.Errorf("line %d: chatId: %.40q is no chat's number («floodmark doctor telegram --who» shows yours)", n.Line, n.Value)
	}
	*c = ChatID(id)
	return nil
}

const maxAllowedUsers = 100

// Audience returns who is asked, and where.
func (t Telegram) Audience() telegram.Audience {
	return telegram.Audience{Chat: int64(t.ChatID), Users: t.AllowedUserIDs}
}

// Client returns a client of the bot's server. No error contains the token.
func (t Telegram) Client() (*telegram.Client, error) {
	token, err := t.BotToken.Reveal()
	if err != nil {
		return nil, fmt.Errorf("telegram.botToken: %w", err)
	}
	c, err := telegram.NewClient(telegram.ClientOptions{Base: t.Server, Token: token})
	if err != nil {
		return nil, fmt.Errorf("telegram.botToken: %w", err)
	}
	return c, nil
}

func (t Telegram) check() error {
	if t.BotToken.IsZero() {
		return errors.New("botToken: is missing (write ${TELEGRAM_BOT_TOKEN} and set that variable where floodmark runs)")
	}
	if t.Server != "" {
		if err := telegram.CheckServer(t.Server); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	if len(t.AllowedUserIDs) > maxAllowedUsers {
		return fmt.Errorf("allowedUserIds: %d people, at most %d", len(t.AllowedUserIDs), maxAllowedUsers)
	}
	return t.Audience().Check()
}

// Bot returns the bot of a gate.
func (t *VerifierTelegram) Bot() Telegram {
	return Telegram{BotToken: t.BotToken, ChatID: t.ChatID, AllowedUserIDs: t.AllowedUserIDs, Server: t.Server}
}

// TelegramGates returns the gates at which a bot asks a person, each with its name. As in
// [Service.Webhooks], only the gates are returned that some call has to pass.
func (s Service) TelegramGates() (names []string, gates []*VerifierTelegram) {
	for name, v := range s.inUse(TelegramGate) {
		names, gates = append(names, name), append(gates, v.Telegram)
	}
	return names, gates
}
