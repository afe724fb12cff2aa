package main

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/wire"
)

// What a screen is told.
type (
	happened struct{ what *wire.WatchResponse }
	asked    struct {
		list   []*wire.Question // all that wait
		unread []string         // and where nobody knows
	}
	answered struct{ notice string }
	ended    struct{ err error }
	ticked   struct{}
)

// A watcher is the screen of «floodmark watch»: what happened above, the
// question to answer below. Nothing is approved by a single key: the code has to
// be typed, and denying is what the first key does.
type watcher struct {
	st            style
	now           func() time.Time
	width, height int
	events        []string
	open          []*wire.Question
	pauses        []*wire.Pause // those that were not ended
	chosen        string        // the ticket that is shown
	typing        bool          // the code of the chosen one is being typed
	placing       bool          // the code was right, and now the place is being typed
	typed         string
	offer         int // which offer is taken, from 1; 0 is the narrowest
	notice        string
	about         string // the ticket that the notice answers; empty: what is shown
	sent          string // the ticket that was answered last
	err           error  // why it ended
	// fleet says that a fleet is asked, which shows no codes: the end of a ticket
	// is typed instead, and who types it is proved by the login.
	fleet bool
	// answer sends an answer and comes back with answered.
	answer func(*wire.AnswerRequest) tea.Cmd
	// heard says that the monitor tells what happens: it begins with a sign of life.
	heard bool
	// pending asks for all questions that wait.
	pending tea.Cmd
}

// maxEvents bounds what the screen remembers.
const maxEvents = 500

// Init implements [tea.Model]. What waits is asked for once events are heard: what is
// asked between the two would be shown by neither.
func (w *watcher) Init() tea.Cmd { return tick() }

func tick() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return ticked{} }) }

// Update implements [tea.Model].
func (w *watcher) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		w.width, w.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return w, w.key(msg.String())
	case happened:
		w.take(msg.what)
		if !w.heard || msg.what.GetMissed() > 0 {
			w.heard = true
			return w, w.pending
		}
	case asked:
		for _, q := range msg.list {
			w.put(q)
		}
		if len(msg.unread) > 0 && w.notice == "" {
			w.notice = plain(msg.unread[0])
		}
	case answered:
		w.notice, w.about = plain(msg.notice), w.sent
		return w, w.pending
	case ended:
		w.err = msg.err
		return w, tea.Quit
	case ticked:
		w.drop(func(q *wire.Question) bool { return !q.GetExpires().AsTime().After(w.now()) })
		return w, tick()
	}
	return w, nil
}

// take shows an event.
func (w *watcher) take(r *wire.WatchResponse) {
	if r.GetWhat() == nil {
		return
	}
	w.events = append(w.events, eventLine(w.st, r))
	w.events = w.events[max(0, len(w.events)-maxEvents):]
	if q := r.GetAsked(); q != nil {
		w.put(q)
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
		w.drop(func(q *wire.Question) bool { return q.GetTicket() == a.GetTicket() && q.GetSession() == r.GetSession() })
	}
}

// put adds a question, or shows it as it is now. If it grew or changed while its code
// was being typed, the person has not seen all of it.
func (w *watcher) put(q *wire.Question) {
	i := slices.IndexFunc(w.open, func(o *wire.Question) bool { return o.GetTicket() == q.GetTicket() })
	switch {
	case i < 0:
		w.open = append(w.open, q)
	default:
		if w.typing && w.chosen == q.GetTicket() && (len(q.GetCalls()) != len(w.open[i].GetCalls()) || q.GetSeen() != w.open[i].GetSeen()) {
			w.stopTyping("The question has changed: look at it again.")
		}
		w.open[i] = q
	}
	if w.chosen == "" {
		w.chosen = q.GetTicket()
	}
}

// drop takes questions away that need no answer any more.
func (w *watcher) drop(gone func(*wire.Question) bool) {
	w.open = slices.DeleteFunc(w.open, gone)
	if w.question() != nil {
		return
	}
	if w.typing {
		w.stopTyping("The question has ended.")
	}
	w.chosen = ""
	if len(w.open) > 0 {
		w.chosen = w.open[0].GetTicket()
	}
}

// question is the one that is shown.
func (w *watcher) question() *wire.Question {
	for _, q := range w.open {
		if q.GetTicket() == w.chosen {
			return q
		}
	}
	return nil
}

func (w *watcher) stopTyping(notice string) {
	w.typing, w.placing, w.typed, w.notice, w.about = false, false, "", notice, ""
}

