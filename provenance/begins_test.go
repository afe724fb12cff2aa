package provenance

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
)

func TestBeginningCountsAList(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]int{
		"- general\n- Garden_0\n":               1,
		"- Garden_0\n- Garden-evil\n":           2,
		"- Garden_0\n- Garden\n":                2,
		"- Gardeners\n- garden_0\n":             0,
		`["Garden 1","random"]`:                 1,
		`[{"name":"Garden_0"}]`:                 0,
		"Garden_0 is a channel, Garden_1 also.": 0,
	} {
		tr := &Tracer{Index: someContents{3: Key{}.Postings(list), 4: Key{}.Postings("- Garden_9\n")}, Ledger: &Ledger{}}
		if got := tr.Beginning(3, "Garden"); got != want {
			t.Errorf("%q: %d, want %d", list, got, want)
		}
		if tr.Beginning(3, "") != 0 || tr.Beginning(5, "Garden") != 0 {
			t.Errorf("%q: something begins with nothing, or elsewhere", list)
		}
	}
	if (&Tracer{}).Beginning(0, "Garden") != 0 {
		t.Error("without an index something begins")
	}
}

// someContents is an index of a few contents.
type someContents map[floodmark.NodeID]Postings

func (x someContents) Find(h Hash, from floodmark.NodeID, most int) []floodmark.Span {
	var spans []floodmark.Span
	for node, list := range x {
		for _, p := range list {
			if p.Hash == h && node >= from {
				spans = append(spans, floodmark.Span{Node: node, Offset: int(p.Offset)})
			}
		}
	}
	slices.SortFunc(spans, postings.CompareSpans)
	return spans[:min(len(spans), most)]
}
