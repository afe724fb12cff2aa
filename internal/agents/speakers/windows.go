package speakers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// The client of a gateway can show a question in a window of its own. Nothing but the client's word
// proves that a person gave the answer. So a client is asked only if the owner named it, and only
// if no other process can pretend to be it. An agent's commands run below the agent, and a
// gateway's servers below the gateway, so a process below either is not taken for a client. An
// agent that reports by hooks is asked by its hooks. For most gateways, the process tree shows
// which client started them. A gateway with tokens serves several clients and says itself which one
// asks; it is believed only in sessions that the monitor saw it begin.

// windows tracks the questions that are open in clients' windows. It is in memory only. It is safe
// for concurrent use.
type windows struct {
	on      []string // the clients that the owner named
	guarded *peer.Guarded
	now     func() time.Time

	mu sync.Mutex // guards what is below
	// began maps a session that a gateway with tokens began to that gateway's process.
	began map[floodmark.SessionID]peer.Process
	open  map[floodmark.TicketID]inWindow
}

// inWindow is a question whose answer only one gateway may bring, and only once.
type inWindow struct {
	gateway peer.Process
	session floodmark.SessionID
	call    floodmark.Digest
	client  string
	seen    string // digest of what the window shows, as [approval.Open.Seen]
	expires time.Time
}

// The limits on what is remembered and shown. Beyond them no window asks.
const (
	maxInWindows  = 1024
	maxBegan      = 1 << 14
	maxWindowText = 3000 // characters
)

// apartSession begins the name of a session of a gateway with tokens.
const apartSession = "apart-" + hook.GatewaySession

func newWindows(on []string, g *peer.Guarded, now func() time.Time) *windows {
	return &windows{on: on, guarded: g, now: now, began: map[floodmark.SessionID]peer.Process{}, open: map[floodmark.TicketID]inWindow{}}
}

// note records which process begins a session.
func (w *windows) note(s Speaker, ev hook.Event) {
	if len(w.on) == 0 || !ev.Gateway || !s.Local || s.PID == 0 || !strings.HasPrefix(string(ev.Session), apartSession) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch _, known := w.began[ev.Session]; {
	case ev.Point == hook.SessionEnd && w.began[ev.Session] == s.Process:
		delete(w.began, ev.Session)
	case ev.Point == hook.SessionStart && ev.Cause == hook.Startup && !known && len(w.began) < maxBegan:
		w.began[ev.Session] = s.Process
	}
}

// client returns the client that may be asked about an event; empty if there is none.
func (w *windows) client(s Speaker, ev hook.Event, said hook.Window) string {
	if !ev.Gateway || ev.Point != hook.BeforeToolCall || !s.Local || s.PID == 0 || len(s.Ancestors) == 0 ||
		len(w.guarded.Among(s.Ancestors, "")) > 0 {
		return ""
	}
	switch session := string(ev.Session); {
	case strings.HasPrefix(session, apartSession):
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.began[ev.Session] == s.Process && slices.Contains(w.on, said.Client) {
			return said.Client
		}
	case strings.HasPrefix(session, hook.GatewaySession) && said.Client == "":
		i := slices.IndexFunc(w.on, func(name string) bool { return peer.Runs(name, s.Ancestors[0]) })
		if i >= 0 {
			return w.on[i]
		}
	}
	return ""
}

// add records a question that is shown. It reports whether there was room.
func (w *windows) add(t floodmark.TicketID, o inWindow) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.open, func(_ floodmark.TicketID, o inWindow) bool { return !o.expires.After(w.now()) })
	if len(w.open) >= maxInWindows {
		return false
	}
	w.open[t] = o
	return true
}

// shown reports whether a question about this call is open in the window of this client, and returns
// the digest of what the window shows. It accepts an answer once.
func (w *windows) shown(s Speaker, ev hook.Event, client string, said hook.Window) (seen string, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	o, ok := w.open[said.Ticket]
	if !ok || client == "" || o.client != client || o.gateway != s.Process || o.session != ev.Session || o.call != callDigest(ev.Call) || !o.expires.After(w.now()) {
		return "", false
	}
	if said.Answer != "" {
		delete(w.open, said.Ticket)
	}
	return o.seen, true
}

// brought reports whether the answer to a question was brought from its window. Then the request
// with the answer has the call judged again. The request that waited for the answer must not: it
// would use up the approval, though its sender may be gone.
func (w *windows) brought(t floodmark.TicketID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, open := w.open[t]
	return !open
}

// callDigest returns a digest of all of a call that is sent to the server, and of its id.
func callDigest(c hook.Call) floodmark.Digest {
	return floodmark.DigestOf(strings.Join([]string{string(c.ID), c.Server, c.Name, string(c.Args)}, "\x00"))
}

