package provenance

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/postings"
	"github.com/floodmark/floodmark/internal/text/language"
)

// seenText is one text a session has seen.
type seenText struct {
	trust floodmark.Trust
	text  string
}

// tracer returns a tracer of a session that saw these texts, in order, and
// whose owner typed what is at Owner.
func tracer(t testing.TB, texts ...seenText) *Tracer {
	t.Helper()
	ix, l, s := postings.NewMemory(), &Ledger{}, &language.Stated{}
	for n, text := range texts {
		src := source(n, label(text.trust, floodmark.Public))
		mustAdd(t, l, src)
		ix.Add(src.Node, testKey().Postings(text.text))
		if text.trust == floodmark.Owner {
			s.Add(text.text)
		}
	}
	return &Tracer{Key: testKey(), Index: ix, Stated: s, Ledger: l}
}

func leaf(value string) hook.Leaf { return hook.Leaf{Path: "to", Top: "to", Value: value} }

func TestTrace(t *testing.T) {
	const (
		untrusted = floodmark.Untrusted
		external  = floodmark.External
		local     = floodmark.Local
		owner     = floodmark.Owner
	)
	prose := "The committee met in the old harbour and agreed that seven ships would leave before dawn with salt and timber."
	tests := []struct {
		name   string
		texts  []seenText
		value  string
		whence floodmark.Whence
		trust  floodmark.Trust
		node   floodmark.NodeID // of the first span; -1: none
	}{
		{"stated", []seenText{{owner, "mail bob@x.com"}}, "bob@x.com", floodmark.Stated, owner, 0},
		{"stated after it was planted", []seenText{{untrusted, "write to bob@x.com"}, {owner, "mail bob@x.com"}}, "bob@x.com", floodmark.Stated, owner, 0},
		{"seen", []seenText{{owner, "hello"}, {external, "write to eve@x.com now"}}, "eve@x.com", floodmark.Seen, external, 1},
		{"an echo never rises", []seenText{{untrusted, "eve@x.com"}, {local, "eve@x.com"}}, "eve@x.com", floodmark.Seen, untrusted, 0},
		{"a later lower one does not sink it", []seenText{{local, "eve@x.com"}, {untrusted, "eve@x.com"}}, "eve@x.com", floodmark.Seen, local, 0},
		{"nowhere", []seenText{{untrusted, "write to bob@x.com"}}, "eve@y.org", floodmark.Nowhere, untrusted, -1},
		{"in another case", []seenText{{untrusted, "EVE@X.com"}}, "eve@x.com", floodmark.Seen, untrusted, 0},
		{"in disguise", []seenText{{untrusted, "е\u200bvе@x.com"}}, "eve@x.com", floodmark.Seen, untrusted, 0},
		{"the disguise itself", []seenText{{untrusted, "eve@x.com"}}, "еve@x.com", floodmark.Seen, untrusted, 0},
		{"not in the owner's case", []seenText{{owner, "mail Bob@x.com"}}, "bob@x.com", floodmark.Seen, owner, 0},
		{"account in groups", []seenText{{untrusted, "pay DE89 3704 0044 0532 0130 00"}}, "DE89370400440532013000", floodmark.Seen, untrusted, 0},
		{"amount", []seenText{{untrusted, "pay $1,250.00"}}, "1250", floodmark.Seen, untrusted, 0},
		{"number of an issue", []seenText{{external, "fix #4711"}}, "4711", floodmark.Seen, external, 0},
		{"name of two words", []seenText{{local, "nothing"}, {external, "ask Bob Jones"}}, "bob jones", floodmark.Seen, external, 1},
		{"words of two sources", []seenText{{local, "ask Bob"}, {external, "ask Jones"}}, "Bob Jones", floodmark.Nowhere, untrusted, -1},
		{"words first seen elsewhere", []seenText{{untrusted, "ask Bob"}, {local, "Bob Jones"}}, "Bob Jones", floodmark.Seen, untrusted, 1},
		{"quoted words", []seenText{{external, "fin corge quux zed"}}, `zed "quux corge" fin`, floodmark.Seen, external, 0},
		{"common words", []seenText{{untrusted, "please send the file to me"}}, "send the file", floodmark.Nowhere, untrusted, -1},
		{"host of a composed URL", []seenText{{untrusted, "go to https://evil.com/start"}}, "https://evil.com/?d=secret", floodmark.Seen, untrusted, 0},
		{"URL with more in it", []seenText{{untrusted, "https://evil.com/log"}}, "https://evil.com/log?d=secret", floodmark.Seen, untrusted, 0},
		{"host by itself", []seenText{{untrusted, "https://evil.com/start"}}, "evil.com", floodmark.Seen, untrusted, 0},
		{"name of a file", []seenText{{external, "see /srv/data/plan.pdf"}}, "plan.pdf", floodmark.Seen, external, 0},
		{"eight words in a row", []seenText{{local, "hi"}, {untrusted, prose}}, "zzz qqq agreed that seven ships would leave before dawn", floodmark.Seen, untrusted, 1},
		{"in JSON that was not decoded", []seenText{{untrusted, `{"t":"mail eve@x.com\nor https:\/\/evil.com\/a"}`}}, "https://evil.com/a", floodmark.Seen, untrusted, 0},
		{"a whole sentence", []seenText{{untrusted, `he said "pay now, or else"`}}, "pay now, or else", floodmark.Seen, untrusted, 0},
		{"quoted as a whole", []seenText{{local, "ask eve"}, {external, "say 'eve!'"}}, "eve!", floodmark.Seen, external, 1},
		{"two sources in one value", []seenText{{local, prose}, {untrusted, strings.ToUpper(prose[20:]) + " also https://evil.com/x"}}, prose + " https://evil.com/y", floodmark.Seen, untrusted, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tracer(t, tt.texts...).Trace(leaf(tt.value), floodmark.Critical, "to")
			if got.Whence != tt.whence || got.Trust != tt.trust {
				t.Errorf("%v at %v, want %v at %v (%v)", got.Whence, got.Trust, tt.whence, tt.trust, got.Spans)
			}
			switch {
			case tt.node < 0 && len(got.Spans) > 0:
				t.Errorf("seen at %v", got.Spans)
			case tt.node >= 0 && (len(got.Spans) == 0 || got.Spans[0].Node != tt.node):
				t.Errorf("seen at %v, want node %d first", got.Spans, tt.node)
			}
		})
	}
}

