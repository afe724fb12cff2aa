package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/ask/telegram"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/verify"
)

// openTelegram makes the bot that asks on the phone, if service.yaml names one. It is called before
// there is a monitor; the bot gives its answers to the monitor later.
func (d *Daemon) openTelegram() error {
	set := d.opts.Service.Telegram
	if set == nil {
		return nil
	}
	bot, err := d.openBot(*set)
	if err != nil {
		return err
	}
	var groups []string
	if set.Group != "" {
		groups = []string{set.Group}
	}
	channel, err := bot.Channel(set.Audience(), set.Tenant, func(ctx context.Context, s journal.Session, cmd approval.Command) (monitor.Answered, error) {
		return d.monitor.Answer(monitor.AsMember(ctx, groups...), s, cmd)
	})
	if err != nil {
		return err
	}
	d.approvers = append(d.approvers, groupChannel{channel, channel, func(t approval.Ticket) bool {
		return d.opts.Service.MayAnswer(groups, t.Tenant, "", toolsOf(t.Call))
	}})
	return nil
}

// openGates makes the gates that ask a person by a bot.
func (d *Daemon) openGates() ([]verify.Verifier, error) {
	var list []verify.Verifier
	names, gates := d.opts.Service.TelegramGates()
	for i, set := range gates {
		bot, err := d.openBot(set.Bot())
		if err != nil {
			return nil, fmt.Errorf("%s: verifier.%w", d.opts.Paths.Service, err)
		}
		g, err := bot.Gate(telegram.GateOptions{
			Name: names[i], Who: set.Bot().Audience(), Wait: time.Duration(set.Timeout),
			Silence: func(agent string) verify.FailMode {
				gate, _ := d.gates.Gate(agent, names[i])
				return gate.FailMode
			},
		})
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// openBot opens a bot that runs with the daemon, or returns the one that has this token already, so
// that each message is read once.
func (d *Daemon) openBot(set config.Telegram) (*telegram.Bot, error) {
	client, err := set.Client()
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(d.bots, func(b *telegram.Bot) bool { return b.Uses(client) }); i >= 0 {
		return d.bots[i], nil
	}
	bot, err := telegram.Open(telegram.Options{
		Client: client, Key: d.keys.Index[:], File: d.opts.Paths.Cards + "." + client.ID(), Now: d.opts.Now,
		Incident: func(kind, text string) { d.incident(context.Background(), kind, text) },
	})
	if err != nil {
		return nil, err
	}
	d.bots = append(d.bots, bot)
	d.closers = append(d.closers, bot.Close)
	return bot, nil
}

// noted returns the warnings for a tenant: its incidents and the state of its signed rules. The
// operator of the monitor also gets what is wrong with bots, the auditor and other nodes.
func (d *Daemon) noted(tenant string) (lines []string, incidents int64) {
	lines, incidents = d.notes.list(tenant)
	lines = append(lines, d.signed.Notes(tenant)...)
	if tenant != "" {
		return lines, incidents
	}
	for _, bot := range d.bots {
		lines = append(lines, bot.Problems()...)
	}
	lines = append(lines, d.auditorNotes()...)
	lines = append(lines, d.nodes.difference().Warnings...)
	return lines, incidents
}
