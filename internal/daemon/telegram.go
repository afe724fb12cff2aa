package daemon

import (
	"context"

	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/internal/telegram"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// openTelegram makes the bot that asks on the phone, if service.yaml names one.
// It is opened before the monitor, which it answers through.
func (d *Daemon) openTelegram() error {
	set := d.opts.Service.Telegram
	if set == nil {
		return nil
	}
	client, err := set.Client()
	if err != nil {
		return err
	}
	bot, err := d.openBot(client, d.opts.Paths.Cards)
	if err != nil {
		return err
	}
	channel, err := bot.Channel(set.Audience(), set.Tenant, func(ctx context.Context, s journal.Session, cmd approval.Command) (monitor.Answered, error) {
		return d.monitor.Answer(ctx, s, cmd)
	})
	if err != nil {
		return err
	}
	d.approvers = append(d.approvers, channel)
	return nil
}

// openBot opens a bot that runs with the daemon.
func (d *Daemon) openBot(client *telegram.Client, cards string) (*telegram.Bot, error) {
	bot, err := telegram.Open(telegram.Options{
		Client: client, Key: d.keys.Index[:], File: cards, Now: d.opts.Now,
		Incident: func(kind, text string) { d.incident(context.Background(), kind, text) },
	})
	if err != nil {
		return nil, err
	}
	d.bots = append(d.bots, bot)
	d.closers = append(d.closers, bot.Close)
	return bot, nil
}

// noted are what a person should look at: incidents, and what keeps channels
// from working.
func (d *Daemon) noted() (lines []string, incidents int64) {
	lines, incidents = d.notes.list()
	for _, bot := range d.bots {
		lines = append(lines, bot.Problems()...)
	}
	lines = append(lines, d.auditorNotes()...)
	return lines, incidents
}
