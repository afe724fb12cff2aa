package kernel

import (
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/internal/text/language"
	"github.com/floodmark/floodmark/policy"
)

// Readings remember how the owner's words were read and what rules said of sources, so that neither
// is done again for every call. Doing it again would give the same. They belong to one session and
// to the caller that judges it; the zero Readings are empty.
type Readings struct {
	said   intent.Readings
	counts policy.Counts // what rules over sources answered so far under policy
	policy *policy.Policy
	// shown is what a card repeats of the message shownOf, read with the words shownBy.
	shown, shownOf string
	shownBy        *language.Lexicon
}

// Size returns about how much memory they take.
func (rs *Readings) Size() int64 {
	if rs == nil {
		return 0
	}
	return rs.counts.Size() + rs.said.Size() + int64(len(rs.shown)+len(rs.shownOf))
}

// sources returns the session's live sources, as rules see them.
func (st *step) sources() policy.Sources {
	s, rs := policy.Sources{Ledger: &st.s.Ledger}, st.in.Readings
	if rs != nil {
		if rs.policy != st.r.Policy {
			rs.policy, rs.counts = st.r.Policy, policy.Counts{}
		}
		s.Counts = &rs.counts
	}
	return s
}

// intent returns what the owner asked for in this session.
func (st *step) intent() *intent.Session {
	s := &intent.Session{
		Agent: st.ev.Agent, Catalog: st.r.Catalog, Words: st.r.words, Ledger: &st.s.Ledger,
		Said: st.s.Owner, Turn: st.s.TurnBegan, LastTurn: st.s.LastTurnBegan,
	}
	if !st.s.InTurn && st.s.Parent == "" { // the call opens a turn, in which the owner has said nothing yet
		s.Turn, s.LastTurn = len(st.s.Owner), st.s.TurnBegan
	}
	if st.in.Readings != nil {
		s.Read = &st.in.Readings.said
	}
	return s
}

// call returns what the owner's words are compared with.
func (j *judged) call() *intent.Call {
	c := &intent.Call{Tool: j.action.Tool, Effects: j.action.Effects, Arguments: j.action.Arguments, Use: &j.use, Leaves: j.leaves}
	c.About = make([]catalog.Arg, len(j.leaves))
	for i, leaf := range j.leaves {
		c.About[i] = argument(j.use, leaf)
	}
	return c
}
