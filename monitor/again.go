package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// maxTicketTime exceeds the life of any question: policies allow a day, and quiet hours may delay
// it by about another.
const maxTicketTime = 51 * time.Hour

// askSession asks the open questions of one session again.
func (m *Monitor) askSession(ctx context.Context, s journal.Session) (asked int, err error) {
	v, err := m.View(ctx, s)
	if err != nil {
		return 0, err
	}
	var open []floodmark.TicketID
	for _, o := range v.State.Book.Tickets {
		if !o.Approved && m.cfg.Now().Before(o.Expires) && !m.asked.has(s, o.ID) {
			open = append(open, o.ID)
		}
	}
	if len(open) == 0 {
		return 0, nil
	}
	decided, err := m.decided(ctx, s)
	if err != nil {
		return 0, err
	}
	for _, id := range open {
		n, err := m.askAgain(ctx, s, id, decided)
		if asked += n; err != nil {
			return asked, err
		}
	}
	return asked, nil
}

// decided returns the decisions of a session that led to questions.
func (m *Monitor) decided(ctx context.Context, s journal.Session) ([]floodmark.ActionDecided, error) {
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Limits.Deadline)
	defer cancel()
	var list []floodmark.ActionDecided
	for e, err := range m.cfg.Journal.Read(ctx, s, 0) {
		if err != nil {
			return nil, fmt.Errorf("read session %s: %w", s, err)
		}
		if e.Kind != "action-decided" {
			continue
		}
		f, err := e.Fact()
		if err != nil {
			return nil, err
		}
		if d, ok := f.(floodmark.ActionDecided); ok && d.Decision.Verdict == floodmark.Confirm {
			list = append(list, d)
		}
	}
	return list, nil
}

func (m *Monitor) askAgain(ctx context.Context, s journal.Session, id floodmark.TicketID, decided []floodmark.ActionDecided) (int, error) {
	if err := m.begin(); err != nil {
		return 0, refuse(err)
	}
	defer m.done()
	var tickets []approval.Ticket
	_, err := m.write(ctx, job{session: s, event: hook.Event{Session: s.ID}, alone: true, again: &tickets, judge: func(st *kernel.State, r kernel.Rules, in kernel.Input) (out kernel.Output, err error) {
		in.Event.Agent = st.Agent
		out, tickets, err = kernel.Again(st, r, in, id, decided)
		if !errors.Is(err, kernel.ErrUndecided) {
			return out, err
		}
		// The agent added a call after the journal was read. No call is added during this turn, and
		// a call that asks is durable before the next one starts, so this read finds all of them.
		if decided, err = m.decided(ctx, s); err == nil {
			out, tickets, err = kernel.Again(st, r, in, id, decided)
		}
		return out, err
	}})
	if err != nil || len(tickets) == 0 {
		return 0, err
	}
	return 1, nil
}
