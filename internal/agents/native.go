package agents

import (
	"context"
	"slices"
	"sync"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
)

// Native lets agents ask the person in their own window. An agent is listed only if its owner
// confirmed by a test that it does ask, and that no mode of it answers by itself.
//
// The result of the call proves that the person approved. If any other event comes first, the
// question is closed, and the call is treated as one that may have run. Native is safe for
// concurrent use. A nil Native lets no agent ask.
type Native struct {
	on     []string
	answer func(ctx context.Context, s journal.Session, ticket floodmark.TicketID, verdict floodmark.Verdict, channel string) error
	// Picks is optional. It reports whether the approval of a question needs a pick.
	Picks func(s floodmark.SessionID, ticket floodmark.TicketID) bool
	// Words is optional. It returns the text of a question about one call, in at most so many
	// characters; empty if the question cannot be read.
	Words func(s floodmark.SessionID, t floodmark.TicketID, most int) string

	mu sync.Mutex // guards what is below
	// handed are the questions that are open in a window, at most one for each session.
	handed map[floodmark.SessionID]handed
	// asked is the newest question of each session, with the call for which it was opened.
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

// maxNative bounds the sessions in memory. Beyond it all are dropped, and the result of a call that
// was approved in a window is an incident.
const maxNative = 4096

// CanAsk reports whether an agent may be told to ask in its own window. Cursor obeys that only at
// some events, and does not report its mode. Tests showed that OpenClaw asks in a chat, accepts
// only the owner's answer, and runs nothing without one.
func CanAsk(agent string) bool { return agent == claudeName || agent == openclawName }

// NewNative returns a Native for the named agents. answer closes a question of a session with the
// person's answer in that window.
func NewNative(on []string, answer func(ctx context.Context, s journal.Session, ticket floodmark.TicketID, verdict floodmark.Verdict, channel string) error) *Native {
	on = slices.DeleteFunc(slices.Clone(on), func(agent string) bool { return !CanAsk(agent) })
	return &Native{on: on, answer: answer, handed: map[floodmark.SessionID]handed{}, asked: map[floodmark.SessionID]opened{}}
}

// words returns a function that returns the text of a question; nil without Words.
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

// windowed reports whether the question of a reply may be asked in an agent's window. After an
// approval there, the agent makes the call unchanged, and we learn of it only when it has run. So
// the call must not need a box, because it would run without one, and must not be a push that the
// monitor has to make.
func windowed(r hook.Reply) bool {
	return r.Ticket != "" && r.Shown.IsZero() && r.Decision.Verdict == floodmark.Confirm && r.Decision.Reach == floodmark.Free && len(r.Decision.Verifiers) == 0 && !r.BlockTurn
}

// hand reports whether the agent is to ask the question of a reply in its window, and remembers it.
// That is so only if the question is about this call alone, because the window shows no other, and
// if no place has to be picked.
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

// take returns the question that is open in the window of a session, and forgets it.
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
	windowOpen       windowEnd = iota // the message does not say
	windowAgreed                      // the call's result will follow
	windowDenied                      // the person denied
	windowUnanswered                  // no answer, and the call did not run
)

// windowEnded records how a question in a window ended, as the agent reported. It can only close
// the question; an approval is proved by the call's result.
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
		return answer{} // the question stays open in other channels
	}
	s := journal.Session{Tenant: d.Tenant, ID: ev.Session}
	if err := d.Native.answer(ctx, s, h.ticket, floodmark.Restrict, "window of "+floodmark.Program(h.event.Agent)); err != nil {
		d.Native.keep(ev.Session, h)
		return answer{why: sorry(err)}
	}
	return answer{}
}

// keep remembers an open question again.
func (n *Native) keep(s floodmark.SessionID, h handed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handed[s] = h
}

// settle closes the question that is open in the window of an event's session. If that cannot be
// recorded, the question stays open and settle returns an error, so that the event is refused.
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

// close records what an event says about a question in a window. The result of the question's call
// means that the person approved. A failed call may be the person's denial, and after any other
// event it is unknown whether the call ran; so close records a denial, and a result of unknown
// content.
func (d Door) close(ctx context.Context, ev hook.Event, h handed) error {
	s := journal.Session{Tenant: d.Tenant, ID: ev.Session}
	channel := "window of " + floodmark.Program(h.event.Agent)
	if ev.Point == hook.AfterToolCall && ev.Call.ID == h.event.Call.ID && !ev.Result.Error {
		if err := d.Native.answer(ctx, s, h.ticket, floodmark.Allow, channel); err != nil {
			return err
		}
		_, err := d.Hooks.Handle(ctx, d.Tenant, h.event) // the recorded answer allows the call; otherwise this is an incident
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
