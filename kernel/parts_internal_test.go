package kernel

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/intent"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/policy"
)

// The limits people rely on, as numbers: changing one is a change they notice.
func TestLimitsAsNumbers(t *testing.T) {
	for name, l := range map[string][2]int{
		"tokens": {maxContentTokens, 2048}, "a private number": {privateLength, 6}, "a small number": {intent.SmallNumber, 4},
	} {
		if l[0] != l[1] {
			t.Errorf("%s: %d, want %d", name, l[0], l[1])
		}
	}
}

// At Owner, a file that instructs is like any other, unless admin is the only effect.
func TestWithoutAdmin(t *testing.T) {
	only, both := []floodmark.Effect{floodmark.Admin}, []floodmark.Effect{floodmark.Admin, floodmark.Write}
	alone := &floodmark.Basis{Instructs: true}
	if got := effectsAt(only, alone, floodmark.Owner); !slices.Equal(got, only) {
		t.Errorf("only admin: %v", got)
	}
	if got := effectsAt(both, alone, floodmark.Owner); !slices.Equal(got, []floodmark.Effect{floodmark.Write}) || both[0] != floodmark.Admin {
		t.Errorf("a file: %v of %v", got, both)
	}
}

// A recorded call has its effects at the mark it is judged at now: what was a
// file to the owner alone instructs an agent again in another context.
func TestEffectsAtAnotherMark(t *testing.T) {
	file, both := []floodmark.Effect{floodmark.Write}, []floodmark.Effect{floodmark.Write, floodmark.Admin}
	instructs, placed := &floodmark.Basis{Instructs: true}, &floodmark.Basis{Placed: []floodmark.Effect{floodmark.Admin}}
	for _, c := range []struct {
		have  []floodmark.Effect
		b     *floodmark.Basis
		trust floodmark.Trust
		want  []floodmark.Effect
	}{
		{both, instructs, floodmark.Owner, file},
		{file, instructs, floodmark.Owner, file},
		{file, instructs, floodmark.Local, both},
		{both, instructs, floodmark.Local, both},
		{file, &floodmark.Basis{}, floodmark.Untrusted, file},
		{both, &floodmark.Basis{Instructs: true, SelfProtected: true}, floodmark.System, both},
		{file, placed, floodmark.Shared, both},
		{both, placed, floodmark.Local, file},
		{both, placed, floodmark.Shared, both},
	} {
		if got := effectsAt(c.have, c.b, c.trust); !slices.Equal(got, c.want) {
			t.Errorf("%v with %+v at %v: %v, want %v", c.have, *c.b, c.trust, got, c.want)
		}
	}
}

// The reasons against a call are those that allow less.
func TestCodesOfAJudgement(t *testing.T) {
	j := judged{ruling: policy.Ruling{Reasons: []floodmark.Reason{
		{Code: floodmark.FlowSecret, Verdict: floodmark.Confirm},
		{Code: floodmark.Granted, Verdict: floodmark.Allow},
		{Code: floodmark.FlowPrivate, Verdict: floodmark.Audit},
		{Code: floodmark.FlowSecret, Verdict: floodmark.Restrict},
	}}}
	want := []floodmark.Code{floodmark.FlowPrivate, floodmark.FlowSecret}
	slices.Sort(want)
	if got := j.codes(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLast(t *testing.T) {
	for n, want := range map[int]int{1: 1, 3: 3, 4: 3, 9: 3} {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		if got := lists.Last(list, 3); len(got) != want || got[len(got)-1] != n-1 {
			t.Errorf("the last 3 of %d: %v", n, got)
		}
	}
}

// Without readings nothing takes memory.
func TestNoReadingsTakeNothing(t *testing.T) {
	if (*Readings)(nil).Size() != 0 {
		t.Error("nothing takes something")
	}
}
