// Package speakers decides which session an event belongs to and whose words it carries, by the
// process that sent it.
package speakers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Most events can only restrict a session further, so every process may send them. Three kinds
// loosen it: words of the owner, the report that a person emptied the context, and the report that a
// schedule began a session, for which calls may have been allowed in advance. Only an agent's own
// loop may send these. The programs that its model runs must not, though they run as the same user
// and reach the same socket. Reporting an old session as new loosens it, too, so in doubt a session
// is judged as one with an unknown past.

// A Speaker is the sender of an event. Over the network it is zero.
type Speaker struct {
	peer.Peer
	// Local says that the speaker is a process on this machine; a speaker that the system does not
	// name cannot speak for the owner. Framed says that it sent a frame, as hooks of known agents
	// do.
	Local, Framed bool
	// Agent is the agent whose hook program the speaker is; empty for an agent that reports without
	// a hook program.
	Agent string
}

type speakerKey struct{}

// With returns a context for events that s sends.
func With(ctx context.Context, s Speaker) context.Context {
	return context.WithValue(ctx, speakerKey{}, s)
}

// Options are what a Door is made of. All of them are required unless a comment says otherwise.
type Options struct {
	// Hooks judges the events that are let through.
	Hooks   agents.Hooks
	Monitor *monitor.Monitor
	// Table finds processes, and Ticks returns the current time on its clock.
	Table   peer.Table
	Ticks   func() uint64
	Guarded *peer.Guarded
	Now     func() time.Time
	// Marks caches the marks of sessions; it must be told of every event.
	Marks *Marks
	// Native are the agents that ask in their own window. Elicits are the clients of gateways that
	// ask in theirs. Both may be empty.
	Native, Elicits []string
	// Await waits for the answer to a question, if a person could give one.
	Await func(context.Context, journal.Session, floodmark.TicketID) (floodmark.Verdict, error)
	// Routed reports whether only members of a group may answer a question.
	Routed   func(monitor.Pending) bool
	Incident func(ctx context.Context, kind, text string)
}

// A Door judges events after checking which process sent them.
type Door struct {
	opts     Options
	voices   *activities
	branches *branches
	windows  *windows // the questions shown in the windows of gateways' clients
}

// Open makes a Door, which begins to watch processes now.
func Open(o Options) *Door {
	return &Door{
		opts: o, voices: newActivities(o.Table, o.Ticks, o.Native), branches: newBranches(o.Table, o.Guarded, o.Ticks()),
		windows: newWindows(o.Elicits, o.Guarded, o.Now),
	}
}

// loosens reports whether a session may be less restricted after an event.
func loosens(ev hook.Event) bool {
	return ev.Point == hook.MessageReceived && (ev.Origin.IsOwner || ev.Origin.Kind == floodmark.FromSystem) ||
		ev.Point == hook.SessionStart && ev.Cause == hook.Clear && ev.ByPerson
}

// ErrNotItsVoice refuses words of the owner, and whatever else loosens, from a program that an agent
// runs.
var ErrNotItsVoice = errors.New("what an agent runs cannot speak for the owner")

// hear refuses events that loosen a session if they come from below a guarded agent. An agent's own
// hook program is let through here; [activities] tells it apart from what the agent runs.
func (h *Door) hear(s Speaker, ev hook.Event) error {
	if !loosens(ev) {
		return nil
	}
	if ev.Gateway || strings.HasPrefix(string(ev.Session), hook.GatewaySession) {
		return fmt.Errorf("%w: a gateway hears no person, and process %d speaks for %.100q", ErrNotItsVoice, s.PID, ev.Session)
	}
	if !s.Framed && agents.Owns(ev.Session) {
		return fmt.Errorf("%w: %.100q belongs to the hooks of its agent", ErrNotItsVoice, ev.Session)
	}
	if name, below := h.opts.Guarded.Below(s.Peer, s.Agent); below {
		return fmt.Errorf("%w: process %d, which speaks for %.100q, descends from %s, which this monitor guards", ErrNotItsVoice, s.PID, ev.Session, name)
	}
	return nil
}

// descends reports whether a speaker is below a guarded agent other than its own.
func (h *Door) descends(s Speaker) bool {
	_, below := h.opts.Guarded.Below(s.Peer, s.Agent)
	return below
}

// Handle judges one event, if its speaker may send it.
func (h *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	s, _ := ctx.Value(speakerKey{}).(Speaker)
	window := ev.Window
	ev.Window = nil
	if ev.Gateway {
		return h.gateway(ctx, tenant, s, ev, window)
	}
	return h.handle(ctx, tenant, s, ev, window)
}

