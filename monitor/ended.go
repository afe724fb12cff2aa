package monitor

import (
	"context"
	"fmt"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/journal"
)

// tellEnded tells the channels that want to know it which questions ended by what
// was just written, and how. The reply does not wait for it. What expires is
// written nowhere: whoever shows a question knows until when.
func (m *Monitor) tellEnded(s journal.Session, facts []floodmark.Fact, at time.Time) {
	for _, f := range facts {
		a, ok := f.(floodmark.TicketAnswered)
		if !ok {
			continue
		}
		o := approval.Outcome{Verdict: a.Verdict, By: a.By, Channel: a.Channel, At: at}
		for _, one := range m.cfg.Approvers {
			closer, wants := one.(approval.Closer)
			if !wants || m.join() != nil {
				continue
			}
			go func() {
				defer m.work.Done()
				if err := m.closeOne(closer, s, a.Ticket, o); err != nil {
					m.observe(Observation{Session: s, Ticket: a.Ticket, Verdict: a.Verdict, Warning: err})
				}
			}()
		}
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
