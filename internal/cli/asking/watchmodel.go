package asking

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/floodmark/floodmark/internal/ask/cardscreen"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// The messages that the screen receives.
type (
	happened struct{ what *wire.WatchResponse }
	asked    struct {
		list   []*wire.Question // all open questions
		unread []string         // sessions that could not be read
	}
	answered struct{ notice string }
	vouched  struct{ a *wire.EndorseResponse }
	ended    struct{ err error }
	ticked   struct{}
)

// A Watcher is the screen of «floodmark watch»: events above, the card to answer below.
type Watcher struct {
	st            cli.Style
	Now           func() time.Time
	Width, Height int
	events        []string
	pauses        []*wire.Pause // the pauses that were not ended
	Cards         cardscreen.Screen
	ticks         int
	err           error // why it ended
	// answer sends an answer; its result arrives as an answered message.
	answer func(*wire.AnswerRequest) tea.Cmd
	// heard says that the stream of events has begun. Its first message is a keep-alive.
	heard bool
	// pending fetches all open questions.
	pending tea.Cmd
}

// maxEvents bounds what the screen remembers.
const maxEvents = 500

// lookAgain is the number of seconds between two checks whether turns have ended.
const lookAgain = 5

// Init implements [tea.Model]. Open questions are fetched only when the stream of events has begun.
// If they were fetched earlier, a question opened in between would be missed.
func (w *Watcher) Init() tea.Cmd { return tick() }

func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return ticked{} }) }

// Update implements [tea.Model].
func (w *Watcher) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		w.Width, w.Height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return w, w.key(msg.String())
	case happened:
		w.Take(msg.what)
		if !w.heard || msg.what.GetMissed() > 0 {
			w.heard = true
			return w, w.pending
		}
	case asked:
		for _, q := range msg.list {
			w.Cards.Put(q)
		}
		if len(msg.unread) > 0 && w.Cards.Notice == "" {
			w.Cards.Notice = cli.Plain(msg.unread[0])
		}
	case answered:
		w.Cards.Notice = cli.Plain(msg.notice)
		return w, w.pending
	case vouched:
		w.Cards.Vouched(msg.a)
		return w, w.pending
	case ended:
		w.err = msg.err
		return w, tea.Quit
	case ticked:
		w.Cards.Expire()
		if w.ticks++; w.ticks%lookAgain == 0 && w.Cards.Question() != nil {
			return w, tea.Batch(tick(), w.pending)
		}
		return w, tick()
	}
	return w, nil
}

// Take adds an event to the screen.
func (w *Watcher) Take(r *wire.WatchResponse) {
	if r.GetWhat() == nil {
		return
	}
	w.events = append(w.events, EventLine(w.st, r))
	w.events = w.events[max(0, len(w.events)-maxEvents):]
	if q := r.GetAsked(); q != nil {
		w.Cards.Put(q)
	}
	for _, p := range []*wire.Pause{r.GetPaused(), r.GetResumed().GetPause()} {
		if p != nil {
			w.pauses = slices.DeleteFunc(w.pauses, func(o *wire.Pause) bool { return o.GetSession() == p.GetSession() })
		}
	}
	if p := r.GetPaused(); p != nil {
		w.pauses = append(w.pauses, p)
	}
	if a := r.GetAnswered(); a != nil {
		w.Cards.Drop(func(q *wire.Question) bool {
			return q.GetTicket() == a.GetTicket() && q.GetSession() == r.GetSession()
		})
	}
}

// key handles a key.
func (w *Watcher) key(name string) tea.Cmd {
	if name == "ctrl+c" {
		return tea.Quit
	}
	r, taken := w.Cards.Key(name)
	switch {
	case r != nil:
		return w.answer(r)
	case !taken && name == "q":
		return tea.Quit
	}
	return nil
}

// answerBy returns a function that sends answers over a desk.
func answerBy(ctx context.Context, d *cli.Desk) func(*wire.AnswerRequest) tea.Cmd {
	return func(q *wire.AnswerRequest) tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
			defer cancel()
			a, err := d.Answer(ctx, q)
			if err != nil {
				return answered{d.Unanswered(err).Error()}
			}
			return answered{a.GetNotice()}
		}
	}
}

// vouchBy trusts a source as «floodmark trust» does.
func vouchBy(ctx context.Context, d *cli.Desk, r *wire.EndorseRequest) vouched {
	ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
	defer cancel()
	a, err := d.Endorse(ctx, r)
	if err != nil {
		a = &wire.EndorseResponse{Notice: d.Unanswered(err).Error()}
	}
	return vouched{a}
}

// pendingBy fetches open questions from a desk. It shows no error, because the end of the stream of
// events will.
func pendingBy(ctx context.Context, d *cli.Desk, session string) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
		defer cancel()
		a, err := d.Pending(ctx, &wire.PendingRequest{Session: session})
		if err != nil {
			return asked{}
		}
		return asked{a.GetQuestions(), a.GetUnread()}
	}
}
