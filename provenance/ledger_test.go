package provenance

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
)

func label(t floodmark.Trust, s floodmark.Secrecy) floodmark.Label {
	return floodmark.Label{Trust: t, Secrecy: s}
}

// source returns a source with a content of its own.
func source(n int, l floodmark.Label, inputs ...floodmark.NodeID) floodmark.Source {
	return floodmark.Source{
		Node: floodmark.NodeID(n), Kind: floodmark.NodeInput, Label: l, Inputs: inputs,
		Origin: floodmark.Origin{Kind: floodmark.FromTool, Name: "read"},
		Digest: floodmark.DigestOf(fmt.Sprint("content ", n)),
	}
}

func mustAdd(t testing.TB, l *Ledger, sources ...floodmark.Source) {
	t.Helper()
	for _, s := range sources {
		if err := l.Add(s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestZeroLedgerIsClean(t *testing.T) {
	var l Ledger
	if l.Mark() != floodmark.Clean() || l.Levels() != 0 || l.Len() != 0 || l.Live(0) {
		t.Errorf("mark %v, levels %b, len %d", l.Mark(), l.Levels(), l.Len())
	}
	if got := l.Effective(0); got != (floodmark.Label{}) {
		t.Errorf("an unknown node is %v, want the safest", got)
	}
	if _, ok := l.Source(-1); ok {
		t.Error("there is no source before the first")
	}
	l.Withdraw(floodmark.Digest{})
	l.Clear()
}

func TestMarkIsTheJoinOfLiveSources(t *testing.T) {
	var l Ledger
	mustAdd(t, &l,
		source(0, label(floodmark.Owner, floodmark.Private)),
		source(1, label(floodmark.External, floodmark.Public)),
		source(2, label(floodmark.System, floodmark.Public), 1),
	)
	if got, want := l.Mark(), label(floodmark.External, floodmark.Private); got != want {
		t.Errorf("mark %v, want %v", got, want)
	}
	if got, want := l.Effective(2), label(floodmark.External, floodmark.Public); got != want {
		t.Errorf("derived %v, want %v", got, want)
	}
	if got, want := l.Levels(), LevelsOf(floodmark.Owner, floodmark.External); got != want {
		t.Errorf("levels %b, want %b", got, want)
	}
	if l.Levels().Has(floodmark.System) || !l.Levels().Has(floodmark.Owner) {
		t.Error("Has disagrees with the set")
	}
}

func TestWholeIsMadeFromEverythingOlder(t *testing.T) {
	var l Ledger
	mustAdd(t, &l, source(0, label(floodmark.Untrusted, floodmark.Secret)))
	l.Clear()
	summary := source(1, label(floodmark.System, floodmark.Public))
	summary.Whole = true
	mustAdd(t, &l, summary)
	if got, want := l.Mark(), label(floodmark.Untrusted, floodmark.Secret); got != want {
		t.Errorf("the mark after a summary is %v, want %v", got, want)
	}
	if got := l.Blame(floodmark.External); !slices.Equal(got, []floodmark.NodeID{0}) {
		t.Errorf("blame %v, want the cleared source behind the summary", got)
	}
}

func TestAddRefuses(t *testing.T) {
	tests := map[string]floodmark.Source{
		"a gap":            source(2, floodmark.Clean()),
		"a used node":      source(0, floodmark.Clean()),
		"itself as input":  source(1, floodmark.Clean(), 1),
		"a negative input": source(1, floodmark.Clean(), -1),
		"no such trust":    source(1, floodmark.Label{Trust: 9, Secrecy: floodmark.Public}),
	}
	for name, s := range tests {
		t.Run(name, func(t *testing.T) {
			var l, same Ledger
			mustAdd(t, &l, source(0, floodmark.Clean()))
			mustAdd(t, &same, source(0, floodmark.Clean()))
			if err := l.Add(s); err == nil {
				t.Error("no error")
			}
			if !reflect.DeepEqual(l, same) {
				t.Error("the ledger changed")
			}
		})
	}
}

func TestSourcesAreLimited(t *testing.T) {
	l, s := &Ledger{}, floodmark.Source{}
	for ; s.Node < MaxSources; s.Node++ {
		mustAdd(t, l, s)
	}
	if err := l.Add(s); !errors.Is(err, ErrSources) {
		t.Errorf("got %v, want %v", err, ErrSources)
	}
}

func TestAnnouncedSourcesLowerTheMark(t *testing.T) {
	var l Ledger
	s := source(0, label(floodmark.Untrusted, floodmark.Public))
	s.Digest, s.Call = floodmark.Digest{}, "c1"
	mustAdd(t, &l, s, source(1, floodmark.Clean(), 0))
	if l.Mark().Trust != floodmark.Untrusted {
		t.Error("an announced source does not lower the mark")
	}
	if n, ok := l.Pending("c1"); !ok || n != 0 {
		t.Errorf("pending %d, %v", n, ok)
	}
	d := floodmark.DigestOf("result")
	err := l.Arrive(floodmark.ContentArrived{Node: 0, Digest: d, Label: label(floodmark.System, floodmark.Secret)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.Mark(), label(floodmark.Untrusted, floodmark.Secret); got != want {
		t.Errorf("mark %v, want %v: what arrives is joined with what was expected", got, want)
	}
	if got := l.Effective(1).Secrecy; got != floodmark.Secret {
		t.Errorf("what was made from it is %v", got)
	}
	if n, ok := l.Find(d); !ok || n != 0 {
		t.Errorf("found %d, %v", n, ok)
	}
	if _, ok := l.Pending("c1"); ok {
		t.Error("still pending")
	}
}

func TestArriveRefuses(t *testing.T) {
	var l Ledger
	announced := source(1, floodmark.Clean())
	announced.Call = "c1"
	mustAdd(t, &l, source(0, floodmark.Clean()), announced)
	for name, f := range map[string]floodmark.ContentArrived{
		"what was not announced": {Node: 0},
		"what does not exist":    {Node: 7},
		"a newer input":          {Node: 1, Inputs: []floodmark.NodeID{1}},
		"no such label":          {Node: 1, Label: floodmark.Label{Trust: 17}},
	} {
		if l.Arrive(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, ok := l.Pending("c1"); !ok {
		t.Error("a refused arrival changed the ledger")
	}
	if err := l.Arrive(floodmark.ContentArrived{Node: 1, Label: floodmark.Clean(), Inputs: []floodmark.NodeID{0}}); err != nil {
		t.Fatal(err)
	}
	if l.Arrive(floodmark.ContentArrived{Node: 1, Label: floodmark.Clean()}) == nil {
		t.Error("it arrived twice")
	}
}

func TestNewestAnnouncementOfACallIsPending(t *testing.T) {
	var l Ledger
	for n := range 3 {
		s := source(n, floodmark.Clean())
		s.Call = "same"
		mustAdd(t, &l, s)
	}
	if n, _ := l.Pending("same"); n != 2 {
		t.Errorf("pending %d, want 2", n)
	}
}

func TestEndorsement(t *testing.T) {
	tests := []struct {
		name          string
		own, vouched  floodmark.Trust
		want          floodmark.Trust
		wantWithdrawn floodmark.Trust
	}{
		{"raises", floodmark.Untrusted, floodmark.Shared, floodmark.Shared, floodmark.Untrusted},
		{"never above local", floodmark.Untrusted, floodmark.System, floodmark.Local, floodmark.Untrusted},
		{"never lowers", floodmark.Owner, floodmark.Shared, floodmark.Owner, floodmark.Owner},
		{"of an owner's text to local", floodmark.Owner, floodmark.Owner, floodmark.Owner, floodmark.Owner},
		{"of nothing", floodmark.External, floodmark.Untrusted, floodmark.External, floodmark.External},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l Ledger
			s := source(0, label(tt.own, floodmark.Private))
			mustAdd(t, &l, s)
			l.Endorse(floodmark.Endorsed{Digest: s.Digest, Trust: tt.vouched, By: "owner"})
			if got, want := l.Mark(), label(tt.want, floodmark.Private); got != want {
				t.Errorf("mark %v, want %v", got, want)
			}
			if own, _ := l.Source(0); own.Label.Trust != tt.own {
				t.Errorf("the source's own label became %v", own.Label)
			}
			l.Withdraw(s.Digest)
			if got := l.Mark().Trust; got != tt.wantWithdrawn {
				t.Errorf("after the withdrawal %v, want %v", got, tt.wantWithdrawn)
			}
		})
	}
}

func TestEndorsementReachesOnlyTheContentItself(t *testing.T) {
	var l Ledger
	page := source(0, label(floodmark.Untrusted, floodmark.Public))
	derived := source(1, label(floodmark.Local, floodmark.Public), 0)
	unknown := source(2, label(floodmark.External, floodmark.Public))
	unknown.Digest = floodmark.Digest{}
	mustAdd(t, &l, page, derived, unknown)

	l.Endorse(floodmark.Endorsed{Digest: derived.Digest, Trust: floodmark.Local})
	if got := l.Effective(1).Trust; got != floodmark.Untrusted {
		t.Errorf("endorsing what was made from a page gives %v", got)
	}
	l.Endorse(floodmark.Endorsed{Trust: floodmark.Local})
	if got := l.Effective(2).Trust; got != floodmark.External || len(l.Endorsements()) != 1 {
		t.Errorf("content nobody knows was endorsed: %v", got)
	}
	l.Endorse(floodmark.Endorsed{Digest: page.Digest, Trust: floodmark.Local})
	if got := l.Effective(1).Trust; got != floodmark.Local {
		t.Errorf("endorsing the page leaves what was made from it at %v", got)
	}
	l.Withdraw(page.Digest)
	if got := l.Effective(1).Trust; got != floodmark.Untrusted {
		t.Errorf("a withdrawal does not sink it again: %v", got)
	}
}

func TestLastWordOnAContentCounts(t *testing.T) {
	var l Ledger
	s := source(0, label(floodmark.Untrusted, floodmark.Public))
	mustAdd(t, &l, s)
	l.Endorse(floodmark.Endorsed{Digest: s.Digest, Trust: floodmark.Local})
	l.Endorse(floodmark.Endorsed{Digest: s.Digest, Trust: floodmark.External})
	if got := l.Mark().Trust; got != floodmark.External || len(l.Endorsements()) != 1 {
		t.Errorf("mark %v with %d endorsements", got, len(l.Endorsements()))
	}
}

func TestClearAndRevive(t *testing.T) {
	var l Ledger
	poison := source(0, label(floodmark.Untrusted, floodmark.Secret))
	mustAdd(t, &l, poison, source(1, label(floodmark.Local, floodmark.Public)))
	l.Clear()
	if l.Mark() != floodmark.Clean() || l.Live(0) || l.Levels() != 0 {
		t.Errorf("mark %v after a clear", l.Mark())
	}
	if n, ok := l.Find(poison.Digest); !ok || n != 0 {
		t.Error("a cleared source is forgotten")
	}
	mustAdd(t, &l, source(2, label(floodmark.Owner, floodmark.Public)))
	if l.NewBelow(2, floodmark.Owner, nil) {
		t.Error("nothing low is new")
	}
	mustAdd(t, &l, source(3, label(floodmark.Owner, floodmark.Public)))
	revive(&l, 0)
	if l.Mark().Trust != floodmark.Untrusted || !l.Live(0) || l.Live(1) {
		t.Errorf("mark %v after a revival", l.Mark())
	}
	if !l.NewBelow(2, floodmark.Owner, nil) {
		t.Error("what came back is not new to a question asked before")
	}
	if l.NewBelow(4, floodmark.Owner, nil) {
		t.Error("what came back is new to a question asked after")
	}
}

func TestContentThatArrivesAfterAClearIsLive(t *testing.T) {
	var l Ledger
	s := source(0, label(floodmark.Untrusted, floodmark.Public))
	s.Call = "c1"
	mustAdd(t, &l, s)
	l.Clear()
	if err := l.Arrive(floodmark.ContentArrived{Node: 0, Label: floodmark.Clean()}); err != nil {
		t.Fatal(err)
	}
	if l.Mark().Trust != floodmark.Untrusted {
		t.Error("it came into the empty context unseen")
	}
}

func TestBlame(t *testing.T) {
	var l Ledger
	mustAdd(t, &l,
		source(0, label(floodmark.Owner, floodmark.Public)),
		source(1, label(floodmark.External, floodmark.Public)),
		source(2, label(floodmark.Untrusted, floodmark.Public)),
		source(3, label(floodmark.Local, floodmark.Public), 2),
		source(4, label(floodmark.Untrusted, floodmark.Public)),
	)
	for limit, want := range map[floodmark.Trust][]floodmark.NodeID{
		floodmark.Untrusted: {2, 4},
		floodmark.External:  {2, 4, 1},
		floodmark.Owner:     {2, 4, 1, 3, 0},
	} {
		if got := l.Blame(limit); !slices.Equal(got, want) {
			t.Errorf("blame for %v: %v, want %v", limit, got, want)
		}
	}
	l.Clear()
	if got := l.Blame(floodmark.System); len(got) != 0 {
		t.Errorf("blame %v in an empty context", got)
	}
	revive(&l, 3)
	if got := l.Blame(floodmark.External); !slices.Equal(got, []floodmark.NodeID{2}) {
		t.Errorf("blame %v, want what the live source was made from", got)
	}
	var many Ledger
	for n := range MaxBlame + 1 {
		mustAdd(t, &many, source(n, floodmark.Label{}))
	}
	if got := many.Blame(floodmark.Untrusted); len(got) != MaxBlame {
		t.Errorf("%d sources blamed, at most %d", len(got), MaxBlame)
	}
}

func TestExportLeavesOutTwins(t *testing.T) {
	var l Ledger
	twin := source(1, label(floodmark.External, floodmark.Public))
	twin.Digest = floodmark.DigestOf("same")
	other := twin
	other.Node = 2
	dead := source(0, label(floodmark.Untrusted, floodmark.Public))
	pending := source(4, label(floodmark.Local, floodmark.Public))
	pending.Call = "c9"
	mustAdd(t, &l, dead)
	l.Clear()
	mustAdd(t, &l, twin, other, source(3, label(floodmark.Local, floodmark.Public), 2), pending)
	got := l.Export()
	if len(got) != 3 || got[0].Digest != twin.Digest || !slices.Equal(got[1].Inputs, []floodmark.NodeID{0}) || got[2].Call != "c9" {
		t.Errorf("export %+v", got)
	}
}

func TestAddAllIsAllOrNothing(t *testing.T) {
	var l Ledger
	mustAdd(t, &l, source(0, floodmark.Clean()))
	pending := source(2, floodmark.Clean())
	pending.Call = "c1"
	more := []floodmark.Source{source(1, label(floodmark.Untrusted, floodmark.Public), 0), pending}
	before, _ := json.Marshal(&l)
	if err := l.AddAll(append(slices.Clone(more), source(9, floodmark.Clean()))); err == nil {
		t.Error("no error")
	}
	after, _ := json.Marshal(&l)
	if string(before) != string(after) || !reflect.DeepEqual(again(t, &l), &l) {
		t.Error("a refused addition changed the ledger")
	}
	if err := l.AddAll(more); err != nil || l.Len() != 3 || l.Mark().Trust != floodmark.Untrusted {
		t.Errorf("%v, %d sources", err, l.Len())
	}
	var empty Ledger
	if err := empty.AddAll([]floodmark.Source{source(0, floodmark.Clean()), source(0, floodmark.Clean())}); err == nil || !reflect.DeepEqual(empty, Ledger{}) {
		t.Errorf("%v, %+v", err, empty)
	}
}

func again(t testing.TB, l *Ledger) *Ledger {
	t.Helper()
	data, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	var back Ledger
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return &back
}

func TestLedgerIsWrittenFromACopy(t *testing.T) {
	var l Ledger
	mustAdd(t, &l, source(0, floodmark.Label{}))
	byPointer, _ := json.Marshal(&l)
	byValue, _ := json.Marshal(struct{ L Ledger }{l})
	if string(byValue) != `{"L":`+string(byPointer)+`}` {
		t.Errorf("%s\n%s", byPointer, byValue)
	}
}

func TestLedgerJSONRefuses(t *testing.T) {
	for name, data := range map[string]string{
		"unknown keys":         `{"surprise":1}`,
		"a gap":                `{"sources":[{"node":1,"kind":"input","origin":{},"label":{"trust":"owner","secrecy":"public"}}]}`,
		"an unknown word":      `{"sources":[{"node":0,"kind":"input","origin":{},"label":{"trust":"saint","secrecy":"public"}}]}`,
		"dead strangers":       `{"dead":[0]}`,
		"strangers coming":     `{"back":[{"node":0,"since":1}]}`,
		"endorsing nothing":    `{"endorsed":[{"digest":"` + floodmark.Digest{}.String() + `","trust":"local"}]}`,
		"endorsing it twice":   `{"endorsed":[{"digest":"` + floodmark.DigestOf("a").String() + `","trust":"local"},{"digest":"` + floodmark.DigestOf("a").String() + `","trust":"local"}]}`,
		"something else":       `[]`,
		"half of a ledger":     `{"sources":[`,
		"negative comebacks":   `{"back":[{"node":-1,"since":1}]}`,
		"a trust as a number":  `{"endorsed":[{"digest":"` + floodmark.DigestOf("a").String() + `","trust":5}]}`,
		"null inside of lists": `{"sources":[{"node":0,"inputs":[0]}]}`,
	} {
		var l Ledger
		if err := l.UnmarshalJSON([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if !reflect.DeepEqual(l, Ledger{}) {
			t.Errorf("%s: the ledger changed", name)
		}
	}
}

func FuzzLedgerJSON(f *testing.F) {
	var l Ledger
	for n := range 3 {
		s := source(n, label(floodmark.Trust(n), floodmark.Public))
		mustAdd(f, &l, s)
	}
	l.Endorse(floodmark.Endorsed{Digest: floodmark.DigestOf("content 0"), Trust: floodmark.Local})
	l.Clear()
	revive(&l, 1)
	data, _ := json.Marshal(&l)
	f.Add(data)
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var l Ledger
		if l.UnmarshalJSON(data) != nil {
			return
		}
		back := again(t, &l)
		if back.Mark() != l.Mark() || back.Len() != l.Len() {
			t.Errorf("mark %v became %v", l.Mark(), back.Mark())
		}
	})
}

func BenchmarkLedgerFold200(b *testing.B) {
	sources := make([]floodmark.Source, 200)
	for n := range sources {
		sources[n] = source(n, label(floodmark.External, floodmark.Public))
		if n > 1 {
			sources[n].Inputs = []floodmark.NodeID{floodmark.NodeID(n - 1)}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var l Ledger
		for i := range sources {
			if err := l.Add(sources[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
