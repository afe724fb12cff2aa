package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/setup/config"
)

func TestTelegramSettings(t *testing.T) {
	const token = "123456:an-example_not-a-token"
	t.Setenv("BOT_TOKEN", token)
	s, err := config.ParseService("service.yaml", []byte("telegram:\n  botToken: ${BOT_TOKEN}\n  chatId: \"4711\"\n  allowedUserIds: [4711, 7]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if a := s.Telegram.Audience(); a.Chat != 4711 || len(a.Users) != 2 {
		t.Errorf("asks %+v", a)
	}
	if text := fmt.Sprintf("%v %+v %#v", *s.Telegram, *s.Telegram, s.Telegram.BotToken); strings.Contains(text, token) {
		t.Errorf("the token is in %s", text)
	}
	c, err := s.Telegram.Client()
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	t.Setenv("BOT_TOKEN", "nonsense of a token")
	if _, err := s.Telegram.Client(); err == nil || !strings.HasPrefix(err.Error(), "telegram.botToken: the bot token does not look like one") || strings.Contains(err.Error(), "nonsense") {
		t.Errorf("got %v", err)
	}
	t.Setenv("BOT_TOKEN", "")
	if _, err := s.Telegram.Client(); err == nil || !strings.Contains(err.Error(), "the variable BOT_TOKEN is not set") {
		t.Errorf("got %v", err)
	}
	if s, err := config.ParseService("service.yaml", []byte("version: 1\n")); err != nil || s.Telegram != nil {
		t.Errorf("without a bot: %+v, %v", s.Telegram, err)
	}
}

func TestWrongTelegramSettings(t *testing.T) {
	for text, want := range map[string]string{
		"chatId: 1\n  allowedUserIds: [1]":                                                   "telegram.botToken: is missing",
		"botToken: 1:a\n  allowedUserIds: [1]":                                               "telegram.chatId: say where to ask",
		"botToken: 1:a\n  chatId: 1":                                                         "telegram.allowedUserIds: say who may answer",
		"botToken: 1:a\n  chatId: -5\n  allowedUserIds: []":                                  "telegram.allowedUserIds: say who may answer",
		"botToken: 1:a\n  chatId: 1\n  allowedUserIds: [2]":                                  "telegram.chatId: this person is asked but may not answer",
		"botToken: 1:a\n  chatId: \"@group\"\n  allowedUserIds: [2]":                         "chatId: \"@group\" is no chat's number",
		"botToken: 1:a\n  chatId: 0\n  allowedUserIds: [2]":                                  "is no chat's number",
		"botToken: 1:a\n  chatId: [1]\n  allowedUserIds: [2]":                                "is no chat's number",
		"botToken: 1:a\n  chatId: 1\n  allowedUserIds: [1]\n  server: http://a.example":      "telegram.server: the server must be https",
		"botToken: 1:a\n  chatId: 1\n  allowedUserIds: [1]\n  token: x":                      "there is no key token here",
		"botToken: 1:a\n  chatId: 1\n  allowedUserIds: [1" + strings.Repeat(",1", 100) + "]": "telegram.allowedUserIds: 101 people, at most 100",
	} {
		_, err := config.ParseService("service.yaml", []byte("telegram:\n  "+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := config.ParseService("service.yaml", []byte("telegram:\n  botToken: 1:a\n  chatId: 1\n  allowedUserIds: [1"+strings.Repeat(",1", 99)+"]\n")); err != nil {
		t.Errorf("100 people: %v", err)
	}
}

func TestTelegramGates(t *testing.T) {
	s, err := config.ParseService("service.yaml", []byte(`
verifier:
  telegram: {botToken: "1:a", chatId: "-5", timeout: 60, allowedUserIds: [7]}
agents:
  codex: {verifier: {telegram: {botToken: "2:b", chatId: 8, allowedUserIds: [8], server: "http://127.0.0.1:1"}}}
  pi: {verifier: {telegram: {enabled: false, botToken: "3:c"}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	names, gates := s.TelegramGates()
	if len(names) != 2 || names[0] != "telegram" || names[1] != "telegram of codex" || gates[0].Bot().ChatID != -5 || gates[1].Bot().Server != "http://127.0.0.1:1" {
		t.Errorf("gates %q", names)
	}
	// A gate that is off is not built, unless an agent's section is on and has no gate of its own.
	const off = "verifier: {enabled: false, webhook: {url: 'https://a.example'}, telegram: {botToken: '1:a', chatId: 7, allowedUserIds: [7]}}\n"
	for agents, want := range map[string]string{
		"":                    "[] []",
		"agents: {codex: {}}": "[] []",
		"agents: {codex: {verifier: {enabled: false, webhook: {url: 'https://b.example'}}}}":                                           "[] []",
		"agents: {codex: {verifier: {failMode: deny}}}":                                                                                "[webhook] [telegram]",
		"agents: {codex: {verifier: {webhook: {url: 'https://b.example'}}}, pi: {verifier: {enabled: true}}}":                          "[webhook of codex webhook] [telegram]",
		"agents: {codex: {verifier: {enabled: false}}, pi: {verifier: {telegram: {botToken: '2:b', chatId: 8, allowedUserIds: [8]}}}}": "[] [telegram of pi]",
	} {
		s, err := config.ParseService("service.yaml", []byte(off+agents))
		if err != nil {
			t.Errorf("%s: %v", agents, err)
			continue
		}
		hooks, built := s.Webhooks()
		bots, asked := s.TelegramGates()
		if got := fmt.Sprint(hooks, bots); got != want || len(built) != len(hooks) || len(asked) != len(bots) || slices.Contains(built, nil) || slices.Contains(asked, nil) {
			t.Errorf("%s: %s, want %s", agents, got, want)
		}
	}
	for text, want := range map[string]string{
		"{botToken: '1:a', chatId: 5, allowedUserIds: [7]}":                             "line 2: verifier.telegram: chatId: this person is asked but may not answer",
		"{botToken: '1:a', chatId: 7, allowedUserIds: [7], server: 'http://a.example'}": "line 2: verifier.telegram: server: the server must be https",
	} {
		if _, err := config.ParseService("s", []byte("verifier:\n  telegram: "+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
