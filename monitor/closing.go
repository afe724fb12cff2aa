package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// closing tells each [approval.Closer] how questions ended: those that a job's facts answer, and
// those in gone, which were asked here and are closed.
func (m *Monitor) closing(s journal.Session, facts []floodmark.Fact, gone []Pending, at time.Time) {
	told := map[floodmark.TicketID]bool{}
	for _, f := range facts {
		if a, ok := f.(floodmark.TicketAnswered); ok {
			told[a.Ticket] = true
			m.ended(s, a.Ticket, approval.Outcome{Verdict: a.Verdict, By: a.By, Channel: a.Channel, At: at})
		}
	}
	for _, p := range gone {
		if told[p.Ticket] {
			continue
		}
		o := approval.Outcome{Verdict: floodmark.Confirm, At: at}
		if o.Expired = !at.Before(p.Expires); !o.Expired {
			o.By = "it was answered elsewhere, or its context is gone"
		}
		m.ended(s, p.Ticket, o)
	}
}

// ended tells every approver that implements [approval.Closer], without blocking the session.
func (m *Monitor) ended(s journal.Session, t floodmark.TicketID, o approval.Outcome) {
	for _, a := range m.cfg.Approvers {
		c, ok := a.(approval.Closer)
		if !ok || m.join() != nil {
			continue
		}
		go func() {
			defer m.work.Done()
			if err := m.closeOne(c, s, t, o); err != nil {
				m.observe(Observation{Session: s, Ticket: t, Verdict: o.Verdict, Warning: err})
			}
		}()
	}
}

func (m *Monitor) closeOne(c approval.Closer, s journal.Session, t floodmark.TicketID, o approval.Outcome) (err error) {
	ctx, cancel := context.WithTimeout(m.life, m.cfg.Limits.AskTime)
	defer cancel()
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("tell how question %s ended: the channel panicked", t)
		}
	}()
	if err := c.Closed(ctx, s.ID, t, o); err != nil {
		return fmt.Errorf("tell how question %s ended: %w", t, err)
	}
	return nil
}

// outlives waits until a question asked by this node expires, and then announces that. A question
// answered earlier is announced by its answer.
func (m *Monitor) outlives(s journal.Session, t approval.Ticket) {
	if len(m.cfg.Approvers) == 0 || m.join() != nil {
		return
	}
	go func() {
		defer m.work.Done()
		timer := time.NewTimer(max(t.Expires.Sub(m.cfg.Now()), time.Millisecond))
		defer timer.Stop()
		select {
		case <-m.life.Done():
		case <-timer.C:
			if now := m.cfg.Now(); m.asked.expire(s, t.ID, now) {
				m.ended(s, t.ID, approval.Outcome{Verdict: floodmark.Confirm, Expired: true, At: now})
			}
		}
	}()
}

// told adds to the notice of a late answer at what time the question was answered before. It reads
// the session's journal for that time, and only if late names a question.
func (m *Monitor) told(ctx context.Context, s journal.Session, late floodmark.TicketID, notice string) string {
	if late == "" {
		return notice
	}
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.Deadline)
	defer cancel()
	var at time.Time
	for e, err := range m.cfg.Journal.Read(ctx, s, 0) {
		if err != nil {
			return notice
		}
		if _, ok := answers(e, late); ok {
			at = e.Time()
		}
	}
	if at.IsZero() {
		return notice
	}
	return notice + " That was at " + at.UTC().Format("15:04:05 MST on 2 January") + "."
}

// AskAgain asks every question of a tenant that was open when the monitor last stopped, with a new
// code. It reads only sessions with writes recent enough for an open question, not the whole
// journal. If the questions of a session cannot be asked again, it goes on with the other sessions
// and returns the errors joined.
func (m *Monitor) AskAgain(ctx context.Context, tenant string) (asked int, err error) {
	since := m.cfg.Now().Add(-maxTicketTime).UnixNano()
	var failed []error
	for h, err := range m.cfg.Journal.Recent(ctx, tenant) {
		if err != nil {
			return asked, err
		}
		if h.At < since {
			break
		}
		if h.Session.ID == Incidents {
			continue
		}
		n, err := m.askSession(ctx, h.Session)
		asked += n
		if err != nil {
			failed = append(failed, err)
		}
	}
	return asked, errors.Join(failed...)
}
