package provenance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

func TestBlameStopsAtTheWorst(t *testing.T) {
	var l Ledger
	if got := l.Blame(floodmark.System); got != nil {
		t.Errorf("nothing was read, and %v are blamed", got)
	}
	external := label(floodmark.External, floodmark.Public)
	mustAdd(t, &l, source(0, external))
	l.Clear()
	mustAdd(t, &l, source(1, external, 0), source(2, label(floodmark.Local, floodmark.Public)))
	if got := l.Blame(floodmark.External); !slices.Equal(got, []floodmark.NodeID{1}) {
		t.Errorf("blame %v: what is as bad itself is not followed further", got)
	}
	if got := l.Blame(floodmark.Untrusted); got != nil {
		t.Errorf("blame %v, though nothing is that bad", got)
	}
}

// Blame returns the least believed sources, whatever comes after them.
func TestBlameKeepsTheLeastBelieved(t *testing.T) {
	var l Ledger
	for n, trust := range []floodmark.Trust{
		floodmark.Local, floodmark.Untrusted, floodmark.External, floodmark.Shared, floodmark.External, floodmark.Untrusted, floodmark.Local, floodmark.Owner,
	} {
		mustAdd(t, &l, source(n, label(trust, floodmark.Public)))
	}
	if got, want := l.Blame(floodmark.System), []floodmark.NodeID{1, 5, 2, 4, 3}; !slices.Equal(got, want) {
		t.Errorf("blame %v, want %v", got, want)
	}
}

func TestNewBelow(t *testing.T) {
	var l Ledger
	mustAdd(t, &l, source(0, floodmark.Clean()), source(1, label(floodmark.External, floodmark.Public)), source(2, floodmark.Clean()))
	for _, tt := range []struct {
		from  floodmark.NodeID
		limit floodmark.Trust
		want  bool
	}{
		{0, floodmark.Shared, true}, {1, floodmark.Shared, true}, {2, floodmark.Shared, false}, {1, floodmark.External, false},
	} {
		if got := l.NewBelow(tt.from, tt.limit, nil); got != tt.want {
			t.Errorf("new below %v since %d: %v", tt.limit, tt.from, got)
		}
	}
	l.Clear()
	if l.NewBelow(0, floodmark.System, nil) {
		t.Error("what was cleared is new")
	}
	revive(&l, 1)
	if !l.NewBelow(2, floodmark.Shared, nil) || l.NewBelow(3, floodmark.Shared, nil) {
		t.Error("what came back is new to those who asked before, and to nobody else")
	}
	revive(&l, 1) // it is there already
	mustAdd(t, &l, source(3, floodmark.Clean()))
	if l.NewBelow(3, floodmark.Shared, nil) {
		t.Error("what is live cannot come back")
	}
}

func TestExportNumbersAnew(t *testing.T) {
	var l Ledger
	clean := floodmark.Clean()
	mustAdd(t, &l, source(0, clean))
	l.Clear()
	mustAdd(t, &l, source(1, clean), source(2, clean, 1), source(3, clean, 2, 1, 2))
	check := func(got []floodmark.Source, want ...[]floodmark.NodeID) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%d sources, want %d", len(got), len(want))
		}
		for i, s := range got {
			if int(s.Node) != i || !slices.Equal(s.Inputs, want[i]) {
				t.Errorf("source %d is %d, made from %v, want %v", i, s.Node, s.Inputs, want[i])
			}
		}
	}
	check(l.Export(), nil, []floodmark.NodeID{0}, []floodmark.NodeID{0, 1})
	summary := source(4, clean)
	summary.Whole = true
	mustAdd(t, &l, summary) // it was made from the cleared one, too
	check(l.Export(), nil, nil, []floodmark.NodeID{1}, []floodmark.NodeID{1, 2}, nil)
}

// Sources that differ in anything that [exportKey] has are exported separately.
func TestExportKeepsWhatDiffers(t *testing.T) {
	for name, change := range map[string]func(*floodmark.Source){
		"content": func(s *floodmark.Source) { s.Digest = floodmark.DigestOf("other") },
		"trust":   func(s *floodmark.Source) { s.Label.Trust = floodmark.Shared },
		"secrecy": func(s *floodmark.Source) { s.Label.Secrecy = floodmark.Secret },
		"kind":    func(s *floodmark.Source) { s.Origin.Kind = floodmark.FromSender },
		"name":    func(s *floodmark.Source) { s.Origin.Name = "other" },
		"server":  func(s *floodmark.Source) { s.Origin.Server = "other" },
		"place":   func(s *floodmark.Source) { s.Origin.Place = "other" },
		"sender":  func(s *floodmark.Source) { s.Origin.Sender = "other" },
		"group":   func(s *floodmark.Source) { s.Origin.Group = "other" },
		"owner":   func(s *floodmark.Source) { s.Origin.IsOwner = true },
		"call":    func(s *floodmark.Source) { s.Call = "c1" },
		"inputs":  func(s *floodmark.Source) { s.Inputs = []floodmark.NodeID{0} },
		"summary": func(s *floodmark.Source) { s.Whole = true },
		"nothing": func(*floodmark.Source) {},
	} {
		var l Ledger
		twin := source(1, floodmark.Clean())
		mustAdd(t, &l, source(0, label(floodmark.Local, floodmark.Public)), twin)
		twin.Node = 2
		change(&twin)
		mustAdd(t, &l, twin)
		want := 3
		if name == "nothing" {
			want = 2
		}
		if got := len(l.Export()); got != want {
			t.Errorf("another %s: %d sources, want %d", name, got, want)
		}
	}
}

