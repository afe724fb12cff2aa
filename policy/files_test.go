package policy_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
)

// If the table wants an audit of a write, a call without a text of its own passes,
// unless only text from outside named the path.
func TestNothingToLookAt(t *testing.T) {
	arg := func(w floodmark.Whence, trust floodmark.Trust) []floodmark.Argument {
		return []floodmark.Argument{{Path: "path", Role: floodmark.Critical, Whence: w, Trust: trust}}
	}
	plain := func(*policy.Question) {}
	for _, c := range []struct {
		name   string
		p      *policy.Policy
		change func(*policy.Question)
		want   floodmark.Verdict
	}{
		{"nothing", shipped(t, "assistant"), plain, floodmark.Allow},
		{"nobody said so", shipped(t, "assistant"), func(q *policy.Question) { q.Reach.NoText = false }, floodmark.Audit},
		{"a path from outside", shipped(t, "assistant"), func(q *policy.Question) { q.Args = arg(floodmark.Seen, floodmark.External) }, floodmark.Audit},
		{"a path of a file", shipped(t, "assistant"), func(q *policy.Question) { q.Args = arg(floodmark.Seen, floodmark.Local) }, floodmark.Allow},
		{"a path he typed", shipped(t, "assistant"), func(q *policy.Question) { q.Args = arg(floodmark.Stated, floodmark.Owner) }, floodmark.Allow},
		{"a path that is not there", shipped(t, "assistant"), func(q *policy.Question) { q.Reach.Paths = []int{7} }, floodmark.Audit},
		{"no path", shipped(t, "assistant"), func(q *policy.Question) { q.Args, q.Reach.Paths = arg(floodmark.Seen, floodmark.External), nil }, floodmark.Allow},
		{"the monitor itself", shipped(t, "assistant"), func(q *policy.Question) { q.SelfProtected = true }, floodmark.Confirm},
		{"a change beside it", shipped(t, "assistant"), func(q *policy.Question) { q.Effects = append(q.Effects, floodmark.Change) }, floodmark.Confirm},
		{"an override", load(t, user(`toolOverrides: {save: {untrusted: audit}}`)), plain, floodmark.Audit},
		{"a project", load(t, user(), project(`taintPolicy: {untrusted: confirm}`)), plain, floodmark.Confirm},
		{"a person wanted", load(t, user(`table: {write: {untrusted: confirm}}`)), plain, floodmark.Confirm},
		{"strict", shipped(t, "strict"), func(q *policy.Question) { q.Mark.Trust, q.Trust = floodmark.Shared, floodmark.Shared }, floodmark.Audit},
	} {
		q := ask("save", floodmark.Write, floodmark.Untrusted)
		q.Args, q.Reach.NoText, q.Reach.Paths = arg(floodmark.Nowhere, floodmark.Untrusted), true, []int{0}
		c.change(q)
		if got := c.p.Decide(q); got.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.name, got.Verdict, c.want, got.Reasons)
		}
	}
}
