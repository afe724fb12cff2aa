// Package agents connects agents that report to hooks with the monitor. It translates each agent's
// own message into hook events, asks the monitor, and answers in that agent's exact words. It makes
// no decisions. A message that it does not understand is refused, in the way that this agent obeys.
package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Hooks judges events. The monitor implements it.
type Hooks interface {
	Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)
}

// A Door answers the hooks of all supported agents.
type Door struct {
	// Hooks judges events. It is required.
	Hooks Hooks
	// Tenant owns all events of this door; empty on a laptop.
	Tenant string
	// Await is optional. It returns when a question was answered, and an error if ctx ends first.
	// The call is then judged again, because the returned verdict alone allows nothing.
	Await func(ctx context.Context, s journal.Session, ticket floodmark.TicketID) (floodmark.Verdict, error)
	// Patience is optional. It returns how much longer than usual an event waits for a person to
	// answer; zero means no longer.
	Patience func(ctx context.Context, ev hook.Event) time.Duration
	// Shown is optional: it lets agents show a question while they wait.
	Shown *Shown
	// Starts is optional: it delays events of a session until its start was judged.
	Starts *Starts
	// Native is optional: it lets agents ask in their own window.
	Native *Native
	// Doubles is optional: a call that is reported twice is judged once.
	Doubles *Doubles
	// Rewrites is optional. With it an agent can be told to run another command than it proposed.
	// Without it a reply that says so is a refusal.
	Rewrites *Rewrites
}

// The limits on what an agent is told, in one line for a model.
const (
	maxReason = 2000 // bytes
	maxTicket = 64   // bytes of a question's name
)

// A dialect translates the messages of one agent.
type dialect interface {
	// read turns a message into events.
	read(req hookframe.Request) (asked, error)
	// write formats the answer.
	write(event string, a answer) hookframe.Response
}

// asked is one message of an agent, translated into events.
type asked struct {
	// first are judged before event, in order. If one of them is refused, the message is refused.
	first []hook.Event
	event hook.Event
	// otherwise is judged instead if judging event fails; it may be nil. It must give less trust
	// than event.
	otherwise *hook.Event
	// afterStart says that the agent may report the event before the start of its session. The
	// event then waits for that.
	afterStart bool
	// double describes the call, for agents that report one call twice; second marks the second
	// report.
	double string
	second bool
	// window says that the agent would ask the person in its own window now if told to, and that
	// only the person can answer there.
	window bool
	// ended says how a question in the agent's window ended, if reported.
	ended windowEnd
	// instead are the judged arguments, with which an allowed call must run; nil if they are the
	// agent's own.
	instead json.RawMessage
	// result is a tool's result as the agent wrote it.
	result json.RawMessage
	// openclaw is the message itself, if it is from OpenClaw.
	openclaw openclawSays
}

// errNothing says that a message needs no answer.
var errNothing = errors.New("nothing is asked")

// answer is what an agent is told: the reply, or why there is none.
type answer struct {
	reply hook.Reply
	why   string // the line of a refusal; empty if nothing is refused
	// failed says that the monitor gave no decision.
	failed bool
	// ask says that the agent asks the person in its own window. words returns the question as
	// other channels word it, in at most so many characters.
	ask   bool
	words func(most int) string
	// args replace the arguments of the call; nil if they stay.
	args  json.RawMessage
	about asked
}

// dialectOf returns an agent's dialect by its name on the wire.
func dialectOf(agent string) (dialect, bool) {
	switch agent {
	case claudeName:
		return claude{}, true
	case codexName:
		return codex{}, true
	case copilotName:
		return copilot{}, true
	case cursorName:
		return cursor{}, true
	case geminiName:
		return gemini{}, true
	case openclawName:
		return openclaw{}, true
	case opencodeName:
		return opencode{}, true
	case piName:
		return pi{}, true
	}
	return nil, false
}

