package monitor

import (
	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
)

// Words is a call of a question as a person saw it when it was asked, rebuilt from the journal: st
// is the session just before the fact that shows the call, code the MAC in that fact, and f the
// decision that [kernel.Leads] to it. So every node can show the questions of any node, even one
// that is gone. It does not contain the code.
func (m *Monitor) Words(s journal.Session, st *kernel.State, shown floodmark.Shown, code floodmark.Digest, f *floodmark.ActionDecided) (approval.Question, error) {
	ring, err := m.ring(s.Tenant)
	if err != nil {
		return approval.Question{}, err
	}
	key, err := keysOf(ring, st)
	if err != nil {
		return approval.Question{}, err
	}
	// The order of places to pick from follows from the code. Its MAC is the same at every node,
	// and as hard to guess without the key.
	in := kernel.Input{Event: hook.Event{Agent: st.Agent, Session: s.ID}, At: m.cfg.Now(), Code: code.String()}
	in.Key, in.KeyName = key.own.Key, key.own.Name
	return kernel.Words(st, m.rulesOf(s, st.Origin(s.ID)), in, shown, f)
}
