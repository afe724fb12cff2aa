// Package contain carries out the answer «in a box» for agents that report to hooks. It sits
// between the hooks and the monitor: it tells the monitor whether the call's command can be run in
// a box, writes the ticket for a command that must, and compares the call's result with the box's
// outcome.
//
// It does not make a box to find out whether one can be made: that would search the project for
// secrets at every call. If a box cannot be made, the call is refused, and for ten minutes the
// session's calls are questions. Boxes of an earlier run of the monitor are ended, because only its
// memory held which calls they belong to.
package contain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/boxticket"
	"github.com/floodmark/floodmark/internal/box/mirrordesk"
	"github.com/floodmark/floodmark/internal/project/undo"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// A Config is what a [Door] needs. Without a desk nothing runs in a box; with a desk every other
// field is required unless its comment says otherwise.
type Config struct {
	// Hooks judges; the monitor implements it.
	Hooks agents.Hooks
	// Desk writes tickets and reads their outcomes.
	Desk *boxticket.Desk
	// Proved reports two things about the installed version of an agent and this machine: that the
	// agent was seen to run the command it is given in place of its own, and that a box was seen to
	// contain a command.
	Proved func(ctx context.Context, agent string) bool
	// Spec returns what the box of a session shows and keeps.
	Spec func(ctx context.Context, s journal.Session) (*box.Spec, error)
	// Fell reports whether, according to the journal, a command of a session ran without its box.
	Fell func(ctx context.Context, s journal.Session) (bool, error)
	// Packages fetches the packages that a project pins, for its boxes; nil: boxes get no packages.
	// Project returns a session's project.
	Packages *mirrordesk.Desk
	Project  func(ctx context.Context, s journal.Session) (string, error)
	// Ended, unless nil, is called when a session is over.
	Ended func(s journal.Session)
	// Undo keeps what boxes replace in projects; nil: nothing is kept.
	Undo *undo.Store
	// Edits returns the files of its session's project that a call writes by itself; nil: none.
	// Records reads what sessions recorded about those files; nil: nothing is recorded.
	Edits   func(s journal.Session, at Where, ev hook.Event) (project string, paths []string)
	Records *Records
	// Program is the path of floodmark-box. Shell runs a command line in the box.
	Program, Shell string
	// Note records an incident that should not have been possible.
	Note func(ctx context.Context, s journal.Session, seen floodmark.IncidentSeen) error
	Now  func() time.Time
}

// A Door passes events on to the monitor. It is safe for concurrent use.
type Door struct {
	cfg     Config
	secrets *redact.Detector

	mu sync.Mutex // guards what is below
	// open are the tickets of calls whose result has not arrived. A call may have several, because
	// the monitor can be asked about it twice and some agents send no call IDs.
	open map[call][]ticket
	// known says whether boxes are still offered in a session. After a command ran without its box
	// they are not.
	known map[journal.Session]belief
	// refused are the calls that this package refused, whatever the monitor answered, with the line
	// that the agent was shown.
	refused map[call]string
	// repeated are the sessions for which the journal already has an incident of kind [Repeated].
	repeated map[journal.Session]bool
	// late are tickets whose boxes kept running after their calls were over. Those of an earlier
	// run of the monitor are stored under the empty session.
	late map[journal.Session][]ticket
	// edited are the calls, not yet over, of tools that write files themselves and not through a
	// command.
	edited map[call]editing
	// where caches the project and home of sessions.
	where map[journal.Session]Where

	minting sync.Mutex // serializes the writing of tickets
}

// A call is one call of a session.
type call struct {
	session journal.Session
	id      floodmark.CallID
}

// A ticket is what is remembered of a ticket that was written for a call.
type ticket struct {
	name string
	at   time.Time
	// earlier says that the monitor has restarted since: the box's outcome can no longer be read.
	earlier bool
	// shares says that the call's box uses the /tmp of the session. tried says that the call runs in
	// the box as a trial, because it may need what no box has.
	shares, tried bool
	// room is the folder in which the box keeps the files that it replaces. If the box works beside
	// its ticket instead, room is empty and about describes the call.
	room  string
	about *undo.About
	// replaces is what was known of the call before it was judged. twice says that another call
	// with the same id was under way at the same time.
	replaces replacing
	id       floodmark.CallID
	twice    bool
}

