package provenance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
)

// What an answer repeats: pieces as «words: text (trust node)», names with a
// star.
func TestRepeats(t *testing.T) {
	const prose = "the committee met in the old harbour and agreed that seven ships would leave before dawn"
	mail := seenText{floodmark.External, prose}
	page := seenText{floodmark.Untrusted, "visit the Golden Gander Inn at https://gander.example/inn or write to fay@gander.example please"}
	tests := []struct {
		name  string
		texts []seenText
		limit floodmark.Trust
		text  string
		want  string
	}{
		{"a run", []seenText{mail}, floodmark.External, "I read in the old harbour and agreed that seven ships would go today", "9: the old harbour and agreed that seven ships would (external 0)"},
		{"in other case and lines", []seenText{mail}, floodmark.External, "THE COMMITTEE met\nin the old harbour", "2*: THE COMMITTEE (external 0) 5: THE COMMITTEE met\nin the (external 0)"},
		{"above the limit", []seenText{mail}, floodmark.Untrusted, prose, ""},
		{"the owner said it first", []seenText{{floodmark.Owner, prose}, mail}, floodmark.External, prose, ""},
		{"two runs", []seenText{mail}, floodmark.External, "the committee met in the new house; later agreed that seven ships would sink", "5: the committee met in the (external 0) 5: agreed that seven ships would (external 0)"},
		{"a name of two words", []seenText{page}, floodmark.External, "I liked the Golden Gander very much", "2*: Golden Gander (untrusted 0)"},
		{"a name at the end", []seenText{page}, floodmark.External, "I liked Golden Gander", "2*: Golden Gander (untrusted 0)"},
		{"names apart", []seenText{page}, floodmark.External, "Golden and then Gander", ""},
		{"names with a comma between", []seenText{page}, floodmark.External, "very Golden, Gander", ""},
		{"a name of one word", []seenText{page}, floodmark.External, "the Gander", ""},
		{"half of a name was believed before", []seenText{{floodmark.Local, "Gander"}, page}, floodmark.External, "the Golden Gander", ""},
		{"an unknown word in a name", []seenText{page}, floodmark.External, "the Golden Xylophone", "2*: Golden Xylophone (untrusted 0)"},
		{"unknown names", []seenText{page}, floodmark.External, "the Silver Xylophone", ""},
		{"a link", []seenText{page}, floodmark.External, "see https://gander.example/inn now", "1*: https://gander.example/inn (untrusted 0)"},
		{"an address", []seenText{page}, floodmark.Untrusted, "ask fay@gander.example", "1*: fay@gander.example (untrusted 0)"},
		{"a link above the limit", []seenText{{floodmark.Local, "https://gander.example/inn"}}, floodmark.External, "see https://gander.example/inn", ""},
		{"nothing", []seenText{mail, page}, floodmark.External, "all is well in the west this morning", ""},
	}
	for _, tt := range tests {
		runs, _, ok := tracer(t, tt.texts...).Repeats(tt.text, tt.limit)
		var got []string
		for _, r := range runs {
			star := map[bool]string{true: "*"}[r.Name]
			got = append(got, fmt.Sprintf("%d%s: %s (%s %d)", r.Words, star, tt.text[r.From:r.To], r.Trust, r.Span.Node))
		}
		if strings.Join(got, " ") != tt.want || !ok {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Eight words in a row are always found, wherever they begin.
func TestRepeatsFindsEightWords(t *testing.T) {
	var words []string
	for i := range 60 {
		words = append(words, "w"+strings.Repeat("o", i+1))
	}
	tr := tracer(t, seenText{floodmark.External, strings.Join(words, " ")})
	for from := 0; from+Untraceable <= len(words); from++ {
		text := "so " + strings.Join(words[from:from+Untraceable], " ") + " it is"
		runs, n, ok := tr.Repeats(text, floodmark.External)
		if len(runs) == 0 || n != Untraceable+3 || !ok {
			t.Errorf("from word %d: %+v, %d words", from, runs, n)
		}
		if runs[0].Span.Node != 0 || runs[0].Words < shingleWords {
			t.Errorf("from word %d: %+v", from, runs[0])
		}
	}
	whole, _, _ := tr.Repeats(strings.Join(words, " "), floodmark.External)
	if len(whole) != 1 || whole[0].Words < len(words)-shingleStride || whole[0].Words > len(words) {
		t.Errorf("the whole text: %+v", whole)
	}
}

func TestRepeatsLimits(t *testing.T) {
	tr := tracer(t, seenText{floodmark.External, "x"})
	for n, want := range map[int]bool{maxWindows - 1: true, maxWindows: false} {
		if _, words, ok := tr.Repeats(strings.Repeat("ab ", n), floodmark.External); ok != want || words != n {
			t.Errorf("%d words: %d, %v", n, words, ok)
		}
	}
	for n, want := range map[int]bool{maxTracedBytes: true, maxTracedBytes + 1: false} {
		if _, _, ok := tr.Repeats(strings.Repeat(" ", n), floodmark.External); ok != want {
			t.Errorf("%d bytes: %v", n, ok)
		}
	}
	if _, _, ok := (&Tracer{Ledger: &Ledger{}}).Repeats("a", floodmark.External); ok {
		t.Error("without an index nothing can be told")
	}
	if _, _, ok := (&Tracer{Index: postings.NewMemory()}).Repeats("a", floodmark.External); ok {
		t.Error("without a ledger nothing can be told")
	}
}
