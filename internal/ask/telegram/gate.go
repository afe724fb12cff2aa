package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/verify"
)

// A Gate shows calls to people before they run, and waits for an approval or a denial. Unlike a
// question of the [Channel], a card of a gate does not survive a restart, because no call waits any
// more then.
type Gate struct {
	bot  *Bot
	name string
	who  Audience
	time time.Duration
	// silence returns what happens to an agent's call without an answer; nil if unknown.
	silence func(agent string) verify.FailMode

	mu      sync.Mutex // guards what is below
	waiting map[string]*waiting
}

var _ verify.Verifier = (*Gate)(nil)

// A waiting is a call that waits for an answer.
type waiting struct {
	request verify.Request
	choices []choice
	said    chan touched
	decided bool
	message int64 // the message of its card; 0 until that is known
	ending  *Text // the card's text once the wait has ended; nil before
}

// A touched is a person's answer.
type touched struct {
	allow bool
	user  int64
}

// The times of a gate.
const (
	GateTime     = 120 * time.Second // the default timeout of a call
	gateSendTime = 15 * time.Second  // bounds the sending of a card
	maxWaiting   = 1024
)

// GateOptions configure a gate.
type GateOptions struct {
	Name string
	Who  Audience
	// Wait is the timeout; zero means [GateTime].
	Wait time.Duration
	// Silence returns what happens to an agent's call without an answer, so that the card can say
	// it. It is optional.
	Silence func(agent string) verify.FailMode
}

// Gate returns a gate that uses this bot.
func (b *Bot) Gate(o GateOptions) (*Gate, error) {
	if err := o.Who.Check(); err != nil {
		return nil, err
	}
	if o.Wait <= 0 {
		o.Wait = GateTime
	}
	// The caller stops waiting at that time. The gate ends a little earlier, so that the card never
	// shows an approval that came too late.
	o.Wait -= min(time.Second, o.Wait/10)
	g := &Gate{bot: b, name: o.Name, who: o.Who, time: o.Wait, silence: o.Silence, waiting: map[string]*waiting{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gates = append(b.gates, g)
	return g, nil
}

// Name implements [verify.Verifier].
func (g *Gate) Name() string { return g.name }

func (g *Gate) audience() Audience { return g.who }

// Verify implements [verify.Verifier].
func (g *Gate) Verify(ctx context.Context, r verify.Request) (verify.Answer, error) {
	id, w, err := g.begin(r)
	if err != nil {
		return verify.Answer{}, err
	}
	defer g.done(id)
	timer := time.NewTimer(g.time)
	defer timer.Stop()
	if err := g.show(ctx, id, w, timer.C); err != nil {
		return g.end(id, w, overHead, verify.Answer{}, err)
	}
	select {
	case said := <-w.said:
		return g.end(id, w, said.words(g.bot.opts.Now()), said.answer(), nil)
	case <-timer.C:
		return g.end(id, w, "Time ran out", verify.Answer{}, &verify.Failure{Kind: verify.TimedOut, Text: fmt.Sprintf("nobody answered in Telegram within %s", g.time)})
	case <-ctx.Done():
		return g.end(id, w, overHead, verify.Answer{}, gaveUp(ctx))
	}
}

// overHead is the head of a card whose outcome is unknown.
const overHead = "The call no longer waits"

// end ends a wait, and shows on the card how it ended. If an answer came before the error, the
// answer is returned.
func (g *Gate) end(id string, w *waiting, head string, out verify.Answer, err error) (verify.Answer, error) {
	g.bot.memo.end(kindGate, id) // first, so that [Bot.over] does not edit the card, too
	if decided := g.close(id, w); decided && err != nil {
		said := <-w.said
		head, out, err = said.words(g.bot.opts.Now()), said.answer(), nil
	}
	ending := gateCard(head, w.request)
	g.mu.Lock()
	w.ending = &ending
	message := w.message // a card that is being sent is edited by arrived
	g.mu.Unlock()
	g.bot.memo.end(kindGate, id) // the card may have arrived meanwhile
	g.bot.edit(g.who.Chat, message, ending)
	return out, err
}

// arrived records which message shows a call. If the wait has already ended, it shows on the
// message how.
func (g *Gate) arrived(id string, w *waiting, message int64) {
	// If the note cannot be written, the card may keep its buttons after a restart.
	_ = g.bot.memo.note(noted{Kind: kindGate, Ticket: id, Chat: g.who.Chat, Message: message})
	g.mu.Lock()
	w.message = message
	ending := w.ending
	g.mu.Unlock()
	if ending != nil {
		g.bot.memo.end(kindGate, id)
		g.bot.edit(g.who.Chat, message, *ending)
	}
}

// gaveUp returns why the wait ended without an answer.
func gaveUp(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &verify.Failure{Kind: verify.TimedOut, Text: "nobody answered in Telegram in time"}
	}
	return &verify.Failure{Kind: verify.Deadline, Text: "the agent stopped waiting before anybody answered in Telegram"}
}

func (t touched) answer() verify.Answer {
	if t.allow {
		return verify.Answer{Allow: true}
	}
	return verify.Answer{Reason: "denied in Telegram"}
}

func (t touched) words(now time.Time) string {
	what := "Denied"
	if t.allow {
		what = "Allowed"
	}
	return fmt.Sprintf("%s by user %d in Telegram at %s", what, t.user, now.UTC().Format("15:04 UTC"))
}

// begin records a waiting call.
func (g *Gate) begin(r verify.Request) (string, *waiting, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) >= maxWaiting {
		return "", nil, &verify.Failure{Kind: verify.Crowded, Text: "too many calls wait for an answer in Telegram"}
	}
	// It is not the request's id, because a retry needs a new card.
	id := g.bot.newName()
	w := &waiting{request: r, said: make(chan touched, 1)}
	for _, c := range []choice{
		{label: "Deny", cmd: approval.Command{Verb: approval.Deny}},
		{label: "Allow", cmd: approval.Command{Verb: approval.Approve}},
	} {
		c.bound = []string{string(c.cmd.Verb), r.ID, r.Session, r.Agent, r.Tool, r.Digest.String(), string(r.Params)}
		w.choices = append(w.choices, c)
	}
	g.waiting[id] = w
	return id, w, nil
}

