package setup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

type telegramFlags struct {
	cli.Place
	send, who        bool
	variable, server string
}

func newDoctorTelegram(c *cli.Console) *cobra.Command {
	var f telegramFlags
	cmd := &cobra.Command{
		Use:   "telegram",
		Short: "Find out whether you can be asked in Telegram",
		Long: `Look at the bots that service.yaml names under «telegram», where questions are
asked, and under «verifier», where calls wait: whether the token is accepted,
whether something else takes what it hears, whether it may write to the chat, and
what a running monitor says about it. Nothing is sent, unless --send asks for a
message that needs no answer.

--who is for setting a bot up, before service.yaml names it: it waits half a minute
for a message to the bot and shows the sender's number, for chatId and
allowedUserIds. The token is read from a variable, so that it stands in no history.`,
		Example: `  floodmark doctor telegram
  floodmark doctor telegram --send
  TELEGRAM_BOT_TOKEN=… floodmark doctor telegram --who`,
		Annotations: cli.Exits("no problem was found", "a problem was found"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return doctorTelegram(cmd.Context(), c, f, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().BoolVar(&f.send, "send", false, "send a message to the chat")
	cmd.Flags().BoolVar(&f.who, "who", false, "show who writes to the bot")
	cmd.Flags().StringVar(&f.variable, "token-from", "TELEGRAM_BOT_TOKEN", "with --who: the `VARIABLE` that holds the token")
	cmd.Flags().StringVar(&f.server, "server", "", "with --who: a Bot API server of your own at this `URL`")
	return cmd
}

// whoTime is how long whoWrites waits for a message.
const whoTime = 25 * time.Second

func doctorTelegram(ctx context.Context, c *cli.Console, f telegramFlags, form string) error {
	if f.who {
		return tell(c, whoWrites(ctx, c, f), form)
	}
	return lookAtService(c, f.Place, form, func(paths config.Paths, s config.Service) []cli.Finding {
		var list []cli.Finding
		if s.Telegram != nil {
			list = checkBot(ctx, *s.Telegram, f.send)
		}
		names, gates := s.TelegramGates()
		for i, set := range gates {
			for _, one := range checkBot(ctx, set.Bot(), f.send) {
				one.Check += " (verifier " + names[i] + ")"
				list = append(list, one)
			}
		}
		if len(list) == 0 {
			return []cli.Finding{unset(paths, "no bot under «telegram»")}
		}
		return append(list, checkListening(ctx, c, f.Place)...)
	})
}

// checkBot checks a bot without changing anything.
func checkBot(ctx context.Context, t config.Telegram, send bool) []cli.Finding {
	bot, err := t.Client()
	if err != nil {
		return []cli.Finding{cli.Wrong("bot token", "set it where this command and the monitor run", "%s", err)}
	}
	defer bot.Close()
	me, err := bot.Me(ctx)
	if err != nil {
		return []cli.Finding{cli.Wrong("bot", "check the token and the way to the network", "%s", err)}
	}
	list := []cli.Finding{cli.OK("bot", "it is @%s", me.Username)}
	if strings.HasPrefix(t.Server, "http:") {
		list = append(list, cli.Note("server", "use https where agents run as your own user", "a program that listens at %s reads the token and can answer for you", hostOf(t.Server)))
	}
	switch hook, err := bot.Webhook(ctx); {
	case err != nil:
		list = append(list, cli.Wrong("bot hears", "try again", "%s", err))
	case hook != "":
		list = append(list, cli.Wrong("bot hears", "call deleteWebhook for this bot, or make a bot of its own with @BotFather", "what it hears is delivered to %s, so nothing arrives here", hostOf(hook)))
	default:
		list = append(list, cli.OK("bot hears", "nothing else takes what it hears"))
	}
	list = append(list, checkChat(ctx, bot, t))
	if send && list[len(list)-1].State != cli.Problem {
		list = append(list, sendNote(ctx, bot, int64(t.ChatID)))
	}
	return list
}

// checkChat checks the chat in which the bot would ask.
func checkChat(ctx context.Context, bot *telegram.Client, t config.Telegram) cli.Finding {
	chat, err := bot.Chat(ctx, int64(t.ChatID))
	said, isSaid := errors.AsType[*telegram.Error](err)
	switch {
	case isSaid && (said.Status == http.StatusBadRequest || said.Status == http.StatusForbidden):
		return cli.Wrong("chat", "write /start to the bot in Telegram, or add it to the group; then check chatId", "%s", err)
	case err != nil:
		return cli.Wrong("chat", "try again", "%s", err)
	case chat.Type == "private":
		return cli.OK("chat", "you are asked in your own chat with the bot; %s may answer", cli.Count(len(t.AllowedUserIDs), "person", "people"))
	case chat.Type == "channel":
		return cli.Wrong("chat", "use your own chat with the bot, or a group", "it is a channel: every follower reads every question")
	}
	return cli.Note("chat", "", "it is a group: all members read what your agents ask; %s may answer", cli.Count(len(t.AllowedUserIDs), "person", "people"))
}

func sendNote(ctx context.Context, bot *telegram.Client, chat int64) cli.Finding {
	if _, err := bot.Send(ctx, chat, telegram.Plain("Floodmark can ask you here. This message needs no answer."), nil); err != nil {
		return cli.Wrong("message", "write /start to the bot in Telegram, or add it to the group", "%s", err)
	}
	return cli.OK("message", "sent: look at your phone")
}

// checkListening asks a running monitor for its warnings about the bot.
func checkListening(ctx context.Context, c *cli.Console, p cli.Place) []cli.Finding {
	d, err := c.Desk(p)
	if err != nil {
		return nil
	}
	defer d.End()
	ctx, cancel := context.WithTimeout(ctx, cli.AnswerTime)
	defer cancel()
	s, err := d.Status(ctx, &wire.StatusRequest{})
	if err != nil {
		return []cli.Finding{cli.Note("monitor", "start it: no question is asked while it does not run", "no monitor answers here")}
	}
	var list []cli.Finding
	fails := false
	for _, line := range s.GetWarnings() {
		switch {
		case strings.HasPrefix(line, "telegram-"): // an incident
			list = append(list, cli.Note("monitor", "", "%s", line))
		case strings.HasPrefix(line, "telegram"):
			list, fails = append(list, cli.Wrong("monitor", "what to do stands in the line, or look at the way to the network", "%s", line)), true
		}
	}
	if !fails {
		list = append(list, cli.OK("monitor", "it runs and says nothing is wrong with its bot"))
	}
	return list
}

// whoWrites shows the user numbers of people who write to a bot. It acknowledges no message, so
// that the bot's other readers miss none.
func whoWrites(ctx context.Context, c *cli.Console, f telegramFlags) []cli.Finding {
	bot, err := telegram.NewClient(telegram.ClientOptions{Base: f.server, Token: c.Getenv(f.variable)})
	if err != nil {
		return []cli.Finding{cli.Wrong("bot token", "put it into the variable "+f.variable, "%s", err)}
	}
	defer bot.Close()
	me, err := bot.Me(ctx)
	if err != nil {
		return []cli.Finding{cli.Wrong("bot", "check the token and the way to the network", "%s", err)}
	}
	c.Say("write something to @%s in Telegram now", cli.Plain(me.Username))
	updates, err := bot.Updates(ctx, 0, whoTime, "message", "callback_query")
	if err != nil {
		return []cli.Finding{cli.Wrong("bot hears", "stop what else uses this bot, then try again", "%s", err)}
	}
	var list []cli.Finding
	seen := map[int64]bool{}
	for _, u := range updates {
		if u.Wrote == nil || u.Wrote.From.IsBot || seen[u.Wrote.From.ID] {
			continue
		}
		seen[u.Wrote.From.ID] = true
		where := ""
		if u.Wrote.Chat.ID != u.Wrote.From.ID {
			where = fmt.Sprintf(", in the group %d", u.Wrote.Chat.ID)
		}
		list = append(list, cli.OK("who", "user %d calls themselves %q%s", u.Wrote.From.ID, u.Wrote.From.Name, where))
	}
	if len(list) == 0 {
		return []cli.Finding{cli.Wrong("who", "write something to @"+me.Username+" and try again", "no message came to the bot")}
	}
	return list
}

// hostOf returns the host of an address. The rest of the address may be secret.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return "another place"
}