func TestExportKeepsSummariesAndInputsApart(t *testing.T) {
	var l Ledger
	for n := range 2 {
		s := source(n, floodmark.Clean())
		s.Digest, s.Whole = floodmark.DigestOf("same"), true
		mustAdd(t, &l, s)
	}
	if got := len(l.Export()); got != 2 {
		t.Errorf("two summaries became %d", got)
	}
	for n := 2; n < 15; n++ {
		mustAdd(t, &l, source(n, floodmark.Clean()))
	}
	for n, inputs := range [][]floodmark.NodeID{{1, 2}, {12}, {1, 2}} {
		s := source(15+n, floodmark.Clean(), inputs...)
		s.Digest = floodmark.DigestOf("same")
		mustAdd(t, &l, s)
	}
	if got := len(l.Export()); got != 17 {
		t.Errorf("%d sources, want 17: made from 1 and 2 is not made from 12", got)
	}
	for range l.Sources() {
		break // it must not go on
	}
}

func TestWhatHasNotArrivedCannotBeVouchedFor(t *testing.T) {
	var l Ledger
	s := source(0, label(floodmark.Untrusted, floodmark.Public))
	s.Call = "c1"
	mustAdd(t, &l, s)
	l.Endorse(floodmark.Endorsed{Digest: s.Digest, Trust: floodmark.Local})
	if got := l.Mark().Trust; got != floodmark.Untrusted {
		t.Errorf("an announced source is at %v", got)
	}
	if err := l.Arrive(floodmark.ContentArrived{Node: 0, Label: floodmark.Clean()}); err != nil || l.Mark().Trust != floodmark.Local {
		t.Errorf("%v, mark %v", err, l.Mark())
	}
}

func TestRefusedAnnouncementsAreForgotten(t *testing.T) {
	var l Ledger
	mustAdd(t, &l, source(0, floodmark.Clean()))
	s := source(1, floodmark.Clean())
	s.Call = "c1"
	if err := l.AddAll([]floodmark.Source{s, source(5, floodmark.Clean())}); err == nil {
		t.Error("no error")
	}
	if n, ok := l.Pending("c1"); ok {
		t.Errorf("node %d is pending", n)
	}
	if _, ok := l.Find(s.Digest); ok {
		t.Error("its content is known")
	}
}

func TestComebacksInSnapshots(t *testing.T) {
	var l Ledger
	mustAdd(t, &l, source(0, floodmark.Clean()), source(1, floodmark.Clean()))
	data, err := l.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for since, want := range map[int]bool{-1: false, 0: false, 1: false, 2: true, 3: false} {
		snapshot := strings.TrimSuffix(string(data), "}") + fmt.Sprintf(`,"back":[{"node":1,"since":%d}]}`, since)
		if err := l.UnmarshalJSON([]byte(snapshot)); (err == nil) != want {
			t.Errorf("source 1 came back at %d: %v", since, err)
		}
	}
	if err := l.UnmarshalJSON([]byte("{} {}")); err == nil || l.Len() != 2 {
		t.Errorf("two snapshots at once: %v", err)
	}
}

// Within looks at all live sources that have arrived, and at no others.
func TestWithin(t *testing.T) {
	var l Ledger
	local := label(floodmark.Local, floodmark.Public)
	coming := source(1, label(floodmark.External, floodmark.Public))
	coming.Call = "c"
	mustAdd(t, &l, source(0, local), coming)
	if !l.Within(local) || l.Within(floodmark.Clean()) || !l.Within(floodmark.Label{}) {
		t.Error("only what is here counts, and all of it")
	}
	if err := l.Arrive(floodmark.ContentArrived{Node: 1, Label: local}); err != nil {
		t.Fatal(err)
	}
	if l.Within(local) || !l.Within(l.Mark()) {
		t.Error("what arrived counts")
	}
	l.Clear()
	if !l.Within(local) {
		t.Error("what was cleared counts")
	}
}