// ask returns a question for a client's window; nil if the question may not be asked there.
func (h *Door) ask(tenant string, s Speaker, ev hook.Event, said hook.Window, reply hook.Reply) *hook.Ask {
	client := h.windows.client(s, ev, said)
	if client == "" || reply.Ticket == "" || reply.Decision.Verdict != floodmark.Confirm || len(reply.Decision.Verifiers) > 0 || reply.BlockTurn {
		return nil
	}
	for _, p := range h.opts.Monitor.PendingOf(journal.Session{Tenant: tenant, ID: ev.Session}) {
		if p.Ticket != reply.Ticket {
			continue
		}
		text, ok := forWindow(p, reply.Decision)
		if !ok || h.opts.Routed(p) || !h.windows.add(p.Ticket, inWindow{s.Process, ev.Session, callDigest(ev.Call), client, p.Seen, p.Expires}) {
			return nil
		}
		a := &hook.Ask{Text: text}
		if pick := p.Questions[0].Pick; pick != nil {
			a.Pick, a.Among = pick.Words, pick.Among
		}
		return a
	}
	return nil
}

// forWindow returns the text of a question. It returns false if a client's window may never answer
// the question: if the call changes the agent or the monitor, if the question takes two people or
// makes content trusted, or if it cannot be shown whole.
func forWindow(p monitor.Pending, d floodmark.Decision) (string, bool) {
	if p.Calls != 1 || len(p.Questions) != 1 {
		return "", false
	}
	q := p.Questions[0]
	protects := slices.ContainsFunc(d.Reasons, func(r floodmark.Reason) bool { return r.Code == floodmark.SelfProtection })
	if q.Two || q.Vouch != (approval.Origin{}) || protects || len(q.Action.Effects) == 0 || slices.Contains(q.Action.Effects, floodmark.Admin) || q.Card(false).Hides {
		return "", false
	}
	if q.Pick != nil && q.Pick.Words == "" {
		return "", false
	}
	text := strings.Join(q.Told(), "\n")
	return text, utf8.RuneCountInString(text) <= maxWindowText
}

// notShownLine is what the agent reads if an answer belongs to no open question.
const notShownLine = "Floodmark refuses this because what was answered belongs to no question that is open in this client's window."

// waitsLine is what the agent reads while the question is open.
const waitsLine = "Floodmark holds this back: the question has no answer yet. It stays open; the same call passes once the owner has approved it."

// answered takes an answer from a client's window, or waits until the question is answered
// elsewhere, and judges the call again.
func (h *Door) answered(ctx context.Context, tenant string, s Speaker, ev hook.Event, said hook.Window) (hook.Reply, error) {
	client := h.windows.client(s, ev, said)
	seen, ok := h.windows.shown(s, ev, client, said)
	if !ok {
		if said.Answer != "" {
			h.opts.Incident(ctx, "not-asked-there", fmt.Sprintf("an answer to %.100q was brought by %s, where no question was shown", said.Ticket, s.Line()))
		}
		return hook.Reply{Line: notShownLine}, nil
	}
	session := journal.Session{Tenant: tenant, ID: ev.Session}
	if said.Answer == "" {
		if !h.closed(ctx, session, said.Ticket) || left(ctx) || h.windows.brought(said.Ticket) {
			return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Confirm, Reach: floodmark.Free}, Ticket: said.Ticket, Line: waitsLine}, nil
		}
		return h.opts.Hooks.Handle(ctx, tenant, ev)
	}
	cmd := approval.Command{
		Verb: approval.Deny, Tool: approval.All, Ticket: said.Ticket, Calls: 1,
		By: "the window of " + client, Channel: "elicitation", Picked: said.Picked, Seen: seen,
	}
	if said.Answer == hook.Accept {
		cmd.Verb = approval.Approve
	}
	if _, err := h.opts.Monitor.Answer(ctx, session, cmd); err != nil {
		return hook.Reply{}, err
	}
	return h.opts.Hooks.Handle(ctx, tenant, ev)
}

// closed waits, almost as long as the gateway does, until a question is closed. It returns false if
// the question is still open then.
func (h *Door) closed(ctx context.Context, s journal.Session, t floodmark.TicketID) bool {
	until, ok := ctx.Deadline()
	if !ok {
		return false
	}
	ctx, cancel := context.WithDeadline(ctx, until.Add(-leaveToAnswer))
	defer cancel()
	_, err := h.opts.Monitor.Await(ctx, s, t)
	return err == nil
}

// left reports whether the caller has gone.
func left(ctx context.Context) bool { return ctx.Err() != nil }
