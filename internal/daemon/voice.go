package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/peer"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Most events can only tighten, so every process may send them. Three kinds loosen: the owner's
// words, that a person emptied the context, and that a schedule began a session, for which calls
// may have been allowed in advance. An agent's own loop reports those; the programs its model runs
// must not, though they run as the same user and reach the same socket. Reporting an old session as
// new loosens, too: in doubt, a session counts as one with a past.

// A speaker is the sender of an event. Over the network it is zero.
type speaker struct {
	peer.Peer
	// local says that it is on this machine: then the system must know it. framed says that it
	// spoke in a frame, as the hooks of known agents do.
	local, framed bool
	// agent is the agent whose hook program it is; empty for an agent that reports by itself.
	agent string
}

type speakerKey struct{}

func withSpeaker(ctx context.Context, s speaker) context.Context {
	return context.WithValue(ctx, speakerKey{}, s)
}

// loosens reports whether a session may be less restricted after an event.
func loosens(ev hook.Event) bool {
	return ev.Point == hook.MessageReceived && (ev.Origin.IsOwner || ev.Origin.Kind == floodmark.FromSystem) ||
		ev.Point == hook.SessionStart && ev.Cause == hook.Clear && ev.ByPerson
}

var errNotItsVoice = errors.New("what an agent runs cannot speak for the owner")

// hear refuses events that loosen a session if they come from below a guarded agent. An agent's
// hook program is below it too; [voices] tells it apart from the others.
func (d *Daemon) hear(s speaker, ev hook.Event) error {
	if !loosens(ev) {
		return nil
	}
	if ev.Gateway || strings.HasPrefix(string(ev.Session), hook.GatewaySession) {
		return fmt.Errorf("%w: a gateway hears no person, and %s speaks for %.100q", errNotItsVoice, place(s.PID), ev.Session)
	}
	if !s.framed && agents.Owns(ev.Session) {
		return fmt.Errorf("%w: %.100q belongs to the hooks of its agent", errNotItsVoice, ev.Session)
	}
	if name, below := d.guarded.Below(s.Peer, s.agent); below {
		return fmt.Errorf("%w: %s, which speaks for %.100q, descends from %s, which this monitor guards", errNotItsVoice, place(s.PID), ev.Session, name)
	}
	return nil
}

// descends reports whether a speaker is below another guarded agent than its own.
func (d *Daemon) descends(s speaker) bool {
	_, below := d.guarded.Below(s.Peer, s.agent)
	return below
}

// heard judges events after checking who speaks.
type heard struct {
	watchedHooks
	d *Daemon
}

// Handle judges one event, if its speaker may send it.
func (h heard) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	s, _ := ctx.Value(speakerKey{}).(speaker)
	window := ev.Window
	ev.Window = nil
	if ev.Gateway {
		return h.gateway(ctx, tenant, s, ev, window)
	}
	return h.handle(ctx, tenant, s, ev, window)
}

// gateway judges an event of a gateway in the session it belongs to.
func (h heard) gateway(ctx context.Context, tenant string, s speaker, ev hook.Event, window *hook.Window) (hook.Reply, error) {
	ev, by, answer, done := h.d.branches.join(s, ev)
	if done {
		return answer, nil
	}
	session := journal.Session{Tenant: tenant, ID: ev.Session}
	counted, err := h.d.beside(ctx, session, by)
	if err != nil {
		return hook.Reply{}, err
	}
	h.d.windows.note(s, ev)
	if by.below {
		window = nil // a program that the agent runs could answer there
	}
	if window != nil && window.Ticket != "" {
		return h.answered(ctx, tenant, s, ev, *window)
	}
	reply, err := h.handle(ctx, tenant, s, ev, window)
	if err == nil && !counted { // the session is open now
		if _, err = h.d.beside(ctx, session, by); err != nil {
			return hook.Reply{}, err
		}
	}
	return reply, err
}

func (h heard) handle(ctx context.Context, tenant string, s speaker, ev hook.Event, window *hook.Window) (hook.Reply, error) {
	session := journal.Session{Tenant: tenant, ID: ev.Session}
	h.d.marks.moved(session)
	defer h.d.marks.moved(session)
	if s.local && s.PID == 0 {
		// The system does not name the speaker, as for a process in a container: its words may be
		// any program's.
		if ev.Origin.IsOwner, ev.ByPerson = false, false; ev.Origin.Kind == floodmark.FromSystem {
			ev.Origin.Kind = floodmark.FromUnknown
		}
	}
	if s.framed && s.PID != 0 {
		reply, done, err := h.branch(ctx, tenant, s, ev)
		h.d.branches.heard(s, ev)
		if done || err != nil {
			return reply, err
		}
	}
	if s.PID != 0 && !ev.Gateway && ev.Point == hook.SessionStart && ev.Cause == hook.Startup && h.d.descends(s) {
		ev.Cause = hook.Resume // a model began it, whose past is unknown
	}
	if err := h.d.hear(s, ev); err != nil {
		h.d.incident(ctx, "not-the-owners-voice", err.Error())
		return hook.Reply{}, &monitor.Refusal{Reason: errNotItsVoice.Error(), Hint: "Only the agent itself reports what its owner says.", Err: err}
	}
	program := s.agent != "" && s.PID != 0
	if program && loosens(ev) {
		if why := h.d.voices.believe(s, ev.Session); why != nil {
			h.d.incident(ctx, "not-the-owners-voice", whose(ev, s, why))
			ev = notTheOwners(ev)
		}
	}
	if program && ev.Point == hook.SessionStart && ev.Cause == hook.Startup {
		if h.d.voices.begins(s, ev.Session) != nil {
			h.d.incident(ctx, "not-a-new-session", fmt.Sprintf("session %.100q is not believed to be new: a call of its agent could have said so, or what one left behind; said by %s", ev.Session, s.Line()))
			ev.Cause = hook.Resume // its content is unknown
		}
	}
	reply, err := h.watchedHooks.Handle(ctx, tenant, ev)
	if program && err == nil {
		h.d.voices.note(s, ev, reply.Decision.Verdict)
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
func (h heard) branch(ctx context.Context, tenant string, s speaker, ev hook.Event) (reply hook.Reply, done bool, err error) {
	b := h.d.branches
	switch {
	case b.begins(s, ev):
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, true, nil
	case loosens(ev) && ev.Point == hook.MessageReceived:
		br, is := b.prompted(s, ev)
		if !is {
			return hook.Reply{}, false, nil
		}
		reply, err := h.watchedHooks.Handle(ctx, tenant, hook.Event{
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

// gather makes what the branches of a session have read count for it, before the result of a call
// that may hold their words is judged.
func (h heard) gather(ctx context.Context, tenant string, ev hook.Event) error {
	list := h.d.branches.told(ev.Session)
	for i, child := range list {
		_, err := h.watchedHooks.Handle(ctx, tenant, hook.Event{Point: hook.SubagentEnded, Session: ev.Session, Agent: ev.Agent, Child: child})
		if err != nil {
			h.d.branches.untold(ev.Session, list[i:])
			return err
		}
	}
	return nil
}
