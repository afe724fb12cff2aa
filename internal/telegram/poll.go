package telegram

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Telegram keeps the updates of each bot in one list, sends it to any client that asks, and forgets
// the beginning of it when told to. It ends a waiting request when another comes in (409). So two
// daemons with one bot
//
//   - forget no update of the other: what carries another daemon's tag stays in
//     the list, for leaveFor, and what follows it is remembered here as done;
//   - do not wait in a request while the other is active: they poll once a
//     second instead, until nothing was seen of the other for shareFor.
//
// The price is a request a second, and up to a second until a press counts. A press for a daemon
// that is away longer than leaveFor is lost; its question is still open. A program that is not
// Floodmark takes every press: then status says that the bot needs to be its own.
const (
	leaveFor   = 5 * time.Minute
	shareFor   = 5 * time.Minute
	sharePause = time.Second
	keptDone   = 4096 // numbers of handled updates
)

// The errors that status shows.
var (
	errFault   = errors.New("telegram: a fault of the monitor: somebody touched a button, and it did not count")
	errShared  = errors.New("telegram: another program reads what this bot hears, so buttons may react late (give each monitor a bot of its own)")
	errWebhook = errors.New("telegram: what this bot hears is delivered to a web address, so nothing arrives here (remove it with deleteWebhook, or make a bot of its own)")
)

// A poller receives updates. Only its own goroutine uses it.
type poller struct {
	bot   *Bot
	wait  time.Duration // in one request
	pause time.Duration // between two while shared

	from   int64               // all before may be forgotten; 0: nothing
	done   map[int64]time.Time // handled, and perhaps still in the list
	left   map[int64]time.Time // not ours, since when
	waits  bool                // an update that was left may be ours
	heard  []string            // handled presses, the newest last
	shared time.Time           // another daemon was active until then
	failed int                 // times in a row
}

func newPoller(b *Bot) *poller {
	return &poller{bot: b, wait: pollTime, pause: sharePause, done: map[int64]time.Time{}, left: map[int64]time.Time{}}
}

func (p *poller) run(ctx context.Context) {
	for ctx.Err() == nil {
		pause := p.once(ctx)
		if pause <= 0 {
			continue
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// once polls once, handles the updates, and returns how long to pause.
func (p *poller) once(ctx context.Context) time.Duration {
	now := p.bot.opts.Now()
	wait := p.wait
	if now.Before(p.shared) || len(p.left) > 0 || p.failed > 0 {
		wait = 0
	}
	list, err := p.bot.client.Updates(ctx, p.from, wait, "callback_query", "message")
	if ctx.Err() != nil {
		return 0
	}
	if err != nil {
		return p.rest(err)
	}
	// Telegram has forgotten what it was told to. From here on numbers prove nothing: after a quiet
	// week Telegram restarts at any other.
	p.from, p.failed = 0, 0
	if !now.Before(p.shared) {
		p.bot.note("listen", nil)
	}
	p.deal(ctx, list)
	p.settle(list)
	switch {
	case p.from > 0 && len(p.left) == 0:
		return 0 // tell Telegram at once
	case wait == 0:
		return p.pause + rand.N(p.pause/4+1) // random, so that two daemons do not synchronise
	}
	return 0
}

// rest returns how long to wait after an error.
func (p *poller) rest(err error) time.Duration {
	said, _ := errors.AsType[*Error](err)
	p.failed++
	pause := min(time.Second<<min(p.failed-1, 5), 30*time.Second)
	switch {
	case said == nil:
	case said.Status == http.StatusConflict && strings.Contains(strings.ToLower(said.Text), "webhook"):
		p.bot.note("listen", errWebhook)
		return 30 * time.Second
	case said.Status == http.StatusConflict:
		p.share()
		p.failed = 0
		return p.pause + rand.N(p.pause+1)
	case said.RetryAfter > 0:
		pause = said.RetryAfter
	case said.final():
		pause = time.Minute
	}
	p.bot.note("listen", err)
	return pause
}

// share records that another daemon is active.
func (p *poller) share() {
	p.shared = p.bot.opts.Now().Add(shareFor)
	p.bot.note("listen", errShared)
}

// deal handles updates, several at a time: each waits for the journal.
func (p *poller) deal(ctx context.Context, list []Update) {
	var work sync.WaitGroup
	ours := make([]bool, len(list))
	p.waits = false
	places := make(chan struct{}, maxSenders)
	for i, u := range list {
		if _, again := p.done[u.ID]; again {
			continue
		}
		if u.Press == nil || u.Press.Data == "" || p.again(u.Press.ID) {
			ours[i] = u.Wrote == nil || p.wrote(ctx, *u.Wrote)
			continue
		}
		s, ok := open(u.Press.Data)
		if !ok || s.tag != p.bot.memo.tag {
			continue
		}
		places <- struct{}{}
		work.Go(func() {
			defer func() {
				if recover() != nil { // what it said may be content
					ours[i] = true
					p.bot.note("listen", errFault)
				}
				<-places
			}()
			ours[i] = p.bot.heed(ctx, *u.Press, s)
		})
		if slices.ContainsFunc(list[i+1:], func(o Update) bool { return o.Press != nil && o.Press.ID == u.Press.ID }) {
			work.Wait() // so that the second sees the first
			p.hear(u.Press, ours[i])
		}
	}
	work.Wait()
	now := p.bot.opts.Now()
	for i, u := range list {
		if ours[i] {
			p.done[u.ID] = now
			p.hear(u.Press, true)
		}
	}
}

// wrote handles a message. A reply to a message we did not send may be for another daemon, if there
// is one; other messages are dropped.
func (p *poller) wrote(ctx context.Context, w Wrote) (dealt bool) {
	defer func() {
		if recover() != nil { // what it said may be content
			dealt = true
			p.bot.note("listen", errFault)
		}
	}()
	what := p.bot.hear(ctx, w)
	if what == perhapsSoon {
		p.waits = true
		return false
	}
	return what == dealtWith || w.To == nil || !p.bot.opts.Now().Before(p.shared)
}

// keptHeard is how many presses are remembered by id: one may come under two numbers.
const keptHeard = 256

func (p *poller) again(press string) bool { return slices.Contains(p.heard, press) }

func (p *poller) hear(press *Press, dealt bool) {
	if press == nil || !dealt || p.again(press.ID) {
		return
	}
	if p.heard = append(p.heard, press.ID); len(p.heard) > keptHeard {
		p.heard = slices.Delete(p.heard, 0, len(p.heard)-keptHeard)
	}
}

// settle computes how much of the list may be forgotten: all up to the first recent update that is
// not ours. A list full of those would hide all later ones, so then its older half is forgotten.
func (p *poller) settle(list []Update) {
	now := p.bot.opts.Now()
	still := map[int64]time.Time{}
	prefix := true
	for i, u := range list {
		_, done := p.done[u.ID]
		if !done {
			since, known := p.left[u.ID]
			if !known {
				since = now
			}
			if now.Sub(since) < leaveFor && (len(list) < maxUpdates || i >= maxUpdates/2) {
				still[u.ID] = since
				prefix = false
			}
		}
		if prefix {
			p.from = max(p.from, u.ID+1)
		}
	}
	p.left = still
	if len(still) > 0 && !p.waits && !p.bot.young() {
		p.share()
	}
	for id, at := range p.done {
		if now.Sub(at) > leaveFor+time.Minute || len(p.done) > keptDone {
			delete(p.done, id)
		}
	}
}
