package main

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// The bench fails if a call gets another answer than the expected one, even while the measured
// session is being made.
func TestOtherVerdictsFailTheBench(t *testing.T) {
	l, err := live(30, benchRules)
	if err != nil {
		t.Fatal(err)
	}
	if n := l.state.Ledger.Len(); n < 30 {
		t.Errorf("%d sources of 30 files", n)
	}
	for _, c := range steps() {
		if err := c.in(l).run(2); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for v := floodmark.Restrict; v <= floodmark.Allow; v++ {
			other := c
			if other.want = v; v != c.want && other.in(l).run(1) == nil {
				t.Errorf("%s may be answered %s", c.name, v)
			}
		}
	}
	if _, err := live(30, benchRules+"toolOverrides: {read: {local: confirm, owner: confirm, system: confirm, external: confirm}}\n"); err == nil {
		t.Error("a session is lived in which nothing is read")
	}
}