// A belief is what is known of a session's boxes.
type belief struct {
	fell bool
	// unfit says until when no box is offered, because one could not be made.
	unfit time.Time
}

// The limits of a door.
const (
	// life is how long a ticket is valid: agents start a command at once.
	life = time.Minute
	// unfitFor is how long a session gets no box after one could not be made. Its
	// calls are questions meanwhile.
	unfitFor = 10 * time.Minute
	// maxOpen bounds what is remembered of calls. Beyond it nothing runs in a box.
	maxOpen = 4096
	// forgotten is the age at which a call without a result is dropped.
	forgotten = 24 * time.Hour
	maxKnown  = 1 << 14
	maxWhy    = 300 // bytes of an error that an agent is told
	// signalled is added to a signal's number, as shells do.
	signalled = 128
)

// New returns a door. Tickets that an earlier run of the monitor wrote and no box has taken are
// remembered, because their calls may still give a result.
func New(cfg Config) (*Door, error) {
	d := &Door{
		cfg: cfg, open: map[call][]ticket{}, known: map[journal.Session]belief{}, refused: map[call]string{},
		repeated: map[journal.Session]bool{}, late: map[journal.Session][]ticket{}, edited: map[call]editing{}, where: map[journal.Session]Where{},
	}
	if cfg.Desk == nil {
		return d, nil
	}
	d.secrets = redact.New()
	left, err := cfg.Desk.TakeOver()
	if err != nil {
		return nil, err
	}
	for _, l := range left {
		if l.Session == "" {
			d.late[journal.Session{}] = append(d.late[journal.Session{}], ticket{name: l.Name, earlier: true})
			continue
		}
		c := call{journal.Session{ID: floodmark.SessionID(l.Session)}, floodmark.CallID(l.Call)}
		d.open[c] = append(d.open[c], ticket{name: l.Name, at: cfg.Now(), earlier: true})
	}
	return d, nil
}

// Handle passes an event on.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	ev.Boxes, ev.Holes, ev.Locks = false, false, nil
	s := journal.Session{Tenant: tenant, ID: ev.Session}
	d.wereEdited(ctx, s)
	switch {
	case d.cfg.Desk == nil:
	case ev.Point == hook.BeforeToolCall:
		return d.before(ctx, s, ev)
	case ev.Point == hook.AfterToolCall:
		return d.after(ctx, s, ev)
	case ev.Point == hook.SessionStart:
		d.mu.Lock()
		delete(d.where, s)
		d.mu.Unlock()
	case ev.Point == hook.SessionEnd:
		d.ended(s)
	}
	return d.boxless(d.cfg.Hooks.Handle(ctx, tenant, ev))
}

// boxless refuses a reply that requires a box but has no command that starts one.
func (d *Door) boxless(r hook.Reply, err error) (hook.Reply, error) {
	if err == nil && r.Decision.Contained() && r.Command == "" {
		return hook.Reply{Line: "nothing runs, because it may only run in a box and there is none."}, nil
	}
	return r, err
}