// gateway judges an event of a gateway in the session it belongs to.
func (h *Door) gateway(ctx context.Context, tenant string, s Speaker, ev hook.Event, window *hook.Window) (hook.Reply, error) {
	ev, by, answer, done := h.branches.join(s, ev)
	if done {
		return answer, nil
	}
	session := journal.Session{Tenant: tenant, ID: ev.Session}
	counted, err := h.beside(ctx, session, by)
	if err != nil {
		return hook.Reply{}, err
	}
	h.windows.note(s, ev)
	if by.below {
		window = nil // a program that the agent runs could answer there
	}
	if window != nil && window.Ticket != "" {
		return h.answered(ctx, tenant, s, ev, *window)
	}
	reply, err := h.handle(ctx, tenant, s, ev, window)
	if err == nil && !counted { // the session is open now
		if _, err = h.beside(ctx, session, by); err != nil {
			return hook.Reply{}, err
		}
	}
	return reply, err
}

func (h *Door) handle(ctx context.Context, tenant string, s Speaker, ev hook.Event, window *hook.Window) (hook.Reply, error) {
	session := journal.Session{Tenant: tenant, ID: ev.Session}
	h.opts.Marks.Moved(session)
	defer h.opts.Marks.Moved(session)
	if s.Local && s.PID == 0 {
		// The system does not name the speaker, as for a process in a container: its words may be
		// any program's.
		if ev.Origin.IsOwner, ev.ByPerson = false, false; ev.Origin.Kind == floodmark.FromSystem {
			ev.Origin.Kind = floodmark.FromUnknown
		}
	}
	if s.Framed && s.PID != 0 {
		reply, done, err := h.branch(ctx, tenant, s, ev)
		h.branches.heard(s, ev)
		if done || err != nil {
			return reply, err
		}
	}
	if s.PID != 0 && !ev.Gateway && ev.Point == hook.SessionStart && ev.Cause == hook.Startup && h.descends(s) {
		ev.Cause = hook.Resume // a model began the session, and what that model has read is unknown
	}
	if err := h.hear(s, ev); err != nil {
		h.opts.Incident(ctx, "not-the-owners-voice", err.Error())
		return hook.Reply{}, &monitor.Refusal{Reason: ErrNotItsVoice.Error(), Hint: "Only the agent itself reports what its owner says.", Err: err}
	}
	program := s.Agent != "" && s.PID != 0
	if program && loosens(ev) {
		if why := h.voices.believe(s, ev.Session); why != nil {
			h.opts.Incident(ctx, "not-the-owners-voice", whose(ev, s, why))
			ev = notTheOwners(ev)
		}
	}
	if program && ev.Point == hook.SessionStart && ev.Cause == hook.Startup {
		if h.voices.begins(s, ev.Session) != nil {
			h.opts.Incident(ctx, "not-a-new-session", fmt.Sprintf("session %.100q is not believed to be new: a call of its agent could have said so, or what one left behind; said by %s", ev.Session, s.Line()))
			ev.Cause = hook.Resume // what the session has read is unknown
		}
	}
	reply, err := h.opts.Hooks.Handle(ctx, tenant, ev)
	if program && err == nil {
		h.voices.note(s, ev, reply.Decision.Verdict)
	}
	if err == nil && window != nil {
		reply.Ask = h.ask(tenant, s, ev, *window, reply)
	}
	if err == nil && reply.Ask == nil {
		reply = h.held(ctx, tenant, ev, reply)
	}
	return reply, err
}

// branch judges the events of an agent that another one started; done says that nothing is left to
// judge.
func (h *Door) branch(ctx context.Context, tenant string, s Speaker, ev hook.Event) (reply hook.Reply, done bool, err error) {
	b := h.branches
	switch {
	case b.begins(s, ev):
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, true, nil
	case loosens(ev) && ev.Point == hook.MessageReceived:
		br, is := b.prompted(s, ev)
		if !is {
			return hook.Reply{}, false, nil
		}
		reply, err := h.opts.Hooks.Handle(ctx, tenant, hook.Event{
			Point: hook.SubagentSpawned, Session: br.parent, Agent: br.agent, Child: ev.Session, Text: ev.Text,
		})
		if err != nil {
			return hook.Reply{}, false, nil //nolint:nilerr // then it is refused like any other prompt
		}
		b.begun(ev.Session, br.parent)
		return reply, true, nil
	case ev.Point == hook.AfterToolCall:
		return hook.Reply{}, false, h.gather(ctx, tenant, ev)
	}
	return hook.Reply{}, false, nil
}

// gather adds the marks of a session's branches to the session. It is called before the result of a
// call is judged, because the result may contain words of the branches.
func (h *Door) gather(ctx context.Context, tenant string, ev hook.Event) error {
	list := h.branches.told(ev.Session)
	for i, child := range list {
		_, err := h.opts.Hooks.Handle(ctx, tenant, hook.Event{Point: hook.SubagentEnded, Session: ev.Session, Agent: ev.Agent, Child: child})
		if err != nil {
			h.branches.untold(ev.Session, list[i:])
			return err
		}
	}
	return nil
}
