package monitor

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// Beside lowers a session's mark by the mark of other sessions. The caller uses it if the agent may
// act on what those sessions read, because their calls cannot be told apart from this session's.
// Beside records one source, or nothing if the mark is already that low. It opens no session.
func (m *Monitor) Beside(ctx context.Context, s journal.Session, mark floodmark.Label) error {
	if err := m.begin(); err != nil {
		return refuse(err)
	}
	defer m.done()
	if err := checkNames(s, ""); err != nil {
		return err
	}
	judge := func(st *kernel.State, _ kernel.Rules, _ kernel.Input) (kernel.Output, error) {
		switch {
		case !st.Opened:
			return kernel.Output{}, fmt.Errorf("%w: %s", ErrNoSession, s)
		case st.Mark().Join(mark) == st.Mark():
			return kernel.Output{}, nil
		}
		return kernel.Output{Facts: []floodmark.Fact{floodmark.ContentSeen{Source: floodmark.Source{
			Node: floodmark.NodeID(st.Ledger.Len()), Kind: floodmark.NodeHistory, Label: mark,
			Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "what other sessions of the same program have read"},
		}}}}, nil
	}
	_, err := m.write(ctx, job{session: s, event: hook.Event{Session: s.ID}, judge: judge, ruleless: true})
	return err
}
