package kernel

import (
	"fmt"

	"github.com/floodmark/floodmark"
)

// Loosened judges a call without a pause, an opinion or the answer of a gate. It returns an error
// if no approval covers the call and the decision is less strict than the policy's ruling.
func Loosened(s *State, r Rules, in Input) error {
	in.Pause = floodmark.Pause{}
	st := newStep(s, r, in)
	if err := st.heed(); err != nil {
		return err
	}
	st.ensureOpen()
	st.ensureRules()
	st.openTurn()
	j := st.judgeCall(in.Event.Call)
	if j.grant == nil && !j.basis.Unreadable && j.decision.Verdict > j.ruling.Verdict {
		return fmt.Errorf("the policy says %v, the decision is %+v", j.ruling.Verdict, j.decision)
	}
	return nil
}