// before has a call judged and gives it its box.
func (d *Door) before(ctx context.Context, s journal.Session, ev hook.Event) (hook.Reply, error) {
	c := call{s, ev.Call.ID}
	line, is := commandOf(ev)
	if is && repeats(line) {
		d.refuse(c, repeatedLine)
		if d.firstRepeat(s) {
			return hook.Reply{Line: repeatedLine}, d.cfg.Note(ctx, s, floodmark.IncidentSeen{Kind: Repeated, Call: c.id, Text: repeatedNote})
		}
		return hook.Reply{Line: repeatedLine}, nil
	}
	d.wasRefused(c) // this call is judged, so its result is not that of a call refused earlier
	ev.Boxes = is && d.believes(ctx, s) && d.cfg.Proved(ctx, ev.Agent)
	ev.Holes = ev.Boxes && !sandboxed(ev.Agent)
	want := d.wants(ctx, s, &ev, line)
	replaces := d.replacing(ctx, s, ev)
	reply, err := d.cfg.Hooks.Handle(ctx, s.Tenant, ev)
	if err == nil && !reply.Decision.Contained() {
		d.edits(s, ev, reply, replaces)
	}
	if err != nil || !reply.Decision.Contained() {
		return reply, err
	}
	if !ev.Boxes || reply.BlockTurn || len(reply.Decision.Verifiers) > 0 {
		return d.boxless(reply, nil) // it does not run in any case
	}
	reach := box.Spec{Hosts: reply.Hosts, Whole: reply.Tried}
	if reply.Mirror && len(ev.Locks) > 0 {
		var wait string
		if reach.Mirror, wait = d.ready(ctx, want); wait != "" {
			return d.didNotRun(ctx, s, ev, wait)
		}
	}
	command, err := d.ticket(ctx, s, ev, line, reach, replaces)
	if err != nil {
		d.unfit(s)
		return d.didNotRun(ctx, s, ev, "nothing runs, because there is no box for it: "+floodmark.OneLine(err.Error(), maxWhy)+
			". Make the call again: then a person is asked instead.")
	}
	reply.Command = command
	return reply, nil
}

// ticket writes the ticket for a call and returns the command that takes it. Reach holds the hosts
// and the mirror that the monitor lets the box reach.
func (d *Door) ticket(ctx context.Context, s journal.Session, ev hook.Event, line string, reach box.Spec, replaces replacing) (command string, err error) {
	spec, err := d.cfg.Spec(ctx, s)
	if err != nil {
		return "", err
	}
	if (len(reach.Hosts) > 0 || reach.Mirror.Set != "") && !ev.Holes {
		return "", errors.New("no box can reach a host inside this agent's own sandbox")
	}
	spec.Hosts, spec.Mirror, spec.Whole = reach.Hosts, reach.Mirror, reach.Whole
	d.minting.Lock()
	defer d.minting.Unlock()
	now := d.cfg.Now()
	t := ticket{at: now, tried: spec.Whole, shares: !inBackground(ev.Call) && d.alone(s), replaces: replaces, id: kernel.CallID(ev.Call)}
	argv := []string{d.cfg.Shell, "-c", line}
	order := boxticket.Order{Spec: *spec, Session: string(s.ID), Call: string(ev.Call.ID), Command: argv, Expires: now.Add(life)}
	switch {
	case inBackground(ev.Call):
		order.Spec = spec.InBackground()
	case !t.shares:
		order.Spec.Temp, order.Spec.Cache = "", ""
	case sandboxed(ev.Agent):
		order.Shared = folderOf(s)
	}
	d.roomFor(&t, &order, s, ev, line)
	if t.name, err = d.cfg.Desk.Mint(order, now); err != nil {
		d.leaveRoom(t.room, undo.Said{})
		return "", err
	}
	if command, err = agents.Quote(append([]string{d.cfg.Program, "--ticket", t.name, "--"}, argv...)); err != nil {
		return "", err
	}
	d.giveBack(call{s, ev.Call.ID}, []ticket{t})
	return command, nil
}

// after compares a result with what the box did. The monitor records the result; faults of the box
// are added here.
func (d *Door) after(ctx context.Context, s journal.Session, ev hook.Event) (hook.Reply, error) {
	c := call{s, ev.Call.ID}
	if line := d.wasRefused(c); line != "" && agents.GaveBack(ev.Result, line) {
		return hook.Reply{Decision: floodmark.Decision{Verdict: floodmark.Allow, Reach: floodmark.Free}}, nil
	}
	d.wasEdited(ctx, call{s, kernel.CallID(ev.Call)})
	list := d.take(c)
	if len(list) == 0 {
		return d.boxless(d.cfg.Hooks.Handle(ctx, s.Tenant, ev))
	}
	// Before the monitor looks at what changed on disk nothing may change any more.
	done, wrong, rest, err := d.end(ctx, call{s, kernel.CallID(ev.Call)}, list)
	d.giveBack(c, rest)
	ev.Box = done
	if err != nil {
		return hook.Reply{}, err
	}
	var noted error
	if wrong != "" {
		d.fall(s)
		noted = d.cfg.Note(ctx, s, floodmark.IncidentSeen{Kind: NotUsed, Call: ev.Call.ID, Text: wrong})
	}
	reply, err := d.boxless(d.cfg.Hooks.Handle(ctx, s.Tenant, ev))
	if wrong == "" {
		return reply, err
	}
	if err != nil || noted != nil {
		return hook.Reply{}, errors.Join(err, noted)
	}
	reply.Decision.Verdict = floodmark.Restrict
	reply.Line = fmt.Sprintf("%s. In this session nothing runs in boxes any more: a person is asked instead.", wrong)
	return reply, nil
}

