package provenance_test

import (
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// A result that turns out to be made from another source sinks to the label of that source.
func TestArriveWithInputs(t *testing.T) {
	var l provenance.Ledger
	local := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	for _, s := range []floodmark.Source{{Node: 0, Label: floodmark.Label{Secrecy: floodmark.Public}}, {Node: 1, Label: local, Call: "c"}} {
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Arrive(floodmark.ContentArrived{Node: 1, Label: local, Inputs: []floodmark.NodeID{0}}); err != nil {
		t.Fatal(err)
	}
	if got := l.Effective(1).Trust; got != floodmark.Untrusted {
		t.Errorf("made from an untrusted source, it is %v", got)
	}
}
