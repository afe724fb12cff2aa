package monitor

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/audit"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
)

// Handle judges one event and returns what the agent must do. When it returns without an error,
// everything the reply follows from is durable. With an error the reply is the zero Reply, which
// restricts, and the error is a [Refusal].
func (m *Monitor) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	s := journal.Session{Tenant: tenant, ID: ev.Session}
	w, err := m.handle(ctx, s, ev)
	if errors.Is(err, ErrPanic) {
		seen := floodmark.IncidentSeen{Kind: "judging-panicked", Call: ev.Call.ID, Text: errors.Unwrap(err).Error()}
		if noted := m.Note(context.WithoutCancel(ctx), s, seen); noted != nil {
			err = errors.Join(err, noted)
		}
	}
	if err != nil {
		return hook.Reply{}, err
	}
	return w.out.Reply, nil
}

func (m *Monitor) handle(ctx context.Context, s journal.Session, ev hook.Event) (written, error) {
	err := checkNames(s, ev.Child)
	if err == nil {
		err = m.begin()
	}
	if err != nil {
		err = refuse(err)
		m.observe(Observation{Session: s, Agent: ev.Agent, Point: ev.Point, Err: err})
		return written{}, err
	}
	defer m.done()
	judge := func(st *kernel.State, r kernel.Rules, in kernel.Input) (kernel.Output, error) {
		return m.step(st, r, in, s)
	}
	w, err := m.write(ctx, job{session: s, event: ev, judge: judge, altered: m.altered(ctx, s, ev)})
	var said kernel.Hearing
	for round := 1; ; round++ {
		for n := 1; err == nil && w.out.Case != nil; n++ {
			w, err = m.consult(ctx, s, ev, *w.out.Case, n == maxAudits, &said)
		}
		if err != nil {
			return written{}, err
		}
		if w.out.Verify == nil || round > maxVerifies {
			break
		}
		said.Last = round == maxVerifies
		w, err = m.verify(ctx, s, ev, *w.out.Verify, said)
	}
	w.out.Reply.Notice = m.told(ctx, s, w.out.Late, w.out.Reply.Notice)
	return w, nil
}

// consult asks the auditor while other events may write to the session, and judges the call again
// with the opinion. An opinion is valid only for exactly the case that the auditor was shown. If
// the case has changed meanwhile, the auditor is asked again; in the last round a person is asked
// instead. The case and the opinion are kept in said, for a later round about the same call.
func (m *Monitor) consult(ctx context.Context, s journal.Session, ev hook.Event, shown audit.Case, last bool, said *kernel.Hearing) (written, error) {
	opinion := m.opinion(ctx, s, ev, shown)
	said.Case, said.Opinion = &shown, opinion
	return m.write(ctx, job{session: s, event: ev, judge: func(st *kernel.State, r kernel.Rules, in kernel.Input) (kernel.Output, error) {
		now, err := kernel.Step(st, r, in)
		if err != nil || now.Case == nil {
			return now, err
		}
		if opinion.Says == audit.Silent || reflect.DeepEqual(*now.Case, shown) {
			return kernel.Opine(st, r, in, opinion)
		}
		if last {
			return kernel.Opine(st, r, in, audit.Opinion{Says: audit.Unsure, Reason: "the session never stood still"})
		}
		return now, nil
	}})
}

// opinion returns the auditor's opinion. If there is none, observers are told why, unless the
// policy lets calls run without an opinion.
func (m *Monitor) opinion(ctx context.Context, s journal.Session, ev hook.Event, c audit.Case) audit.Opinion {
	if m.cfg.Auditor == nil || !c.Fits() {
		return audit.Opinion{}
	}
	o, err := m.audit(ctx, audit.Asker{Tenant: s.Tenant, Session: s.ID}, c)
	if err == nil {
		return o
	}
	if m.rulesOf(s, s.ID).Policy.Settings(ev.Agent).AuditorFailMode != policy.FailAllow {
		m.observe(Observation{Session: s, Agent: ev.Agent, Verdict: floodmark.Audit, Warning: err})
	}
	return audit.None(err)
}

