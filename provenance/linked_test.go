package provenance

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestLinksOfRecords(t *testing.T) {
	t.Parallel()
	tr := func(text string) *Tracer {
		return &Tracer{Index: someContents{3: Key{}.Postings(text)}, Ledger: &Ledger{}}
	}
	text := "- body: see www.a.example and www.b.example\n  sender: Anna\n- body: www.a.example\n  sender: Bert\n- body: none\n  sender: Eve\n"
	x := tr(text)
	anna, bert := x.Records("sender", "Anna"), x.Records("sender", "Bert")
	var of []Record
	for _, l := range x.Links() {
		of = append(of, l.Record)
		if !strings.HasPrefix(text[l.At.Offset:], "www.") {
			t.Errorf("a link stands at %d", l.At.Offset)
		}
	}
	if want := []Record{anna[0], anna[0], bert[0]}; !slices.Equal(of, want) {
		t.Errorf("links of %v, want %v", of, want)
	}
	if len(tr("see www.a.example").Links()) != 0 || len((&Tracer{}).Links()) != 0 {
		t.Error("a text without records has links of records")
	}
	many := func(n int) int {
		var b strings.Builder
		for i := range n {
			b.WriteString("- body: www.a" + strconv.Itoa(i) + ".example\n  sender: Anna\n")
		}
		return len(tr(b.String()).Links())
	}
	if got := many(maxLinks); got != maxLinks {
		t.Errorf("%d links at the limit", got)
	}
	if got := many(maxLinks + 1); got != 0 {
		t.Errorf("%d links beyond the limit", got)
	}
	var ix Indexer
	ix.Postings(Key{}, text)
	second := &Tracer{Index: someContents{3: ix.Postings(Key{}, "- body: none\n  sender: Eve\n")}, Ledger: &Ledger{}}
	if len(second.Links()) != 0 {
		t.Error("an indexer remembers the links of another text")
	}
}

func TestLinksWithoutRoom(t *testing.T) {
	t.Parallel()
	for room, want := range map[int]int{2: 2, 1: 1} {
		ix := Indexer{hasher: newHasher(Key{}), links: []int{7}}
		ix.postLinks()
		ix.post(1, 2)
		ix.forgetLinks(room)
		if len(ix.out) != want {
			t.Errorf("%d postings in a room for %d", len(ix.out), room)
		}
	}
}
