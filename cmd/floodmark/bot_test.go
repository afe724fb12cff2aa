package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/floodmark/floodmark/internal/ask/telegram/bottest"
)

type botKey struct{}

// bot plays Telegram for a script:
//
//	bot start [DIR]         BOT_URL and BOT_TOKEN name a server, and so do the settings below DIR
//	bot gate DIR            so do the settings below DIR, where it is a verifier
//	bot cards N             waits for N cards and prints the last
//	bot press USER LABEL    touches a button
//	bot told TEXT [..]      waits until a reply reads like the text, once for each dot
//	bot says TEXT           waits until a card reads like the text
//	bot wrote USER NAME     a user writes to the bot
//	bot webhook URL         another program takes the bot's updates
//	bot refuses STATUS TEXT from now on
//	bot away, bot back      the network fails, and works again
func (s *scripts) bot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: bot VERB …")
	}
	if args[0] == "start" {
		startBot(ts, args[1:])
		return
	}
	server := *ts.Value(botKey{}).(**bottest.Server)
	until := func(so func() bool) {
		if err := server.Wait(s.ctx, so); err != nil {
			ts.Fatalf("waited in vain: %+v, %+v", server.Messages(), server.Replies())
		}
	}
	switch verb, args := args[0], append(args[1:], "", ""); verb {
	case "cards":
		n, err := strconv.Atoi(args[0])
		ts.Check(err)
		until(func() bool { return len(server.Messages()) >= n })
		m := server.Messages()[n-1]
		l := ts.Value(lastKey{}).(*last)
		l.stdout.Reset()
		fmt.Fprintf(&l.stdout, "%s\n[%s]\n", m.Text, strings.Join(m.Labels, "] ["))
		fmt.Fprint(ts.Stdout(), l.stdout.String())
	case "press":
		user, err := strconv.ParseInt(args[0], 10, 64)
		ts.Check(err)
		_, err = server.Press(user, args[1])
		ts.Check(err)
	case "told":
		until(func() bool {
			others := slices.DeleteFunc(server.Replies(), func(r bottest.Reply) bool { return !strings.Contains(r.Text, args[0]) })
			return len(others) >= max(1, len(args[1]))
		})
	case "says":
		until(func() bool {
			return slices.ContainsFunc(server.Messages(), func(m bottest.Message) bool { return strings.Contains(m.Text, args[0]) })
		})
	case "wrote":
		server.Push(1, fmt.Sprintf(`{"update_id":1,"message":{"from":{"id":%s,"first_name":%q},"chat":{"id":%s,"type":"private"}}}`, args[0], args[1], args[0]))
	case "webhook":
		server.SetWebhook(args[0])
	case "refuses":
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		server.Break(func(string, int) *bottest.Fault {
			return &bottest.Fault{Status: status, Body: fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, status, args[1])}
		})
	case "gate":
		writeBot(ts, args[0], "verifier:\n  telegram: {botToken: '${BOT_TOKEN}', chatId: 4711, allowedUserIds: [4711], server: '%s'}\n", server.URL)
	case "away":
		server.Break(func(string, int) *bottest.Fault { return &bottest.Fault{} })
	case "back":
		server.Break(nil)
	default:
		ts.Fatalf("bot %s?", verb)
	}
}

func startBot(ts *testscript.TestScript, dirs []string) {
	server := bottest.New()
	ts.Defer(server.Close)
	*ts.Value(botKey{}).(**bottest.Server) = server
	ts.Setenv("BOT_URL", server.URL)
	ts.Setenv("BOT_TOKEN", bottest.Token)
	for _, dir := range dirs {
		writeBot(ts, dir, "telegram:\n  botToken: ${BOT_TOKEN}\n  chatId: 4711\n  allowedUserIds: [4711]\n  server: %s\n", server.URL)
	}
}

// writeBot writes settings with the address of a bot's server in them.
func writeBot(ts *testscript.TestScript, dir, text, url string) {
	file := filepath.Join(ts.MkAbs(dir), "config", "service.yaml")
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, fmt.Appendf(nil, text, url), 0o600))
}
