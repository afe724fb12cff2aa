package mcpgateway

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// Agent is the name of clients that give no other. The catalog has under this name what a gateway
// reads without a call.
const Agent = "mcp"

// A Session is one client as the monitor knows it. It is safe for concurrent use.
type Session struct {
	judge Judge
	who   Client
	id    floodmark.SessionID

	starting sync.Mutex // one start at a time
	mu       sync.Mutex // guards what is below
	started  bool
	mark     *floodmark.Label // the last one received; nil if unknown
	heard    map[int]func()
	next     int
}

// A Client says whose session it is.
type Client struct {
	// Agent and Claims name an agent that reports by hooks and its session, if the client says that
	// it is part of that session. The monitor finds the session by the processes; it adds the mark
	// of the claimed session only if it finds none.
	Agent  string
	Claims floodmark.SessionID
	// Apart says that the process speaks for several clients: the monitor must not join the session
	// with others of the same process. Caller is the client's process, if known.
	Apart  bool
	Caller hook.Process
	// Project is the folder the client works in and Home the owner's.
	Project, Home string
	// Wait is how long the judge may also wait for a person.
	Wait time.Duration
	// Token is the name of the token the client showed, if it showed one.
	Token string
}

// NewSession returns the session of a client. The monitor is told of it with the first event.
func NewSession(j Judge, c Client) *Session {
	s := &Session{judge: j, who: c, id: floodmark.SessionID(hook.GatewaySession + rand.Text()), heard: map[int]func(){}}
	if c.Apart {
		s.id = "apart-" + s.id
	}
	if s.who.Agent == "" {
		s.who.Agent = Agent
	}
	return s
}

// ID names the session in the journal.
func (s *Session) ID() floodmark.SessionID { return s.id }

// tell asks about one event, after the start of the session was told.
func (s *Session) tell(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	if err := s.start(ctx); err != nil {
		return hook.Reply{}, err
	}
	return s.ask(ctx, ev)
}

func (s *Session) ask(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	if ev.Agent == "" {
		ev.Agent = s.who.Agent
	}
	ev.Session, ev.Gateway, ev.Claims, ev.Caller = s.id, true, s.who.Claims, s.who.Caller
	reply, err := s.judge.Handle(ctx, ev)
	if err == nil {
		err = ctx.Err() // an answer after the deadline does not count
	}
	return reply, err
}

// decide asks about a call. A question to a person may take its time.
func (s *Session) decide(ctx context.Context, ev hook.Event) (hook.Reply, error) {
	return s.within(ctx, judgeTime+s.who.Wait, ev)
}

// within asks about a call with a time limit.
func (s *Session) within(ctx context.Context, most time.Duration, ev hook.Event) (hook.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	return s.tell(ctx, ev)
}

func (s *Session) start(ctx context.Context) error {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.Lock()
	done := s.started
	s.mu.Unlock()
	if done {
		return nil
	}
	r, err := s.ask(ctx, hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: s.who.Project, Home: s.who.Home})
	if err == nil && !r.Allows() {
		err = errNotBegun
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	return nil
}

// End tells the monitor that the client has gone. A session that belongs to an
// agent's hooks goes on.
func (s *Session) End(ctx context.Context) error {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if !started {
		return nil
	}
	_, err := s.ask(ctx, hook.Event{Point: hook.SessionEnd})
	return err
}

// watch calls f whenever an event may have lowered the mark, until stop is called.
func (s *Session) watch(f func()) (stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.heard[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.heard, id)
	}
}

// took notifies the watchers, unless the mark is known to be unchanged.
func (s *Session) took(mark *floodmark.Label) {
	s.mu.Lock()
	if mark != nil && s.mark != nil && *mark == *s.mark {
		s.mu.Unlock()
		return
	}
	s.mark = mark
	list := make([]func(), 0, len(s.heard))
	for _, f := range s.heard {
		list = append(list, f)
	}
	s.mu.Unlock()
	for _, f := range list {
		f()
	}
}
