package monitor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/provenance"
)

// A job is one thing to judge in a session and record.
type job struct {
	session journal.Session
	event   hook.Event
	// judge is the pure part. It must not change the state.
	judge func(*kernel.State, kernel.Rules, kernel.Input) (kernel.Output, error)
	// ruleless jobs only record something: they work even without valid rules.
	ruleless bool
	// alone jobs keep the session until they are durable, because people are told of them.
	alone bool
	// again points to the questions that judging found must be asked once more; usually nil.
	again *[]approval.Ticket
	// altered is what a call changed on the disk; nil if the disk was not watched.
	altered *artifact.Altered
}

// A written is a finished job: its facts are durable.
type written struct {
	out     kernel.Output
	entries []journal.Entry
	state   seatView
}

// A seatView is what observers get of a session after a job.
type seatView struct {
	link journal.Link
	mark floodmark.Label
}

// write does a job in the session's turn. If another node wrote to the session first, the job is
// judged again on its new entries.
func (m *Monitor) write(ctx context.Context, j job) (written, error) {
	o := Observation{Session: j.session, Agent: j.event.Agent, Point: j.event.Point}
	clock := m.stopwatch()
	w, err := m.writeOnce(ctx, j, &o, clock)
	if err != nil {
		o.Err, w = err, written{}
	}
	o.Entries, o.Verdict, o.Ticket = w.entries, w.out.Reply.Decision.Verdict, w.out.Reply.Ticket
	o.Mark, o.Link = w.state.mark, w.state.link
	m.observe(o)
	return w, err
}

func (m *Monitor) writeOnce(ctx context.Context, j job, o *Observation, clock *stopwatch) (written, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.Deadline)
	defer cancel()
	for {
		w, err := m.turn(ctx, j, o, clock)
		if err == nil {
			return w, nil
		}
		if !errors.Is(err, journal.ErrConflict) {
			return written{}, refuse(err)
		}
		if o.Conflicts++; o.Conflicts >= m.cfg.Limits.Tries {
			return written{}, refuse(err)
		}
		if err := m.childExists(ctx, j); err != nil {
			return written{}, refuse(err)
		}
	}
}

// turn judges a job in its turn and waits until it is durable. If it can share a flush, later jobs
// get their turn meanwhile.
func (m *Monitor) turn(ctx context.Context, j job, o *Observation, clock *stopwatch) (written, error) {
	s, err := m.seats.enter(ctx, j.session, o.Conflicts > 0)
	if err != nil {
		return written{}, err
	}
	clock.lap(&o.Waited)
	w, p, err := m.judged(ctx, s, j, o, clock)
	if err != nil || p.flush == nil {
		return w, err
	}
	err = m.settle(ctx, s, p.flush, p.lead)
	clock.lap(&o.Wrote)
	if err != nil {
		return written{}, err
	}
	m.closing(s.session, w.out.Facts, nil, p.at)
	m.known(s.session, j, &w, p.at)
	return w, nil
}

// A passed says what a job must wait for after it was judged.
type passed struct {
	flush *flush // nil if there is nothing to wait for
	lead  bool   // the caller has to write the flush
	at    time.Time
}

// judged runs one try of a job with the seat held, and then gives the seat back.
func (m *Monitor) judged(ctx context.Context, s *seat, j job, o *Observation, clock *stopwatch) (w written, p passed, err error) {
	clean := false
	defer func() {
		if !clean {
			s.drop() // its state may contain facts that were never written
		}
		m.seats.leave(s)
	}()
	if j.event.Retry && o.Conflicts == 0 {
		s.drop() // its first try may have been written by another node
	}
	ring, err := m.ring(j.session.Tenant)
	if err != nil {
		return written{}, passed{}, err
	}
	w, p, err = m.try(ctx, s, j, ring, o, clock)
	clean = err == nil
	return w, p, err
}

// recall loads the session into the seat. The cached state is used only if no flush that it depends
// on has failed.
func (m *Monitor) recall(ctx context.Context, s *seat, ring provenance.Ring, o *Observation) error {
	if s.state != nil && !m.seats.founded(s) {
		s.drop()
	}
	if s.state == nil {
		o.Cold = true
		if err := m.seats.drain(ctx, s); err != nil {
			return err
		}
		basis := m.seats.failures(s) // nothing is under way that could fail
		mem, err := m.read(ctx, s.session, ring)
		if err != nil {
			return err
		}
		s.memory, s.basis = mem, basis
	}
	if s.index == nil {
		s.index = m.newIndex(&s.state.Ledger)
	}
	if s.readings == nil {
		s.readings = &kernel.Readings{}
	}
	return nil
}

