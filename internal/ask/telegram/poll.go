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
// the beginning of the list when told to. If a second request comes in while one is waiting,
// Telegram ends the first one (409). So two daemons with one bot
//
//   - forget no update of the other: an update with another daemon's tag stays in the list, for
//     leaveFor, and the updates after it that are handled are remembered here;
//   - do not wait in a request while the other is active: they poll once a second instead, until
//     nothing was seen of the other for shareFor.
//
// The cost is a request a second, and that a press takes effect up to a second later. A press for a
// daemon that is down longer than leaveFor is lost, but its question stays open. A program other
// than Floodmark takes every press; then status says that each program needs a bot of its own.
const (
	leaveFor   = 5 * time.Minute
	shareFor   = 5 * time.Minute
	sharePause = time.Second
	keptDone   = 4096 // numbers of handled updates that are remembered
)

// The errors that status shows.
var (
	errFault   = errors.New("telegram: a fault of the monitor: somebody touched a button, and it did not count")
	errShared  = errors.New("telegram: another program reads what this bot hears, so buttons may react late (give each monitor a bot of its own)")
	errWebhook = errors.New("telegram: what this bot hears is delivered to a web address, so nothing arrives here (remove it with deleteWebhook, or make a bot of its own)")
)

// A poller receives updates. It is used by one goroutine.
type poller struct {
	bot   *Bot
	wait  time.Duration // how long one request may wait
	pause time.Duration // between two requests while another daemon is active

	from   int64               // Telegram may forget all updates before this number; 0: none
	done   map[int64]time.Time // handled updates that may still be in the list
	left   map[int64]time.Time // updates that are not ours, by when they were first seen
	waits  bool                // whether an update that was left in the list may be ours
	heard  []string            // handled presses, the newest last
	shared time.Time           // another daemon was active until then
	failed int                 // failures in a row
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
	// Telegram has forgotten the updates before p.from. The number is not used any longer, because
	// after a quiet week Telegram may restart at any other number.
	p.from, p.failed = 0, 0
	if !now.Before(p.shared) {
		p.bot.note("listen", nil)
	}
	p.deal(ctx, list)
	p.settle(list)
	switch {
	case p.from > 0 && len(p.left) == 0:
		return 0 // let Telegram forget them at once
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

// deal handles updates, several at a time, because each waits for the journal.
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
				if recover() != nil { // the text of the panic is not shown; it may contain content
					ours[i] = true
					p.bot.note("listen", errFault)
				}
				<-places
			}()
			ours[i] = p.bot.heed(ctx, *u.Press, s)
		})
		if slices.ContainsFunc(list[i+1:], func(o Update) bool { return o.Press != nil && o.Press.ID == u.Press.ID }) {
			work.Wait() // so that the second update of this press is recognised
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

// wrote handles a message, and reports whether it is done with. A reply to a message that we did
// not send is left in the list if another daemon is active, because it may be for that one. Other
// messages are dropped.
func (p *poller) wrote(ctx context.Context, w Wrote) (dealt bool) {
	defer func() {
		if recover() != nil { // the text of the panic is not shown; it may contain content
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

// keptHeard is how many presses are remembered by their ids, because a press may come in two
// updates.
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

// settle computes which updates Telegram may forget: all before the first recent one that is not
// ours. If the list is full, its older half is forgotten in any case, because updates that stay
// would hide all later ones.
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
