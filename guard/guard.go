// Package guard connects an agent that is written in Go to a monitor: it reports what happens in
// one conversation and does what the monitor answers. It judges nothing itself. Any error is a
// refusal: a tool runs only if the answer was exactly «allow», and its result is returned only if
// the monitor has recorded it.
//
// The monitor may run in the same process ([embedded.Guard]) or be a daemon ([client.Client]).
//
// [embedded.Guard]: https://pkg.go.dev/github.com/floodmark/floodmark/embedded
// [client.Client]: https://pkg.go.dev/github.com/floodmark/floodmark/client
package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// DefaultTimeout is how long one answer may take.
const DefaultTimeout = 10 * time.Second

// A Judge decides what an agent may do. If it returns an error, nothing is allowed and the reply is
// ignored.
type Judge interface {
	Handle(ctx context.Context, ev hook.Event) (hook.Reply, error)
}

// A Waiter is a Judge that can wait for a person's answer to a question.
type Waiter interface {
	Judge
	// Await returns when the question is closed or ctx ends. The verdict is information, not
	// permission.
	Await(ctx context.Context, session floodmark.SessionID, ticket floodmark.TicketID) (floodmark.Verdict, error)
}

// Options describe one conversation.
type Options struct {
	// Agent is the name under which the policy knows the agent's tools. It is required.
	Agent string
	// Session names the conversation, the same across restarts. If it is empty, the conversation
	// gets a new name.
	Session floodmark.SessionID
	// Resume says that the conversation began earlier, perhaps without a monitor. The monitor knows
	// only what it recorded of that time.
	Resume bool
	// Project is the folder that the agent works in, for relative paths. Home is the owner's home
	// folder, for ~.
	Project, Home string
	// Timeout bounds each answer; zero means [DefaultTimeout].
	Timeout time.Duration
	// Wait is how long a call that needs a person's approval waits for it, if the monitor is a
	// [Waiter]. If it is zero, such a call is refused at once, and may be tried again after the
	// approval.
	Wait time.Duration
}

// A Session is one conversation of one agent. It is safe for concurrent use.
type Session struct {
	judge   Judge
	opts    Options
	rounds  atomic.Int64 // calls of the model in this turn
	refused lines
}

// Start tells the monitor that a conversation begins.
func Start(ctx context.Context, j Judge, o Options) (*Session, error) {
	if j == nil || o.Agent == "" {
		return nil, errors.New("start a session: it needs a monitor and the agent's name")
	}
	if o.Session == "" {
		o.Session = floodmark.SessionID(rand.Text())
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	cause := hook.Startup
	if o.Resume {
		cause = hook.Resume
	}
	s := &Session{judge: j, opts: o}
	_, err := s.ask(ctx, hook.Event{Point: hook.SessionStart, Cause: cause, Project: o.Project, Home: o.Home})
	if err != nil {
		return nil, fmt.Errorf("start session %s: %w", o.Session, err)
	}
	return s, nil
}

// ID returns the name of the conversation.
func (s *Session) ID() floodmark.SessionID { return s.opts.Session }

// A Heard is the monitor's answer to a message.
type Heard struct {
	// Consumed says that the message was a command to the monitor, which the model must not see.
	// Notice is the answer to it, for the owner only.
	Consumed bool
	Notice   string
}

// A Message is a message to the agent. The program that fills it in is responsible for Origin: only
// a channel that has authenticated the sender may set IsOwner.
type Message struct {
	Origin floodmark.Origin
	Text   string
	// Typed says that all of Text was typed, and that pastes are in Parts. Otherwise a long text is
	// taken for pasted, and a paste is not the sender's own word.
	Typed bool
	// Parts are what else the message contains: quotes, files, pastes.
	Parts []hook.Content
}

// Said reports to the monitor what the owner wrote, in a conversation where only the owner can
// write. Call it before the message is given to the model. If it returns an error, the message must
// not be passed on.
func (s *Session) Said(ctx context.Context, text string) (Heard, error) {
	owner := floodmark.Origin{Kind: floodmark.FromSender, Name: s.opts.Agent, Sender: "owner", IsOwner: true}
	return s.Hear(ctx, Message{Origin: owner, Text: text})
}

// Hear is [Session.Said] for a message of any sender.
func (s *Session) Hear(ctx context.Context, m Message) (Heard, error) {
	r, err := s.ask(ctx, hook.Event{Point: hook.MessageReceived, Origin: m.Origin, Text: m.Text, Typed: m.Typed, Parts: m.Parts})
	if err != nil {
		return Heard{}, err
	}
	s.rounds.Store(0)
	return Heard{Consumed: r.Consumed, Notice: r.Notice}, nil
}

// Emit asks whether an answer may go out and returns the text to send, in which links may have been
// made harmless and a note on its sources added. If it returns an error, nothing may go out.
func (s *Session) Emit(ctx context.Context, to hook.Audience, text string) (string, error) {
	r, err := s.ask(ctx, hook.Event{Point: hook.BeforeResponseEmit, Audience: to, Text: text})
	if err != nil {
		return "", err
	}
	if r.Text != "" {
		text = r.Text
	}
	if r.Footer != "" {
		text += "\n\n(" + r.Footer + ")"
	}
	return text, nil
}

// BeforeModel reports everything that the model is about to see, and the tools that it would be
// offered. Text that was not reported before is not trusted. The reply lists the tools to hide.
func (s *Session) BeforeModel(ctx context.Context, messages []hook.Content, tools []hook.Tool) (hook.Reply, error) {
	round := int(s.rounds.Add(1) - 1)
	return s.ask(ctx, hook.Event{Point: hook.BeforeLLMCall, Messages: messages, Tools: tools, Iteration: round})
}

// AfterModel reports the calls that the model proposes, so that all calls of one response are
// judged by what the model had seen then. Each call is still decided when it is made.
func (s *Session) AfterModel(ctx context.Context, calls []hook.Call) error {
	_, err := s.ask(ctx, hook.Event{Point: hook.AfterLLMCall, Calls: calls})
	return err
}

// End reports that the conversation is over for now.
func (s *Session) End(ctx context.Context) error {
	_, err := s.ask(ctx, hook.Event{Point: hook.SessionEnd})
	return err
}

// ask asks about one event. It returns an error unless the answer allows the event.
func (s *Session) ask(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	ev.Agent, ev.Session = s.opts.Agent, s.opts.Session
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	r, err := s.judge.Handle(ctx, ev)
	if err == nil {
		err = ctx.Err() // an answer after the deadline is ignored
	}
	if err == nil && r.Allows() {
		return r, nil
	}
	d := denied(r, err)
	s.refused.add(d.Error())
	return hook.Reply{}, d
}

type sessionKey struct{}

// With returns a context with a session, for frameworks that call tools themselves.
func With(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// From returns the session of a context. Without one it returns an error that refuses, because a
// call outside of a conversation must not be made.
func From(ctx context.Context) (*Session, error) {
	if s, ok := ctx.Value(sessionKey{}).(*Session); ok && s != nil {
		return s, nil
	}
	return nil, &Denied{Line: "no session was started for this call, so it is not allowed."}
}
