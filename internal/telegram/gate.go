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

// A Gate shows calls that are about to proceed to a person, and waits for a yes
// or a no (seed 3). Unlike a question of the [Channel], a card of the gate
// belongs to one call that waits: after a restart nothing waits any more.
type Gate struct {
	bot  *Bot
	name string
	who  Audience
	time time.Duration
	// silence is what no answer means for an agent; nil if nobody knows.
	silence func(agent string) verify.FailMode

	mu      sync.Mutex // guards what is below
	waiting map[string]*waiting
}

var _ verify.Verifier = (*Gate)(nil)

// A waiting is a call somebody looks at.
type waiting struct {
	request verify.Request
	choices []choice
	said    chan touched
	decided bool
}

// touched is what a person said.
type touched struct {
	allow bool
	user  int64
}

// The times of a gate.
const (
	GateTime     = 120 * time.Second // the usual wait for a touch (seed 3)
	gateSendTime = 15 * time.Second  // for the card to be sent at all
	maxWaiting   = 1024
)

// GateOptions are what a gate is made of.
type GateOptions struct {
	Name string
	Who  Audience
	// Wait is for how long; zero means as long as seed 3 says.
	Wait time.Duration
	// Silence says what no answer means for an agent, so that the card can. It
	// is optional.
	Silence func(agent string) verify.FailMode
}

// Gate makes the bot a gate.
func (b *Bot) Gate(o GateOptions) (*Gate, error) {
	if err := o.Who.Check(); err != nil {
		return nil, err
	}
	if o.Wait <= 0 {
		o.Wait = GateTime
	}
	// Whoever asks stops waiting at that time: a yes must not come so late that
	// it does not count although the card says that it did.
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
	message, err := g.show(ctx, id, w, timer.C)
	if err != nil {
		g.close(id, w)
		return verify.Answer{}, err
	}
	var head string
	var out verify.Answer
	select {
	case said := <-w.said:
		head, out = said.words(g.bot.opts.Now()), said.answer()
	case <-timer.C:
		head, err = "Time ran out", &verify.Failure{Kind: verify.TimedOut, Text: fmt.Sprintf("nobody answered in Telegram within %s", g.time)}
	case <-ctx.Done():
		head, err = "The call no longer waits", gaveUp(ctx)
	}
	if g.close(id, w) && err != nil {
		// Somebody was faster than the end of the time.
		said := <-w.said
		head, out, err = said.words(g.bot.opts.Now()), said.answer(), nil
	}
	g.bot.edit(g.who.Chat, message, gateCard(head, r))
	_ = g.bot.memo.note(noted{Kind: kindGate, Ticket: id, Over: true}) // as in over
	return out, err
}

// gaveUp words why nobody waits any more.
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

// begin notes a call that waits.
func (g *Gate) begin(r verify.Request) (string, *waiting, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) >= maxWaiting {
		return "", nil, &verify.Failure{Kind: verify.Crowded, Text: "too many calls wait for an answer in Telegram"}
	}
	// Not the request's own name: what is tried again is shown again.
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

// newName names a card of a gate. No other has it, also not after a restart.
func (b *Bot) newName() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return strconv.FormatInt(b.started.UnixMilli(), 36) + "-" + strconv.FormatUint(b.next, 36)
}

// show sends the card, and returns when it is on its way or cannot be.
func (g *Gate) show(ctx context.Context, id string, w *waiting, late <-chan time.Time) (int64, error) {
	text := gateCard(gateHead(w.request), w.request)
	lastLine(&text, g.time, g.otherwise(w.request.Agent))
	rows := keyboardOf(g.bot.key, g.bot.memo.tag, kindGate, id, w.choices)
	now := g.bot.opts.Now()
	type result struct {
		message int64
		err     error
	}
	sent := make(chan result, 1)
	var message int64
	var last atomic.Pointer[verify.Failure] // why it is not sent yet
	err := g.bot.sender.add(&errand{
		urgency: newCard, by: now, until: now.Add(min(gateSendTime, g.time)),
		moot: func() bool { return ctx.Err() != nil || g.gone(id) },
		do: func(sending context.Context) (err error) {
			message, err = g.bot.client.Send(sending, g.who.Chat, text, rows)
			if err == nil && g.gone(id) {
				g.bot.edit(g.who.Chat, message, gateCard("The call no longer waits", w.request))
			}
			last.Store(failure(err))
			return err
		},
		done: func(err error) { sent <- result{message, err} },
	})
	if err != nil {
		return 0, &verify.Failure{Kind: verify.Crowded, Text: err.Error()}
	}
	select {
	case r := <-sent:
		g.bot.note("ask", r.err)
		if r.err != nil {
			return 0, failure(r.err)
		}
		// At worst its card keeps its buttons after a restart.
		_ = g.bot.memo.note(noted{Kind: kindGate, Ticket: id, Chat: g.who.Chat, Message: r.message})
		return r.message, nil
	case <-late:
		if why := last.Load(); why != nil {
			return 0, why
		}
		return 0, &verify.Failure{Kind: verify.TimedOut, Text: fmt.Sprintf("the card could not be sent to Telegram within %s", g.time)}
	case <-ctx.Done():
		return 0, gaveUp(ctx)
	}
}

// otherwise says what no answer means.
func (g *Gate) otherwise(agent string) string {
	if g.silence == nil || g.silence(agent) != verify.FailAllow {
		return "No answer means no."
	}
	return "Without an answer it happens."
}

// failure words why the card was not sent.
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

// close ends a wait, and reports whether somebody had answered by then.
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

// press takes in a touch of somebody who may answer. The first one counts.
func (g *Gate) press(ctx context.Context, p Press, s sealed) bool {
	g.mu.Lock()
	w := g.waiting[s.ticket]
	g.mu.Unlock()
	if w == nil {
		g.bot.tell(ctx, p, "This call no longer waits: it was answered, or its time ran out.", true)
		if err := g.bot.client.Strip(ctx, p.Message.Chat.ID, p.Message.ID); err != nil {
			return true // the buttons stay, and do nothing
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
		w.said <- said // it has room for one
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

// gateCard shows a call: the lines that were made for people, or else its
// arguments.
func gateCard(head string, r verify.Request) Text {
	var t Text
	t.head(head)
	t.say("\n\nTool: ")
	t.quote(r.Tool, maxNameRunes)
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
	if r.Session != "" {
		t.say("\nConversation: ")
		t.quote(r.Session, maxNameRunes)
	}
	return t
}

const maxGateLines = 6

// paramLines are the arguments of a call, a line each, in a fixed order.
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