// Answer returns what the hook program must do. It never fails; any error is a refusal.
func (d Door) Answer(ctx context.Context, req hookframe.Request) hookframe.Response {
	lang, ok := dialectOf(req.Agent)
	if !ok {
		return hookframe.Refuse(fmt.Sprintf("the agent %q is not known; nothing it does is allowed.", floodmark.OneLine(req.Agent, 40)))
	}
	about, err := lang.read(req)
	switch {
	case errors.Is(err, errNothing):
		return lang.write(req.Event, answer{})
	case err != nil:
		return lang.write(req.Event, answer{why: "the hook's message was not understood, so nothing is allowed: " + err.Error() + ". Ask the person to compare the versions of the agent and of floodmark.", about: about})
	case about.ended != windowOpen:
		return lang.write(req.Event, d.windowEnded(ctx, about))
	case about.second && d.Doubles.take(about):
		return lang.write(req.Event, answer{about: about})
	}
	about.event.Call = d.Rewrites.judged(about.event)
	about, a := d.rewrite(about, d.judge(ctx, about))
	if a.args == nil {
		a.args = about.instead
	}
	if a.about = about; a.why == "" {
		d.Doubles.allowed(about)
	}
	return lang.write(req.Event, a)
}

// judge judges all events of a message and returns the answer.
func (d Door) judge(ctx context.Context, about asked) answer {
	for _, ev := range about.first {
		reply, err := d.ask(ctx, ev)
		if err != nil {
			return answer{why: sorry(err), failed: true}
		}
		if why := refusal(reply); why != "" {
			return answer{why: why}
		}
	}
	if about.afterStart {
		d.Starts.wait(ctx, about.event.Session)
	}
	if err := d.settle(ctx, about.event); err != nil {
		return answer{why: sorry(err), failed: true}
	}
	reply, err := d.asked(ctx, about)
	if about.event.Point == hook.SessionStart {
		d.Starts.came(about.event.Session)
	}
	if err != nil && about.otherwise != nil {
		reply, err = d.ask(ctx, *about.otherwise)
	}
	if err != nil {
		return answer{why: sorry(err), failed: true}
	}
	if d.Native.hand(about, reply) {
		return answer{reply: reply, why: refusal(reply), ask: true, words: d.Native.words(about.event.Session, reply.Ticket)}
	}
	return answer{reply: reply, why: refusal(reply)}
}

// asked asks the monitor about the main event of a message. It does not wait for a person if the
// agent asks in its own window.
func (d Door) asked(ctx context.Context, about asked) (hook.Reply, error) {
	wait := patience(atOnce)
	if d.Patience != nil && !d.Native.asks(about) {
		if about.event.Patience = d.Patience(ctx, about.event); about.event.Patience > 0 {
			wait = hookframe.Waiting
		}
	}
	reply, err := d.once(ctx, about.event)
	if err != nil || d.Native.asks(about) && windowed(reply) {
		return reply, err
	}
	return d.answered(ctx, about.event, reply, wait), nil
}

// ask judges one event, and judges it again if a person answered in time.
func (d Door) ask(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	reply, err := d.once(ctx, ev)
	if err != nil {
		return reply, err
	}
	return d.answered(ctx, ev, reply, atOnce), nil
}

func (d Door) once(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	if err := ev.Check(); err != nil {
		return hook.Reply{}, err
	}
	return d.handle(ctx, ev)
}

// A patience returns the context for waiting, and a function that returns the context for judging
// the call afterwards, as [hookframe.Waiting] does.
type patience func(ctx context.Context) (waiting context.Context, judge func() (context.Context, context.CancelFunc))

// atOnce is a patience that gives a person only the rest of the usual time.
func atOnce(ctx context.Context) (context.Context, func() (context.Context, context.CancelFunc)) {
	return ctx, func() (context.Context, context.CancelFunc) { return ctx, func() {} }
}