// The kinds of incidents. After a NotUsed no boxes are offered in the session. A Repeated is
// recorded for the first call of a session that repeats a command with which only boxes are
// started.
const (
	NotUsed  = "box-not-used"
	Repeated = "box-command-repeated"
)

const ranOutside = "a command that had to run in a box has a result, and no box ran it"

// end ends the box of a call. It returns how the box ended, what is wrong with it (empty: nothing),
// and the remaining tickets, to which a later result may belong.
func (d *Door) end(ctx context.Context, c call, list []ticket) (done *hook.BoxEnd, wrong string, rest []ticket, err error) {
	best := d.likely(list)
	t := list[best]
	// Wait for a box that is moving files into the project, for at most as long as the caller
	// waits.
	over := make(chan error, 1)
	go func() { over <- d.cfg.Desk.End(t.name) }()
	select {
	case err = <-over:
	case <-ctx.Done():
		return nil, "", list, ctx.Err()
	}
	state, o := boxticket.Lost, (*boxticket.Outcome)(nil)
	if err == nil {
		state, o, err = d.cfg.Desk.Read(t.name)
	}
	if state == boxticket.Running {
		d.ranOn(c.session, t)
	} else {
		said := d.said(ctx, c, t.replaces, t.twice)
		d.leaveRoom(t.room, said)
		d.adopt(t, o, said)
	}
	if !d.unfinished(t) {
		_ = d.cfg.Desk.Forget(t.name) // what cannot be removed is swept later
	}
	rest = slices.Delete(slices.Clone(list), best, best+1)
	switch {
	case state == boxticket.Unredeemed:
		return nil, ranOutside, rest, nil
	case err != nil && !t.earlier:
		return nil, "what a box did cannot be read: " + floodmark.OneLine(err.Error(), maxWhy), rest, nil
	}
	done = boxEnd(t.name, state, o)
	done.Failed = done.Failed || t.tried && len(done.Hosts) > 0 // its output may not say so
	return done, "", rest, nil
}

// boxEnd returns what the monitor is told of a box.
func boxEnd(name string, state boxticket.State, o *boxticket.Outcome) *hook.BoxEnd {
	b := &hook.BoxEnd{Ticket: name}
	switch state {
	case boxticket.Running:
		b.State = floodmark.BoxRunsOn
	case boxticket.Refused:
		b.State = floodmark.BoxRefused
	default:
	}
	if state != boxticket.Ran || o == nil {
		return b
	}
	b.State, b.Exit = floodmark.BoxEnded, o.Exit
	if o.Signal != 0 {
		b.Exit = signalled + o.Signal
	}
	b.Failed, b.Hosts = b.Exit != 0, o.Hosts
	for _, c := range o.Changes {
		if c.Refused != "" {
			b.Paths = append(b.Paths, c.Path)
		}
	}
	return b
}

// likely returns the index of the ticket that a result most likely belongs to. There is a choice
// only if an agent that sends no call IDs makes the same call twice at once.
func (d *Door) likely(list []ticket) (best int) {
	best, running := -1, false
	for i, t := range list {
		state, _, _ := d.cfg.Desk.Read(t.name) // what is wrong with it is found out later
		if state != boxticket.Unredeemed && (best < 0 || running) {
			best, running = i, state == boxticket.Running
		}
	}
	return max(best, 0)
}
