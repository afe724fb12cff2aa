package agents

import (
	"context"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// Native hands questions to agents that ask the person in their own window. An agent is listed only
// if its owner confirmed by a test that it does ask, and that no mode answers by itself. The result
// of the call proves that the person approved. Any other event first closes the question, and the
// call counts as one that may have run. Native is safe for concurrent use; nil hands on nothing.
type Native struct {
	on     []string
	answer func(ctx context.Context, s journal.Session, ticket floodmark.TicketID, verdict floodmark.Verdict, channel string) error
	// Picks is optional: it reports a question whose approval needs a pick.
	Picks func(s floodmark.SessionID, ticket floodmark.TicketID) bool
	// Words is optional: it words a question of one call within a number of characters; empty if
	// the question cannot be read.
	Words func(s floodmark.SessionID, t floodmark.TicketID, most int) string

	mu sync.Mutex // guards what is below
	// handed are the questions open in a window, at most one a session.
	handed map[floodmark.SessionID]handed
	// asked is a session's newest question, with the call it was opened for.
	asked map[floodmark.SessionID]opened
}

type handed struct {
	event  hook.Event
	ticket floodmark.TicketID
}

type opened struct {
	ticket floodmark.TicketID
	call   floodmark.CallID
}

// maxNative bounds the sessions in memory. Beyond it all are dropped: then the result of an
// approved call is an incident.
const maxNative = 4096

// CanAsk reports whether an agent may be told to ask in its own window. Cursor obeys that at some
// events only and does not report its mode. OpenClaw was tested to ask in a chat, to accept only
// the owner's answer, and to run nothing without one.
func CanAsk(agent string) bool { return agent == claudeName || agent == openclawName }

// NewNative returns a Native for the named agents. Answer closes a question of a session as the
// person answered in that window.
func NewNative(on []string, answer func(ctx context.Context, s journal.Session, ticket floodmark.TicketID, verdict floodmark.Verdict, channel string) error) *Native {
	on = slices.DeleteFunc(slices.Clone(on), func(agent string) bool { return !CanAsk(agent) })
	return &Native{on: on, answer: answer, handed: map[floodmark.SessionID]handed{}, asked: map[floodmark.SessionID]opened{}}
}

// words returns the wording of a question; nil if there is none.
func (n *Native) words(s floodmark.SessionID, t floodmark.TicketID) func(most int) string {
	if n.Words == nil {
		return nil
	}
	return func(most int) string { return n.Words(s, t, most) }
}

// asks reports whether the agent of a message asks in its own window.
func (n *Native) asks(about asked) bool {
	return n != nil && about.window && slices.Contains(n.on, floodmark.Program(about.event.Agent))
}

// windowed reports a reply whose question may be asked in an agent's window. After an approval
// there the agent makes the call unchanged, and we learn of it when it has run: a call that must
// stay in its box would run without one, and the agent would make a push that the monitor has to
// make.
func windowed(r hook.Reply) bool {
	return r.Ticket != "" && r.Shown.IsZero() && r.Decision.Verdict == floodmark.Confirm && r.Decision.Reach == floodmark.Free && len(r.Decision.Verifiers) == 0 && !r.BlockTurn
}

// hand hands a question on, if it holds only this call, because the window shows no other. A place
// cannot be picked there either.
func (n *Native) hand(about asked, reply hook.Reply) bool {
	if n == nil || !windowed(reply) {
		return false
	}
	ev := about.event
	if n.Picks != nil && n.Picks(ev.Session, reply.Ticket) {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.asked) >= maxNative || len(n.handed) >= maxNative {
		clear(n.asked)
		clear(n.handed)
	}
	was, known := n.asked[ev.Session]
	alone := !known || was.ticket != reply.Ticket || was.call == ev.Call.ID
	if alone {
		n.asked[ev.Session] = opened{reply.Ticket, ev.Call.ID}
	}
	if !alone || ev.Call.ID == "" || !slices.Contains(n.on, floodmark.Program(ev.Agent)) || !about.window {
		return false
	}
	n.handed[ev.Session] = handed{ev, reply.Ticket}
	return true
}

// take returns the question that is open in the window of a session.
func (n *Native) take(s floodmark.SessionID) (handed, bool) {
	if n == nil {
		return handed{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h, open := n.handed[s]
	delete(n.handed, s)
	return h, open
}

// A windowEnd is how a question in an agent's window ended, if reported.
type windowEnd uint8

const (
	windowOpen       windowEnd = iota // it tells nothing
	windowAgreed                      // the call's result will follow
	windowDenied                      // the person denied
	windowUnanswered                  // no answer, and the call did not run
)

// windowEnded records how a question ended. It can only close it: an approval shows in the call's
// result.
func (d Door) windowEnded(ctx context.Context, about asked) answer {
	ev := about.event
	h, open := d.Native.take(ev.Session)
	if !open {
		return answer{}
	}
	if h.event.Call.ID != ev.Call.ID || about.ended == windowAgreed {
		d.Native.keep(ev.Session, h)
		return answer{}
	}
	if about.ended == windowUnanswered {
		return answer{} // it stays open in other channels
	}
	s := journal.Session{Tenant: d.Tenant, ID: ev.Session}
	if err := d.Native.answer(ctx, s, h.ticket, floodmark.Restrict, "window of "+floodmark.Program(h.event.Agent)); err != nil {
		d.Native.keep(ev.Session, h)
		return answer{why: sorry(err)}
	}
	return answer{}
}

// keep puts an open question back.
func (n *Native) keep(s floodmark.SessionID, h handed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handed[s] = h
}

// settle closes the question in the window of an event's session. If that cannot be recorded, the
// question stays open and the event is refused.
func (d Door) settle(ctx context.Context, ev hook.Event) error {
	if ev.GoesOn() {
		return nil
	}
	h, open := d.Native.take(ev.Session)
	if !open {
		return nil
	}
	err := d.close(ctx, ev, h)
	if err != nil {
		d.Native.keep(ev.Session, h)
	}
	return err
}

// close records what an event says about a question in a window: the result of its call means
// approved. An error may be the person's denial; after any other event it is unknown whether the
// call ran.
func (d Door) close(ctx context.Context, ev hook.Event, h handed) error {
	s := journal.Session{Tenant: d.Tenant, ID: ev.Session}
	channel := "window of " + floodmark.Program(h.event.Agent)
	if ev.Point == hook.AfterToolCall && ev.Call.ID == h.event.Call.ID && !ev.Result.Error {
		if err := d.Native.answer(ctx, s, h.ticket, floodmark.Allow, channel); err != nil {
			return err
		}
		_, err := d.Hooks.Handle(ctx, d.Tenant, h.event) // that answer allows it, or an incident follows
		return err
	}
	if err := d.Native.answer(ctx, s, h.ticket, floodmark.Restrict, channel); err != nil {
		return err
	}
	_, err := d.Hooks.Handle(ctx, d.Tenant, hook.Event{
		Point: hook.ContextAssembled, Session: ev.Session, Agent: ev.Agent,
		Sources: []hook.Content{{
			Kind:   floodmark.NodeToolResult,
			Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: h.event.Call.Name, Server: h.event.Call.Server},
		}},
	})
	return err
}
