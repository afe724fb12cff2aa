// Package contain makes the answer «in a box» come true for agents that report to
// hooks. It stands between their door and the monitor: it tells the monitor whether
// the call's command can be run in a box, writes the ticket for one that has to, and
// holds the result against what the box did.
package contain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/boxticket"
	"github.com/floodmark/floodmark/journal"
)

// A Config is what a [Door] needs. All of it must be there.
type Config struct {
	// Hooks judges; the monitor does.
	Hooks agents.Hooks
	// Proved reports whether an agent was seen to run the command it is given in
	// place of its own, in the version that is installed now, and whether this
	// machine has a box.
	Proved func(ctx context.Context, agent string) bool
	// Spec says what the box of a session shows and keeps.
	Spec func(ctx context.Context, s journal.Session) (*box.Spec, error)
	// Desk writes tickets and reads what became of them.
	Desk *boxticket.Desk
	// Program is floodmark-box, Shell what runs a command line in the box.
	Program, Shell string
	// Note writes down what should not have been possible.
	Note func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	Now  func() time.Time
}

// A Door passes events on to the monitor. It is safe for concurrent use.
type Door struct {
	cfg Config

	mu sync.Mutex // guards what is below
	// open are the tickets of calls whose result has not arrived.
	open map[call]string
	// fallen are sessions in which a command ran without its box: there a box is
	// no longer believed in.
	fallen map[journal.Session]bool
}

// A call is one call of a session.
type call struct {
	session journal.Session
	id      floodmark.CallID
}

// life is how long a ticket is valid: agents start a command at once, unless their
// person is asked first.
const life = time.Minute

// maxOpen bounds what is remembered of calls. Beyond it nothing runs in a box.
const maxOpen = 4096

// New returns a door.
func New(cfg Config) *Door {
	return &Door{cfg: cfg, open: map[call]string{}, fallen: map[journal.Session]bool{}}
}

// Handle passes an event on.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	s := journal.Session{Tenant: tenant, ID: ev.Session}
	switch ev.Point {
	case hook.BeforeToolCall:
		return d.before(ctx, s, ev)
	case hook.AfterToolCall:
		return d.after(ctx, s, ev)
	default:
		return d.cfg.Hooks.Handle(ctx, tenant, ev)
	}
}

// before lets a call be judged and gives it its box.
func (d *Door) before(ctx context.Context, s journal.Session, ev hook.Event) (hook.Reply, error) {
	ev.Boxes = d.believes(s) && agents.CanRewrite(ev.Agent, ev.Call) && d.cfg.Proved(ctx, ev.Agent)
	reply, err := d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	if err != nil || reply.Decision.Verdict != floodmark.Allow || reply.Decision.Reach != floodmark.Boxed {
		return reply, err
	}
	name, command, err := d.ticket(ctx, s, ev.Call)
	if err != nil {
		return hook.Reply{Line: "nothing runs, because there is no box for it: " + floodmark.OneLine(err.Error(), maxWhy)}, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[call{s, ev.Call.ID}] = name
	reply.Command = command
	return reply, nil
}

const maxWhy = 300 // bytes of an error that an agent is told

// believes reports whether a box may be offered in a session.
func (d *Door) believes(s journal.Session) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.fallen[s] && len(d.open) < maxOpen
}

// ticket writes the ticket for a call and returns the command that takes it.
func (d *Door) ticket(ctx context.Context, s journal.Session, c hook.Call) (name, command string, err error) {
	line, err := commandOf(c)
	if err != nil {
		return "", "", err
	}
	spec, err := d.cfg.Spec(ctx, s)
	if err != nil {
		return "", "", err
	}
	argv := []string{d.cfg.Shell, "-c", line}
	now := d.cfg.Now()
	name, err = d.cfg.Desk.Mint(boxticket.Order{
		Spec: *spec, Session: string(s.ID), Call: string(c.ID), Command: argv, Expires: now.Add(life),
	}, now)
	if err != nil {
		return "", "", err
	}
	command, err = agents.Quote(append([]string{d.cfg.Program, "--ticket", name, "--"}, argv...))
	return name, command, err
}

// commandOf returns the command line of a call that can be rewritten.
func commandOf(c hook.Call) (string, error) {
	var args struct {
		Command *string `json:"command"`
	}
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return "", err
	}
	if args.Command == nil {
		return "", errors.New("the call has no command")
	}
	return *args.Command, nil
}

// after holds a result against what the box did. What is written down of the
// result is the monitor's; what is wrong with the box is added here.
func (d *Door) after(ctx context.Context, s journal.Session, ev hook.Event) (hook.Reply, error) {
	name, boxed := d.take(call{s, ev.Call.ID})
	if !boxed {
		return d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	}
	// Before the monitor looks at what changed on disk nothing may change any more.
	state, wrong := d.end(name)
	reply, err := d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	if state != boxticket.Unredeemed && wrong == nil {
		return reply, err
	}
	d.fall(s)
	text := "a command that had to run in a box has a result, and no box ran it"
	if wrong != nil {
		text = "what a box did cannot be read: " + floodmark.OneLine(wrong.Error(), maxWhy)
	}
	noted := d.cfg.Note(ctx, s, floodmark.IncidentSeen{Kind: "box-not-used", Text: text})
	if err != nil || noted != nil {
		return hook.Reply{}, errors.Join(err, noted)
	}
	reply.Decision.Verdict = floodmark.Restrict
	reply.Line = fmt.Sprintf("%s; in this session nothing runs in boxes any more", text)
	return reply, nil
}

func (d *Door) take(c call) (name string, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	name, known = d.open[c]
	delete(d.open, c)
	return name, known
}

func (d *Door) fall(s journal.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fallen[s] = true
}

// end says that a call is over and returns what became of its ticket. A box that
// still runs, as one in the background does, keeps nothing of what it writes.
func (d *Door) end(name string) (boxticket.State, error) {
	if err := d.cfg.Desk.End(name); err != nil {
		return boxticket.Lost, err
	}
	state, _, err := d.cfg.Desk.Read(name)
	if err != nil || state == boxticket.Running {
		return state, err
	}
	return state, d.cfg.Desk.Forget(name)
}