func (m *Monitor) audit(ctx context.Context, from audit.Asker, c audit.Case) (o audit.Opinion, err error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.AuditTime)
	defer cancel()
	defer func() {
		if recover() != nil {
			o, err = audit.Opinion{}, &audit.Failure{Words: "panicked"}
		}
	}()
	if o, err = m.cfg.Auditor.Audit(ctx, from, c); err == nil {
		err = ctx.Err()
	}
	if o.Says == audit.Silent {
		o.Reason = "" // without an answer it is unknown who wrote the reason
	}
	return o, err
}

// verify asks the gates about a call while other events may write to the session, then judges the
// call again with their answers. That the call waits for gates is durable before a gate is asked.
func (m *Monitor) verify(ctx context.Context, s journal.Session, ev hook.Event, asking kernel.Asking, h kernel.Hearing) (written, error) {
	request := asking.Request
	if m.cfg.NewRequest != nil {
		request.ID = m.cfg.NewRequest()
	}
	h.Asked, h.Answers = asking, m.gates.Ask(ctx, s, asking.Gates, request)
	return m.write(ctx, job{session: s, event: ev, judge: func(st *kernel.State, r kernel.Rules, in kernel.Input) (kernel.Output, error) {
		return kernel.Verify(st, r, in, h)
	}})
}

// ask sends a question to the approvers, in its session's turn. Each call that joins a question
// replaces the code of the whole question, so the codes must be sent in the order in which they
// were written. Keepers get the question first, and the reply waits for them but not for the other
// approvers. If a channel fails, the question stays open in the journal.
func (m *Monitor) ask(s journal.Session, t approval.Ticket, at time.Time) {
	t.Tenant = s.Tenant // the kernel knows no tenants
	if m.asked.add(s, t, at) {
		m.outlives(s, t)
	}
	keepers, others := m.apart()
	if len(keepers) > 0 {
		m.tell(s, t, keepers)
	}
	k := heldKey{s, t.ID}
	if len(others) == 0 || !m.held.add(k, t) || m.join() != nil {
		return
	}
	go func() {
		defer m.work.Done()
		m.release(k, others)
	}()
}

// tell sends a question to all given approvers and waits for them.
func (m *Monitor) tell(s journal.Session, t approval.Ticket, to []approval.Approver) {
	results := make(chan error, len(to))
	for _, a := range to {
		go func() { results <- m.askOne(a, t) }()
	}
	var failed []error
	for range to {
		failed = append(failed, <-results)
	}
	if err := errors.Join(failed...); err != nil {
		m.observe(Observation{Session: s, Ticket: t.ID, Verdict: floodmark.Confirm, Warning: err})
	}
}

func (m *Monitor) askOne(a approval.Approver, t approval.Ticket) (err error) {
	ctx, cancel := context.WithTimeout(m.life, m.cfg.Limits.AskTime)
	defer cancel()
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("tell the owner of question %s: the channel panicked", t.ID)
		}
	}()
	if err := a.Ask(ctx, t); err != nil {
		return fmt.Errorf("tell the owner of question %s: %w", t.ID, err)
	}
	return nil
}

// checkNames refuses session names that a journal could not keep or that are reserved.
func checkNames(s journal.Session, child floodmark.SessionID) error {
	if s.ID == "" {
		return misread(errors.New("an event needs a session"))
	}
	if len(s.Tenant) > journal.MaxTenantBytes || len(s.ID) > journal.MaxSessionBytes || len(child) > journal.MaxSessionBytes {
		return misread(fmt.Errorf("%w: a session's name has at most %d bytes, a tenant's %d", hook.ErrTooLarge, journal.MaxSessionBytes, journal.MaxTenantBytes))
	}
	for _, name := range []string{s.Tenant, string(s.ID), string(child)} {
		if !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
			return misread(fmt.Errorf("the name %q is not text", name))
		}
	}
	for _, id := range []floodmark.SessionID{s.ID, child} {
		if strings.HasPrefix(string(id), CopyPrefix) {
			return misread(fmt.Errorf("the session %q is called like a copy of a laptop's session", id))
		}
	}
	for _, own := range []floodmark.SessionID{Incidents, Pauses, Files} {
		if s.ID == own || child == own {
			return misread(fmt.Errorf("the session %q is the monitor's own", own))
		}
	}
	return nil
}