// try recalls, judges and commits once.
func (m *Monitor) try(ctx context.Context, s *seat, j job, ring provenance.Ring, o *Observation, clock *stopwatch) (written, passed, error) {
	if err := m.recall(ctx, s, ring, o); err != nil {
		return written{}, passed{}, err
	}
	key, err := keysOf(ring, s.state)
	if err != nil {
		return written{}, passed{}, err
	}
	clock.lap(&o.Loaded)
	at := m.cfg.Now().Round(0).UTC() // equal to the time that a reader of the journal gets
	out, err := m.judge(ctx, s, j, key, at)
	clock.lap(&o.Judged)
	if err != nil {
		return written{}, passed{}, err
	}
	if err := m.mayAsk(s.session, out.Ask, at); err != nil {
		return written{}, passed{}, err
	}
	entries, p, err := m.commit(ctx, s, key, at, &out, j)
	clock.lap(&o.Wrote)
	if err != nil {
		return written{}, passed{}, err
	}
	w := written{out: out, entries: entries, state: seatView{link: s.link}}
	if s.state != nil {
		w.state.mark = s.state.Mark()
	}
	if p.flush != nil {
		return w, p, nil
	}
	if s.state != nil {
		m.closing(s.session, out.Facts, m.asked.settle(s.session, &s.state.Book, at), at)
	}
	m.known(s.session, j, &w, at)
	return w, p, nil
}

// known tells waiters and approvers about a job that is durable now, and begins to watch the disk if
// the job lets a call run code.
func (m *Monitor) known(s journal.Session, j job, w *written, at time.Time) {
	if w.out.Ask != nil {
		m.ask(s, *w.out.Ask, at)
	}
	if j.again != nil {
		for _, t := range *j.again {
			m.ask(s, t, at)
		}
	}
	if w.out.Watch != "" && m.cfg.Disk != nil {
		_, steers := m.cfg.Disk.Steers(w.out.Watch)
		m.watches.begin(s, kernel.CallID(j.event.Call), watch{w.out.Watch, at, steers})
	}
	if len(w.entries) > 0 {
		m.news.tell(s)
	}
}

// judge calls the rules. If they panic, or if an index or artifact could not be read, their answer
// is dropped.
func (m *Monitor) judge(ctx context.Context, s *seat, j job, key keys, at time.Time) (out kernel.Output, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = kernel.Output{}, fmt.Errorf("%w in %s", ErrPanic, panicPlace()) // p may contain content
		}
	}()
	find := &finder{ctx: ctx, m: m, tenant: s.session.Tenant, ix: s.index, keys: key}
	in := kernel.Input{Event: j.event, At: at, Code: m.cfg.NewCode(), Ticket: m.cfg.NewTicket(), Index: find, Readings: s.readings}
	in.Key, in.KeyName, in.Others = key.own.Key, key.own.Name, key.Besides(key.own.Name)
	if len(in.Others) > 0 {
		if in.Also, err = find.also(); err != nil {
			return kernel.Output{}, err
		}
	}
	behind := &left{ctx: ctx, m: m, seat: s, tenant: s.session.Tenant, keys: key}
	in.Artifacts, in.Altered = behind, j.altered
	if m.cfg.Disk != nil {
		in.Disk = m.cfg.Disk
	}
	if !j.ruleless {
		in.Pause = m.pauseOf(ctx, s.session, key.Ring, at)
	}
	if j.event.Point == hook.SubagentEnded && j.event.Child != "" {
		child, err := m.read(ctx, journal.Session{Tenant: s.session.Tenant, ID: j.event.Child}, key.Ring)
		if err != nil {
			return kernel.Output{}, err
		}
		in.Child = child.state
	}
	var rules kernel.Rules
	if !j.ruleless {
		rules = m.rulesOf(s.session, s.state.Origin(s.session.ID))
	}
	out, err = j.judge(s.state, rules, in)
	if failed := errors.Join(find.err, behind.err); failed != nil {
		return kernel.Output{}, failed
	}
	if err != nil {
		return kernel.Output{}, misread(err)
	}
	return out, nil
}

// rulesOf returns the rules that a session is judged by now.
func (m *Monitor) rulesOf(s journal.Session, root floodmark.SessionID) kernel.Rules {
	if m.cfg.RulesOf != nil {
		return m.cfg.RulesOf(s, root)
	}
	return m.cfg.Rules()
}

// panicPlace returns the name of the function that panicked, for the log.
func panicPlace() string {
	pcs := make([]uintptr, 16)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") || !more {
			return f.Function
		}
	}
}

// childExists returns [ErrChildExists] if a conflict is about the session of a new sub-agent, so
// that trying again would not help.
func (m *Monitor) childExists(ctx context.Context, j job) error {
	if j.event.Point != hook.SubagentSpawned || j.event.Child == "" {
		return nil
	}
	child := journal.Session{Tenant: j.session.Tenant, ID: j.event.Child}
	start, err := m.cfg.Journal.Begin(ctx, child)
	if err != nil {
		return err
	}
	if start.Link.Seq > 0 {
		return ErrChildExists
	}
	for _, err := range m.cfg.Journal.Read(ctx, child, 0) {
		if err != nil {
			return err
		}
		return ErrChildExists
	}
	return nil
}