// offers reports whether a question has an offer of that number. One with several
// calls has none: it is not said of which.
func offers(q *wire.Question, number int) bool {
	return len(q.GetCalls()) == 1 && number <= len(q.GetCalls()[0].GetOffers())
}

// key does what a key says.
func (w *watcher) key(name string) tea.Cmd {
	if name == "ctrl+c" {
		return tea.Quit
	}
	if w.typing {
		return w.typeCode(name)
	}
	q := w.question()
	switch name {
	case "q":
		return tea.Quit
	case "d", "enter":
		if q != nil {
			w.sent = q.GetTicket()
			return w.answer(&wire.AnswerRequest{Verb: "deny", Session: q.GetSession(), Ticket: q.GetTicket()})
		}
	case "a", "2", "3":
		w.offer = 0
		if name != "a" {
			if w.offer = int(name[0] - '0'); !offers(q, w.offer) {
				return nil
			}
		}
		switch {
		case q == nil:
		case w.fleet && !worded(q):
			w.notice = "The fleet does not say what this question is about; it can be denied, or asked again."
		case w.word(q) == "":
			w.notice = "The monitor does not show the code of this question here; the agent has to ask again."
		default:
			w.typing, w.typed, w.notice = true, "", ""
		}
	case "up", "k":
		w.move(-1)
	case "down", "j":
		w.move(1)
	}
	return nil
}

// wordLength is how much of a ticket is typed.
const wordLength = 6

// word is what has to be typed to approve a question; empty if nobody can here.
func (w *watcher) word(q *wire.Question) string {
	if t := q.GetTicket(); w.fleet && len(t) >= wordLength {
		return t[len(t)-wordLength:]
	}
	return q.GetCode()
}

// typeCode takes the keys of a code. Only the code that stands beside the
// question is sent.
func (w *watcher) typeCode(name string) tea.Cmd {
	switch {
	case name == "esc":
		w.stopTyping("Nothing was approved.")
	case name == "backspace":
		w.typed = w.typed[:max(0, len(w.typed)-1)]
	case name == "enter":
		return w.typedAll()
	case name == "space" && w.placing:
		w.typed += " "
	case utf8.RuneCountInString(name) == 1 && (len(w.typed) < approval.CodeLength || w.placing && len(w.typed) < approval.MaxCommandBytes):
		w.typed += name
	}
	return nil
}

// typedAll takes what was typed: the code, and then the place if the question
// wants to hear it.
func (w *watcher) typedAll() tea.Cmd {
	q := w.question()
	if q == nil || !w.placing && (w.typed == "" || !approval.SameDigest(floodmark.DigestOf(w.typed), floodmark.DigestOf(w.word(q)))) {
		w.stopTyping("That is not the code; nothing was approved.")
		return nil
	}
	if picks(q) && !w.placing {
		w.placing, w.typed = true, ""
		return nil
	}
	r := &wire.AnswerRequest{Verb: "approve", Session: q.GetSession(), Code: q.GetCode(), Offer: int32(w.offer)}
	if w.fleet {
		r.Code, r.Ticket, r.Calls, r.Seen = "", q.GetTicket(), int32(len(q.GetCalls())), q.GetSeen()
	}
	if w.placing {
		r.Picked = w.typed
	}
	w.stopTyping("")
	w.sent = q.GetTicket()
	return w.answer(r)
}

// move chooses another question.
func (w *watcher) move(by int) {
	i := slices.IndexFunc(w.open, func(q *wire.Question) bool { return q.GetTicket() == w.chosen })
	if i < 0 {
		return
	}
	w.chosen = w.open[(i+by+len(w.open))%len(w.open)].GetTicket()
}

// answerBy sends answers over a desk.
func answerBy(ctx context.Context, d *desk) func(*wire.AnswerRequest) tea.Cmd {
	return func(q *wire.AnswerRequest) tea.Cmd {
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, askTime)
			defer cancel()
			a, err := d.Answer(ctx, q)
			if err != nil {
				return answered{d.unanswered(err).Error()}
			}
			return answered{a.GetNotice()}
		}
	}
}

// pendingBy asks a desk for what waits. What cannot be asked shows when the
// stream of events ends.
func pendingBy(ctx context.Context, d *desk, session string) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, askTime)
		defer cancel()
		a, err := d.Pending(ctx, &wire.PendingRequest{Session: session})
		if err != nil {
			return answered{}
		}
		return asked{a.GetQuestions(), a.GetUnread()}
	}
}
