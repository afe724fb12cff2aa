package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// A link that the owner asked to follow is not steered. If there is private data in
// the context, the owner is asked about it nevertheless.
func TestPointedAt(t *testing.T) {
	p := shipped(t, "assistant")
	for _, c := range []struct {
		pointed bool
		secrecy floodmark.Secrecy
		want    floodmark.Verdict
	}{
		{true, floodmark.Internal, floodmark.Allow},
		{false, floodmark.Internal, floodmark.Confirm},
		{true, floodmark.Private, floodmark.Confirm},
		{true, floodmark.Secret, floodmark.Restrict},
	} {
		q := ask("t", floodmark.Fetch, floodmark.External)
		q.Mark = floodmark.Label{Trust: floodmark.External, Secrecy: c.secrecy}
		q.Args = []floodmark.Argument{{Path: "url", Role: floodmark.Critical, Whence: floodmark.Seen, Trust: floodmark.External}}
		q.Reach = policy.Reach{Network: true, URLArg: 0, PointedAt: c.pointed}
		if got := p.Decide(q); got.Verdict != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
