package kernel

import (
	"testing"

	"github.com/floodmark/floodmark"
)

// A result made from content that a person had seen is nothing new to them.
func TestMadeOf(t *testing.T) {
	st := checkedStep(t, "profile: coding")
	for n := range floodmark.NodeID(4) {
		if err := st.s.Ledger.Add(floodmark.Source{Node: n, Kind: floodmark.NodeToolResult}); err != nil {
			t.Fatal(err)
		}
	}
	local := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Internal}
	for name, c := range map[string]struct {
		src  floodmark.Source
		want bool
	}{
		"of what was seen": {floodmark.Source{Label: local, Inputs: []floodmark.NodeID{0, 1}}, true},
		"of something new": {floodmark.Source{Label: local, Inputs: []floodmark.NodeID{0, 2}}, false},
		"low by itself":    {floodmark.Source{Inputs: []floodmark.NodeID{0}}, false},
		"of all before":    {floodmark.Source{Label: local, Whole: true}, false},
		"of the owner's":   {floodmark.Source{Label: local}, true},
	} {
		if got := st.madeOf(c.src, 2); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
