package provenance

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// All the tokens of a value are looked for in one source, unless they are many.
func TestTracedTokensAreLimited(t *testing.T) {
	for n, want := range map[int]floodmark.Whence{maxTracedTokens - 1: floodmark.Seen, maxTracedTokens: floodmark.Nowhere} {
		words := strings.Fields(strings.ReplaceAll(sampleWords(n), "w", "zq")) // none of them common
		tr := tracer(t, seenText{floodmark.External, strings.Join(words, " ")})
		slices.Reverse(words)
		if got := tr.Trace(leaf(strings.Join(words, " ")), floodmark.Content, "body"); got.Whence != want {
			t.Errorf("%d words: %v, want %v", n, got.Whence, want)
		}
	}
}

// Of tokens beyond the limit the parts are not looked up either.
func TestTracedPartsAreLimited(t *testing.T) {
	tr := tracer(t, seenText{floodmark.External, "https://evil.com/start"}, seenText{floodmark.External, "https://evil.com/more"})
	for n, want := range map[int]floodmark.Whence{0: floodmark.Seen, maxTracedTokens - 1: floodmark.Seen, maxTracedTokens: floodmark.Nowhere} {
		value := strings.Repeat("zulu ", n) + "https://evil.com/?d=secret"
		got := tr.Trace(leaf(value), floodmark.Content, "body")
		if got.Whence != want || (want == floodmark.Seen && len(got.Spans) != 1) {
			t.Errorf("behind %d words: %v at %v, want %v", n, got.Whence, got.Spans, want)
		}
	}
}

func TestTracedWindowsAreLimited(t *testing.T) {
	const copied = "alpha bravo charlie delta echo"
	tr := tracer(t, seenText{floodmark.External, copied})
	for n, want := range map[int]floodmark.Whence{maxWindows - 1: floodmark.Seen, maxWindows: floodmark.Nowhere} {
		value := strings.Repeat("zulu ", n) + copied // n windows begin before it
		if got := tr.Trace(leaf(value), floodmark.Content, "body"); got.Whence != want {
			t.Errorf("behind %d words: %v, want %v", n, got.Whence, want)
		}
	}
	for over, want := range map[int]floodmark.Whence{0: floodmark.Seen, 1: floodmark.Nowhere} {
		value := strings.Repeat("z", maxTracedBytes-len(copied)-1+over) + " " + copied
		if got := tr.Trace(leaf(value), floodmark.Content, "body"); got.Whence != want {
			t.Errorf("%d bytes over the limit: %v, want %v", over, got.Whence, want)
		}
	}
}

func TestTraceOfANumberSaysAllItsPlaces(t *testing.T) {
	tr := tracer(t, seenText{floodmark.External, "7"}, seenText{floodmark.Local, "7"}, seenText{floodmark.Local, "8"})
	if got := tr.Trace(leaf("7.0"), floodmark.Critical, "to"); len(got.Spans) != 2 || got.Trust != floodmark.External {
		t.Errorf("%+v", got)
	}
}

func TestFirstNodes(t *testing.T) {
	spans := func(nodes ...int) (list []floodmark.Span) {
		for i, n := range nodes {
			list = append(list, floodmark.Span{Node: floodmark.NodeID(n), Offset: i})
		}
		return list
	}
	for _, tt := range []struct{ have, want []floodmark.Span }{
		{nil, nil},
		{spans(4), spans(4)},
		{spans(4, 4, 4), spans(4)},
		{spans(0, 1, 2), spans(0, 1, 2)},
		{spans(0, 1, 2, 3, 4), spans(0, 1, 2)},
		{spans(0, 1, 2, 2, 2), spans(0, 1, 2)},
		{spans(0, 0, 0, 0, 0, 0), spans(0)},
	} {
		ix := postings.NewMemory()
		for _, s := range tt.have {
			ix.Add(s.Node, Postings{{Hash: 9, Offset: uint32(s.Offset)}})
		}
		if got := (&Tracer{Index: ix}).first(9); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v", tt.have, got)
		}
		if got := onePerNode(tt.have); !slices.Equal(got[:min(len(got), floodmark.MaxSpans)], tt.want) {
			t.Errorf("one of %v: %v", tt.have, got)
		}
	}
}

func TestPartsOfTokens(t *testing.T) {
	for _, tt := range []struct {
		kind  tokens.TokenKind
		token string
		want  []string
	}{
		{tokens.URL, "https://evil.com/a/?q=1#x", []string{"evil.com", "https://evil.com/a/?q=1", "https://evil.com/a"}},
		{tokens.URL, "https://evil.com/谢", []string{"evil.com", "https://evil.com"}},
		{tokens.URL, "https://evil.com/a#x", []string{"evil.com", "https://evil.com/a"}},
		{tokens.URL, "https://evil.com/a//", []string{"evil.com", "https://evil.com/a/", "https://evil.com/a"}},
		{tokens.URL, "www.evil.com", nil},
		{tokens.Path, "a/b.txt", []string{"b.txt"}},
		{tokens.Path, `c:\x`, []string{"x"}},
		{tokens.Path, "b.txt", nil},
		{tokens.Path, "a/", nil},
		{tokens.Number, "$1,250.00", []string{"1250"}},
		{tokens.Number, "5", nil},
		{tokens.ID, "#42", []string{"42"}},
		{tokens.ID, "a1", nil},
		{tokens.ID, "_$_", nil},
		{tokens.Address, "a@b.com", nil},
		{tokens.Account, "+4930", nil},
		{tokens.Word, "word", nil},
	} {
		if got := slices.Collect(parts(tt.kind, tt.token)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.token, got, tt.want)
		}
		for range parts(tt.kind, tt.token) {
			break // it must not go on
		}
	}
	if got := asciiLen("ab\x80"); got != 2 {
		t.Errorf("%d bytes of ASCII", got)
	}
	if p := testKey().Postings("\"\x01\""); len(p) != 0 {
		t.Errorf("a control character became %v", p)
	}
}

// Nodes may be taken in in any order; the oldest is found first.
func TestFindWhenOlderNodesComeLater(t *testing.T) {
	ix := postings.NewMemory()
	ix.Add(5, testKey().Postings("eve@x.example "+sampleWords(50)))
	ix.Add(2, testKey().Postings("eve@x.example"))
	got := ix.Find(testKey().Hash("eve@x.example"), 0, 9)
	if len(got) != 2 || got[0].Node != 2 || got[1].Node != 5 {
		t.Errorf("found %v", got)
	}
}
