package telegram

import "time"

// Hasten makes a bot that shares its list look ten times as often.
func Hasten(b *Bot) { b.poller.pause = 100 * time.Millisecond }