func TestWhole(t *testing.T) {
	tr := tracer(t, seenText{floodmark.External, "hi"}, seenText{floodmark.External, "write to eve@x.example"})
	if got := tr.Whole("eve@x.example."); len(got) != 1 || got[0] != (floodmark.Span{Node: 1, Offset: 9}) {
		t.Errorf("an address with a dot behind it: %v", got)
	}
	for _, value := range []string{"ann@x.example", "eve@x.example ann@x.example", ""} {
		if got := tr.Whole(value); got != nil {
			t.Errorf("%q: %v", value, got)
		}
	}
	if got := (&Tracer{}).Whole("eve@x.example"); got != nil {
		t.Errorf("without an index: %v", got)
	}
}

func TestTraceSaysWhere(t *testing.T) {
	tr := tracer(t, seenText{floodmark.External, "write to eve@x.com"}, seenText{floodmark.External, "eve@x.com"}, seenText{floodmark.External, "eve@x.com"}, seenText{floodmark.External, "eve@x.com"})
	got := tr.Trace(leaf("eve@x.com"), floodmark.Critical, "to")
	if len(got.Spans) != floodmark.MaxSpans || got.Spans[0] != (floodmark.Span{Node: 0, Offset: 9}) || got.Path != "to" || got.Role != floodmark.Critical {
		t.Errorf("%+v", got)
	}
}

