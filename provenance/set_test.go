package provenance_test

import (
	"fmt"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/provenance"
)

// pages are sources of strangers, each another content.
func pages(n int) (list []floodmark.Source) {
	for i := range n {
		list = append(list, floodmark.Source{
			Node: floodmark.NodeID(i), Label: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Public},
			Digest: floodmark.DigestOf(fmt.Sprint(i)), Inputs: []floodmark.NodeID{}, Whole: i == 1, Call: "c",
		})
	}
	return list
}

// A set lists the sources that may be endorsed one by one, up to its limit, and joins
// the rest. That never raises its label.
func TestASetIsBounded(t *testing.T) {
	own := floodmark.Source{Label: floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Private}}
	typed := floodmark.Source{Label: floodmark.Label{Trust: floodmark.Owner, Secrecy: floodmark.Internal}}
	set := provenance.MergeSets(pages(provenance.MaxSet), []floodmark.Source{own, typed}, pages(3))
	rest := set[len(set)-1]
	if len(set) != provenance.MaxSet+1 || rest.Label != own.Label || !rest.Digest.IsZero() {
		t.Errorf("%d sources, the last %+v", len(set), rest)
	}
	worse := floodmark.Source{Label: floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Public}, Digest: floodmark.DigestOf("worse")}
	set = provenance.MergeSets(set, []floodmark.Source{worse})
	if l := provenance.SetLabel(set); l != (floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}) {
		t.Errorf("the label is %s", l)
	}
	for i, s := range set {
		if s.Node != floodmark.NodeID(i) || len(s.Inputs) > 0 || s.Whole || s.Call != "" {
			t.Errorf("source %d is not flat: %+v", i, s)
		}
	}
	if provenance.MergeSets() != nil || provenance.SetLabel(nil) != floodmark.Clean() {
		t.Error("a set of nothing is something")
	}
}

// What is written is made from the live sources older than a node, and from
// what these were made from even if that is dead.
func TestASetOfASession(t *testing.T) {
	var l provenance.Ledger
	for _, s := range []floodmark.Source{
		{Node: 0, Digest: floodmark.DigestOf("a")},
		{Node: 1, Digest: floodmark.DigestOf("b")},
	} {
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	l.Clear()
	if set := l.Set(9); len(set) != 0 {
		t.Errorf("of an emptied context: %+v", set)
	}
	if err := l.Add(floodmark.Source{Node: 2, Label: floodmark.Label{Trust: floodmark.Shared}, Inputs: []floodmark.NodeID{1}}); err != nil {
		t.Fatal(err)
	}
	if set := l.Set(3); len(set) != 2 || set[0].Digest != floodmark.DigestOf("b") {
		t.Errorf("%+v", set)
	}
	if set := l.Set(2); len(set) != 0 {
		t.Errorf("older than all that is live: %+v", set)
	}
}

// The way a source came is kept with its first and its newest passages.
func TestPassages(t *testing.T) {
	var s floodmark.Source
	pass := func(i int) floodmark.Passage {
		return floodmark.Passage{Artifact: floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: fmt.Sprint(i)}, Session: "s"}
	}
	for i := range 4 {
		s = provenance.Passed(provenance.Passed(s, pass(i)), pass(i))
	}
	if len(s.Via) != 4 {
		t.Fatalf("%d passages", len(s.Via))
	}
	before := s
	s = provenance.Passed(s, pass(4))
	if len(s.Via) != 4 || s.Via[0] != pass(0) || s.Via[1] != pass(2) || s.Via[3] != pass(4) || before.Via[1] != pass(1) {
		t.Errorf("%v", s.Via)
	}
}
