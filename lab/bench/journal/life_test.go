package main

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/provenance"
)

// The bench fails if a call gets another answer than the expected one.
func TestOtherVerdictsFailTheBench(t *testing.T) {
	rules, err := shippedRules()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := usualMix().record(t.Context(), rules, provenance.Key{1}, "session-1", 16); err != nil {
		t.Error(err)
	}
	strict, problems := policy.Load(policy.Layer{Name: "bench", Data: []byte("version: 1\nprofile: assistant\nmaxIterations: 10000\ntoolOverrides: {read: {untrusted: confirm}}\n")})
	if problems.Failed() {
		t.Fatal(problems)
	}
	if _, err := usualMix().record(t.Context(), kernel.NewRules(strict, rules.Catalog), provenance.Key{1}, "session-1", 16); err == nil {
		t.Error("a life is recorded in which nothing is read")
	}
	for k := range 8 {
		ev := question("session-1", k)
		good := 0
		for v := floodmark.Restrict; v <= floodmark.Allow; v++ {
			if answered(ev, hook.Reply{Decision: floodmark.Decision{Verdict: v}}, nil) == nil {
				good++
			}
		}
		if good != 1 {
			t.Errorf("call %d may be answered in %d ways", k, good)
		}
	}
}
