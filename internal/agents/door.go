// Package agents is the door for agents that report to hooks: it turns each agent's own message
// into hook events, asks the monitor, and answers in that agent's exact words. It makes no
// decisions. A message it does not understand is refused, in the way that agent obeys.
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
	"github.com/floodmark/floodmark/internal/hookframe"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Hooks judges events; the monitor does.
type Hooks interface {
	Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error)
}

// A Door answers for every agent we know.
type Door struct {
	// Hooks judges. It must be there.
	Hooks Hooks
	// Tenant owns what comes through this door; empty on a laptop.
	Tenant string
	// Await is optional: it returns when a question was answered, or with an
	// error when there is no more time. The call is then judged once more; the
	// verdict given here alone lets nothing run.
	Await func(ctx context.Context, s journal.Session, ticket floodmark.TicketID) (floodmark.Verdict, error)
	// Patience is optional: it says how long a person is waited for if an event is
	// asked about; zero for no longer than any answer takes.
	Patience func(ctx context.Context, ev hook.Event) time.Duration
	// Shown is optional: it lets agents show a question while they wait.
	Shown *Shown
	// Starts is optional: it keeps what comes after the start of a session from
	// being judged before it.
	Starts *Starts
	// Native is optional: it lets agents ask in their own window.
	Native *Native
	// Doubles is optional: it lets a call that is reported twice be judged once.
	Doubles *Doubles
	// Rewrites is optional: it lets an agent run another command than the one it
	// proposed. Without it such a reply is a refusal.
	Rewrites *Rewrites
}

// The limits on what an agent is told. It is one line that a model reads.
const (
	maxReason = 2000 // bytes
	maxTicket = 64   // of a question's name in it
)

// dialect is one agent's language.
type dialect interface {
	// read turns a message into what is to be judged.
	read(req hookframe.Request) (asked, error)
	// write gives the answer.
	write(event string, a answer) hookframe.Response
}

// asked is one message in our own words.
type asked struct {
	// first are judged before event, in order. What refuses one of them refuses
	// the message.
	first []hook.Event
	event hook.Event
	// otherwise, unless nil, is judged if event cannot be: it must be the less
	// believing of the two.
	otherwise *hook.Event
	// afterStart says that the agent may report the event before the start of
	// its session, though it comes after it.
	afterStart bool
	// double names what a call does, for agents that report one call twice;
	// second says that this is the second time.
	double string
	second bool
	// window says that the agent would ask the person now if it were told to,
	// and that nothing but the person answers.
	window bool
	// ended says how a question in the agent's window ended, if it tells.
	ended windowEnd
	// result is what a tool gave, as the agent wrote it.
	result json.RawMessage
	// openclaw is the message itself, if it is OpenClaw's.
	openclaw openclawSays
}

// errNothing says that a message is understood and asks for nothing.
var errNothing = errors.New("nothing is asked")

// answer is what an agent must be told: the reply, or why there is none.
type answer struct {
	reply hook.Reply
	why   string // not empty: a refusal, and its one line
	// failed says that the monitor gave no decision.
	failed bool
	// ask says that the agent asks the person in its own window; words is the
	// question as other channels word it, for so many characters.
	ask   bool
	words func(most int) string
	// args, unless nil, are what the call is made with instead of its own.
	args  json.RawMessage
	about asked
}

// dialectOf knows every agent, by its name on the wire.
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

// Answer says what the hook program must do. It never fails: any error is a refusal.
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
	if a.about = about; a.why == "" {
		d.Doubles.allowed(about)
	}
	return lang.write(req.Event, a)
}

// judge asks about all that a message says.
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

// asked asks the monitor about a message. It does not wait for an answer where the agent asks in
// its own window.
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

// ask asks about one event, and once more when a person answered in time.
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

// A patience says under what a person is waited for, and under what the call is
// judged then, as [hookframe.Waiting] does.
type patience func(ctx context.Context) (waiting context.Context, judge func() (context.Context, context.CancelFunc))

// atOnce gives a person what is left of the usual time: more is to be judged after it.
func atOnce(ctx context.Context) (context.Context, func() (context.Context, context.CancelFunc)) {
	return ctx, func() (context.Context, context.CancelFunc) { return ctx, func() {} }
}

// answered waits for the answer to the question that a reply has asked, and asks again.
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
	case err != nil: // no answer in time: the question stands
		reply.Line = reply.Held() + " Nobody has answered yet: the person answers question " + floodmark.OneLine(string(reply.Ticket), maxTicket) + " with «floodmark watch» in a terminal."
		return reply
	case verdict == floodmark.Confirm: // to judge it again would only ask again
		reply.Line = reply.Held() + " Nobody answered question " + floodmark.OneLine(string(reply.Ticket), maxTicket) + " in time, so it is over."
		return reply
	}
	if again, err := d.handle(ctx, ev); err == nil {
		return again
	}
	return reply
}

// handle returns a reply that can be done, or an error.
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

// sorry words an error of ours. Errors that people see bring a hint along.
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

// refusal returns the line of a reply that does not let things go on, or empty. A verifier that was
// not asked has not agreed.
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

// reason is what an agent is told, in one line that is never empty.
func (a answer) reason() string { return "floodmark: " + floodmark.OneLine(a.why, maxReason) }

// question is what the person reads in the agent's own window, in at most so many
// bytes. What the agent could do instead is not for them.
func (a answer) question(most int) string {
	if a.words != nil {
		// Letters that take two bytes and more are few; if not, less is said.
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

// printed is a text of ours in lines, without anything a terminal would obey.
func printed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		indent := l[:len(l)-len(strings.TrimLeft(l, " "))]
		lines[i] = indent + floodmark.OneLine(l, maxReason)
	}
	return strings.Join(lines, "\n")
}

// notice answers a command of the owner, in one line that is never empty.
func (a answer) notice() string {
	if notice := floodmark.OneLine(a.reply.Notice, maxReason); notice != "" {
		return "floodmark: " + notice
	}
	return "floodmark: done."
}