// answered waits for the answer to a reply's question, and judges the event again.
func (d Door) answered(ctx context.Context, ev hook.Event, reply hook.Reply, p patience) hook.Reply {
	if reply.Ticket == "" || d.Await == nil || reply.Decision.Verdict != floodmark.Confirm {
		return reply
	}
	waiting, judge := p(ctx)
	d.Shown.show(waiting, d.Tenant, ev, reply.Ticket)
	verdict, err := d.Await(waiting, journal.Session{Tenant: d.Tenant, ID: ev.Session}, reply.Ticket)
	ctx, cancel := judge()
	defer cancel()
	switch {
	case err != nil: // no answer in time: the question stays open
		reply.Line = reply.Held() + " Nobody has answered yet: the person answers question " + floodmark.OneLine(string(reply.Ticket), maxTicket) + " with «floodmark watch» in a terminal."
		return reply
	case verdict == floodmark.Confirm: // judging the call again would only ask again
		reply.Line = reply.Held() + " Nobody answered question " + floodmark.OneLine(string(reply.Ticket), maxTicket) + " in time, so it is over."
		return reply
	}
	if again, err := d.handle(ctx, ev); err == nil {
		return again
	}
	return reply
}

// handle returns a valid reply, or an error.
func (d Door) handle(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	reply, err := d.Hooks.Handle(ctx, d.Tenant, ev)
	if err == nil {
		err = reply.Check(ev.Point)
	}
	if err != nil {
		return hook.Reply{}, err
	}
	return reply, nil
}

// sorry returns an internal error in words for people, with a hint.
func sorry(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "there was no time left to judge this, so it is not allowed. Try again."
	case errors.Is(err, context.Canceled):
		return "floodmark is being stopped, so this is not allowed. Try again."
	}
	if errors.Is(err, hook.ErrNoBox) {
		return "refused because " + hook.ErrNoBox.Error() + ". Ask the person to look at «floodmark status --all»."
	}
	if known := (*monitor.Refusal)(nil); errors.As(err, &known) {
		return known.Reason + ", so it is not allowed. " + known.Hint
	}
	return "this could not be judged, so it is not allowed: " + err.Error() + "."
}

// refusal returns the line of a reply that does not allow, or an empty string. A reply that needs
// verifiers is also a refusal, because none was asked here.
func refusal(r hook.Reply) string {
	if r.Decision.Verdict == floodmark.Allow && len(r.Decision.Verifiers) == 0 && !r.BlockTurn {
		return ""
	}
	line := r.Line
	if line == "" && len(r.Decision.Reasons) > 0 {
		line = "refused because " + r.Decision.Reasons[0].Text + "."
	}
	if line == "" {
		line = "refused."
	}
	if r.Decision.Verdict == floodmark.Allow && len(r.Decision.Verifiers) > 0 {
		line = "refused because these must agree first and were not asked: " + strings.Join(r.Decision.Verifiers, ", ") + "."
	}
	if todo := r.Decision.Remedy.Agent; todo != "" {
		line += " " + todo
	}
	return line
}

// reason returns the line for the agent; it is never empty.
func (a answer) reason() string { return "floodmark: " + floodmark.OneLine(a.why, maxReason) }

// question returns the text that the person reads in the agent's own window, in at most so many
// bytes. It lacks the advice for the agent.
func (a answer) question(most int) string {
	if a.words != nil {
		// Multi-byte characters are rare; if there are many, the text gets shorter.
		for room := most; room > 0; room /= 2 {
			if text := a.words(room); text != "" && len(text) <= most {
				return printed(text)
			}
		}
	}
	line := a.reply.Line
	if line == "" {
		line = a.why
	}
	return floodmark.OneLine("floodmark: "+line, most)
}

// printed returns our own text of several lines, without control characters.
func printed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		lines[i] = indent + floodmark.OneLine(l, maxReason)
	}
	return strings.Join(lines, "\n")
}

// notice returns the answer to a command of the owner, in one line that is never empty.
func (a answer) notice() string {
	if notice := floodmark.OneLine(a.reply.Notice, maxReason); notice != "" {
		return "floodmark: " + notice
	}
	return "floodmark: done."
}
