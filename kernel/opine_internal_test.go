package kernel

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// What the auditor may resolve, by effect, by the mark, and by the trust of the values. It may not
// resolve a call without a known effect.
func TestAuditableLaw(t *testing.T) {
	st := checkedStep(t, "auditor: {on: true}")
	st.s.Owner = []string{"hello"}
	for mark := floodmark.Untrusted; mark <= floodmark.System; mark++ {
		for values := floodmark.Untrusted; values <= floodmark.System; values++ {
			for _, effects := range [][]floodmark.Effect{
				nil,
				{floodmark.Observe},
				{floodmark.Fetch},
				{floodmark.Write},
				{floodmark.Change},
				{floodmark.Send},
				{floodmark.Run},
				{floodmark.Admin},
				{floodmark.Write, floodmark.Run},
				{floodmark.Send, floodmark.Admin},
			} {
				want := len(effects) > 0
				for _, e := range effects {
					want = want && e != floodmark.Admin && (e != floodmark.Run || mark >= floodmark.Local && values >= floodmark.Local)
				}
				j := judged{mark: floodmark.Label{Trust: mark}, action: floodmark.Action{Effects: effects}}
				j.question.Trust = values
				if got := st.auditable(&j); got != want {
					t.Errorf("%v at %v, values at %v: %v", effects, mark, values, got)
				}
				flow, secret := j, j
				flow.ruling.Flow, secret.basis.SecretInArgs = true, true
				if st.auditable(&flow) || st.auditable(&secret) {
					t.Errorf("%v at %v: a flow or a secret is no case for an auditor", effects, mark)
				}
			}
		}
	}
}