// newName returns a name for a gate's card that is unique even after a restart.
func (b *Bot) newName() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return strconv.FormatInt(b.started.UnixMilli(), 36) + "-" + strconv.FormatUint(b.next, 36)
}

// show sends the card, and returns when it has arrived or cannot be sent.
func (g *Gate) show(ctx context.Context, id string, w *waiting, late <-chan time.Time) error {
	text := gateCard(gateHead(w.request), w.request)
	lastLine(&text, g.time, g.otherwise(w.request.Agent))
	rows := keyboardOf(g.bot.key, g.bot.memo.tag, kindGate, id, w.choices)
	now := g.bot.opts.Now()
	sent := make(chan error, 1)
	var last atomic.Pointer[verify.Failure] // why the last attempt failed
	err := g.bot.sender.add(&errand{
		urgency: newCard, by: now, until: now.Add(min(gateSendTime, g.time)),
		moot: func() bool { return ctx.Err() != nil || g.gone(id) },
		do: func(sending context.Context) error {
			message, err := g.bot.client.Send(sending, g.who.Chat, text, rows)
			if err == nil {
				g.arrived(id, w, message)
			}
			last.Store(failure(err))
			return err
		},
		done: func(err error) { sent <- err },
	})
	if err != nil {
		return &verify.Failure{Kind: verify.Crowded, Text: err.Error()}
	}
	select {
	case err := <-sent:
		g.bot.note("ask", err)
		if err != nil {
			return failure(err)
		}
		return nil
	case <-late:
		if why := last.Load(); why != nil {
			return why
		}
		return &verify.Failure{Kind: verify.TimedOut, Text: fmt.Sprintf("the card could not be sent to Telegram within %s", g.time)}
	case <-ctx.Done():
		return gaveUp(ctx)
	}
}

