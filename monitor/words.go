package monitor

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// Words rebuilds from the journal a call of a question, as a person saw it when it was asked. St is
// the session just before the fact that shows the call, code is the MAC in that fact, and f is the
// decision that, by [kernel.Leads], led to that fact. So every node can show the questions of any
// node, even of one that is gone. The result does not contain the question's code.
func (m *Monitor) Words(s journal.Session, st *kernel.State, shown floodmark.Shown, code floodmark.Digest, f *floodmark.ActionDecided) (approval.Question, error) {
	ring, err := m.ring(s.Tenant)
	if err != nil {
		return approval.Question{}, err
	}
	key, err := keysOf(ring, st)
	if err != nil {
		return approval.Question{}, err
	}
	// The places that a person picks from are ordered by a code. This takes the code's MAC instead,
	// which is the same at every node and as hard to guess without the key.
	in := kernel.Input{Event: hook.Event{Agent: st.Agent, Session: s.ID}, At: m.cfg.Now(), Code: code.String()}
	in.Key, in.KeyName = key.own.Key, key.own.Name
	return kernel.Words(st, m.rulesOf(s, st.Origin(s.ID)), in, shown, f)
}
