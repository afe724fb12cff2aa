package monitor

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// Words is a call of a question as a person saw it when it was asked, made from what
// is in the journal: st is the session just before the fact that shows the call, code
// the MAC in that fact, and f the decision that [kernel.Leads] to it. So every node
// shows what any node asked, also one that is gone. The code itself is nowhere in it.
func (m *Monitor) Words(s journal.Session, st *kernel.State, shown floodmark.Shown, code floodmark.Digest, f *floodmark.ActionDecided) (approval.Question, error) {
	ring, err := m.ring(s.Tenant)
	if err != nil {
		return approval.Question{}, err
	}
	key, err := keysOf(ring, st)
	if err != nil {
		return approval.Question{}, err
	}
	// Places to pick from are in an order that follows from the code. Its MAC is the
	// same at every node, and with the key as little to be guessed.
	in := kernel.Input{Event: hook.Event{Agent: st.Agent, Session: s.ID}, At: m.cfg.Now(), Code: code.String()}
	in.Key, in.KeyName = key.own.Key, key.own.Name
	return kernel.Words(st, m.rulesOf(s, st.Origin(s.ID)), in, shown, f)
}