// otherwise returns the sentence on what happens without an answer.
func (g *Gate) otherwise(agent string) string {
	if g.silence == nil || g.silence(agent) != verify.FailAllow {
		return "No answer means no."
	}
	return "Without an answer it happens."
}

// failure returns why the card was not sent.
func failure(err error) *verify.Failure {
	if err == nil {
		return nil
	}
	if said, ok := errors.AsType[*Error](err); ok {
		return &verify.Failure{Kind: said.Kind, Text: said.Error()}
	}
	return &verify.Failure{Kind: verify.Broken, Text: err.Error()}
}

func (g *Gate) gone(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiting[id] == nil
}

func (g *Gate) has(id string) bool { return !g.gone(id) }

// close ends a wait, and reports whether it had been answered.
func (g *Gate) close(id string, w *waiting) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waiting, id)
	return w.decided
}

func (g *Gate) done(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waiting, id)
}

// press handles a press by a permitted user. Only the first press is accepted.
func (g *Gate) press(ctx context.Context, p Press, s sealed) bool {
	g.mu.Lock()
	w := g.waiting[s.ticket]
	g.mu.Unlock()
	if w == nil {
		g.bot.tell(ctx, p, "This call no longer waits: it was answered, or its time ran out.", true)
		if err := g.bot.client.Strip(ctx, p.Message.Chat.ID, p.Message.ID); err != nil {
			return true // the buttons remain, without effect
		}
		return true
	}
	chosen, ok := s.stands(g.bot.key, w.choices)
	if !ok {
		g.bot.forged(ctx, p)
		return true
	}
	said := touched{allow: chosen.cmd.Verb == approval.Approve, user: p.From.ID}
	g.mu.Lock()
	first := !w.decided && g.waiting[s.ticket] == w
	if first {
		w.decided = true
		w.said <- said // does not block: the channel is buffered
	}
	g.mu.Unlock()
	if !first {
		g.bot.tell(ctx, p, "Somebody answered already.", true)
		return true
	}
	g.bot.tell(ctx, p, said.words(g.bot.opts.Now()), false)
	return true
}

func gateHead(r verify.Request) string {
	agent := "An agent"
	if r.Agent != "" {
		agent = cutRunes(floodmark.Visible(r.Agent), maxNameRunes)
	}
	return agent + " is about to use " + cutRunes(floodmark.Visible(r.Tool), maxNameRunes)
}

// gateCard returns the text for a call: its tool, its arguments, its agent and its session. The
// arguments are the request's lines for people, or else the raw parameters. However many arguments
// there are, the agent and the session are always shown.
func gateCard(head string, r verify.Request) Text {
	var t Text
	t.head(head)
	field := func(name, value string) {
		if value != "" {
			t.say("\n" + name + ": ")
			t.quote(value, maxGateRunes)
		}
	}
	t.say("\n")
	field("Tool", r.Tool)
	lines := r.Lines
	if len(lines) == 0 {
		lines = paramLines(r.Params)
	}
	for i, line := range lines {
		if i == maxGateLines {
			fmt.Fprintf(sayer{&t}, "\n(%d more not shown here)", len(lines)-i)
			break
		}
		t.say("\n")
		t.quote(line, maxValueRunes)
	}
	field("Agent", r.Agent)
	field("Session", r.Session)
	return t
}

// maxGateLines is enough for the lines of the kernel: six arguments, and a line with the number of
// the others.
const maxGateLines = 7

// paramLines returns the arguments of a call, one per line, sorted.
func paramLines(params []byte) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(params, &object) != nil {
		if text := strings.TrimSpace(string(params)); text != "" {
			return []string{text}
		}
		return nil
	}
	var list []string
	for name, value := range object {
		text := string(value)
		if word := ""; json.Unmarshal(value, &word) == nil {
			text = word
		}
		list = append(list, name+": "+text)
	}
	slices.Sort(list)
	return list
}