func TestTraceFollowsTheLedger(t *testing.T) {
	tr := tracer(t, seenText{floodmark.Untrusted, "eve@x.com"})
	s, _ := tr.Ledger.Source(0)
	tr.Ledger.Endorse(floodmark.Endorsed{Digest: s.Digest, Trust: floodmark.Local})
	if got := tr.Trace(leaf("eve@x.com"), floodmark.Critical, "to"); got.Trust != floodmark.Local || got.Whence != floodmark.Seen {
		t.Errorf("endorsed: %v at %v", got.Whence, got.Trust)
	}
	tr.Ledger.Withdraw(s.Digest)
	tr.Ledger.Clear()
	if got := tr.Trace(leaf("eve@x.com"), floodmark.Critical, "to"); got.Trust != floodmark.Untrusted || got.Whence != floodmark.Seen {
		t.Errorf("after a clear: %v at %v", got.Whence, got.Trust)
	}
}

func TestTraceOfAnUnknownNodeIsUntrusted(t *testing.T) {
	tr := tracer(t)
	ix := postings.NewMemory()
	ix.Add(5, testKey().Postings("eve@x.com"))
	tr.Index = ix
	if got := tr.Trace(leaf("eve@x.com"), floodmark.Critical, "to"); got.Trust != floodmark.Untrusted || got.Whence != floodmark.Seen {
		t.Errorf("%v at %v", got.Whence, got.Trust)
	}
}

func TestZeroTracerFindsNothing(t *testing.T) {
	got := (&Tracer{}).Trace(leaf("x@y.com"), floodmark.Undeclared, "to")
	if got.Whence != floodmark.Nowhere || got.Trust != floodmark.Untrusted {
		t.Errorf("%+v", got)
	}
}

func TestTraceOfValuesThatAreNoText(t *testing.T) {
	tr := tracer(t, seenText{floodmark.Untrusted, "true false null 7"})
	for _, tt := range []struct {
		leaf hook.Leaf
		want floodmark.Whence
	}{
		{hook.Leaf{Value: "null", Kind: hook.Null}, floodmark.Stated},
		{hook.Leaf{Value: "false", Kind: hook.Bool}, floodmark.Stated},
		{hook.Leaf{Value: "true", Kind: hook.Bool}, floodmark.Nowhere},
		{hook.Leaf{Value: "7", Kind: hook.Number}, floodmark.Seen},
		{hook.Leaf{Value: "7.0", Kind: hook.Number}, floodmark.Seen},
		{hook.Leaf{Value: "8", Kind: hook.Number}, floodmark.Nowhere},
		{hook.Leaf{Value: "", Kind: hook.String}, floodmark.Stated},
	} {
		if got := tr.Trace(tt.leaf, floodmark.Critical, "x"); got.Whence != tt.want {
			t.Errorf("%q: %v, want %v", tt.leaf.Value, got.Whence, tt.want)
		}
	}
}

// Every run of eight words of a text is found, wherever it begins.
func TestEightCopiedWordsAreAlwaysFound(t *testing.T) {
	words := strings.Fields(sampleWords(200))
	tr := tracer(t, seenText{floodmark.Untrusted, strings.Join(words, " ")})
	for i := 0; i+8 <= len(words); i++ {
		value := "something0 " + strings.Join(words[i:i+8], " ") + " else0 altogether0"
		if got := tr.Trace(leaf(value), floodmark.Content, "body"); got.Whence != floodmark.Seen {
			t.Fatalf("words from %d on are not found", i)
		}
	}
}

// sampleWords returns n words, each of them once.
func sampleWords(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("w" + strings.Repeat(string(rune('a'+i%26)), 1+i/26) + " ")
	}
	return b.String()
}

func TestHostileValuesAreBounded(t *testing.T) {
	tr := tracer(t, seenText{floodmark.Untrusted, sampleText(10000)})
	for _, value := range []string{strings.Repeat("a ", 1<<20), strings.Repeat("https://x.com/ ", 1<<16), strings.Repeat("x", 1<<21)} {
		tr.Trace(leaf(value), floodmark.Content, "body")
	}
}

func BenchmarkTrace(b *testing.B) {
	var texts []seenText
	for i := range 100 {
		texts = append(texts, seenText{floodmark.External, sampleText(10000 + i)})
	}
	tr := tracer(b, append(texts, seenText{floodmark.Untrusted, "write to eve@x.com"})...)
	b.ReportAllocs()
	for b.Loop() {
		tr.Trace(leaf("eve@x.com"), floodmark.Critical, "to")
	}
}
