package main

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// A comparison of times means nothing unless the answers are the same.
func TestEnginesAgree(t *testing.T) {
	counts, err := agree(1, wantedCalls)
	if err != nil {
		t.Fatal(err)
	}
	for v := floodmark.Restrict; v <= floodmark.Allow; v++ {
		if counts[v] < wantedCalls/50 {
			t.Errorf("%s is the answer to only %d of %d calls", v, counts[v], wantedCalls)
		}
	}
}

func BenchmarkEngines(b *testing.B) {
	calls, err := workload(1, wantedCalls)
	if err != nil {
		b.Fatal(err)
	}
	all, err := engines()
	if err != nil {
		b.Fatal(err)
	}
	for _, e := range all {
		forms := make([]form, len(calls))
		for i := range calls {
			forms[i] = e.build(&calls[i])
		}
		b.Run("decide/"+e.name(), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := e.decide(forms[i%len(forms)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
