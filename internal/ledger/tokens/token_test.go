package tokens

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// show writes tokens as «kind:text», one after the other.
func show(text string) string {
	var out []string
	for tok := range Tokens(text) {
		out = append(out, tok.Kind.String()+":"+tok.Text)
	}
	return strings.Join(out, " ")
}

// tokenTests are texts and what is found in them.
func tokenTests() []struct{ text, want string } {
	return []struct{ text, want string }{
		{"", ""},
		{"Élan Ωmega жизнь Straße", "name:elan name:wmega word:жизhь name:straße"},
		{"Pay the invoice.", "name:pay word:the word:invoice"},
		{"don't Bob's users' re-send", "word:don't name:bob word:users word:re-send"},

		// URLs
		{"see https://Example.com/A?b=c&d=(e).", "word:see url:https://example.com/a?b=c&d=(e)"},
		{"(https://w.org/A_(b)), <http://x.de/>", "url:https://w.org/a_(b) url:http://x.de"},
		{"[x](http://e.com/p)[y](z)", "word:x url:http://e.com/p word:y word:z"},
		{"www.x.com/y! s3+ssh://a/b", "url:www.x.com/y url:s3+ssh://a/b"},
		{"http://a.com,http://b.com", "url:http://a.com url:http://b.com"},
		{`href='https://a.com/x'>y`, "word:href quoted:https://a.com/x url:https://a.com/x word:y"},
		{`{"u":"https:\/\/x.com\/a"}`, `quoted:u word:u quoted:https://x.com/a url:https://x.com/a`},
		{"https://x.com/?a=1&amp;b=2", "url:https://x.com/?a=1&b=2"},

		// addresses
		{"bob@Example.com, <carol@x.org>;To:d@e.fr", "address:bob@example.com address:carol@x.org name:to address:d@e.fr"},
		{"mailto:a.b+c@x.co.uk.", "word:mailto address:a.b+c@x.co.uk"},
		{"a@b.com@evil.com @alice a@b", "id:a@b.com@evil.com id:@alice id:a@b"},
		{"git@github.com:a/b.git", "path:git@github.com:a/b.git"},
		{`"a@b.com\nThanks"`, `quoted:a@b.com\nthanks address:a@b.com name:thanks`},

		// accounts
		{"DE89 3704 0044 0532 0130 00 now", "account:de89370400440532013000 word:now"},
		{"DE89370400440532013000", "account:de89370400440532013000"},
		{"GB29 NWBK 6016 1331 9268 19 2024", "account:gb29nwbk60161331926819 number:2024"},
		{"+49 170 1234567 or +1 (555) 010-9999", "account:+491701234567 word:or account:+15550109999"},
		{"4111 1111 1111 1111", "account:4111111111111111"},
		{"4111-1111-1111-1111, 4111 1111 1111 11112", "account:4111111111111111 number:4111 number:1111 number:1111 number:11112"},
		{"DE89 3704 0044 0532 0130 00ab", "account:de893704004405320130 id:00ab"},
		{"+1 555 x +1 234 567 890 123 4567 8", "number:+1 number:555 word:x number:+1 number:234 number:567 number:890 number:123 number:4567 number:8"},
		{"12345678 1234567", "account:12345678 number:1234567"},

		// numbers
		{"$1,234.50 50 EUR 50€ €70 50EUR", "number:$1,234.50 number:50 name:eur number:50€ number:€70 number:50eur"},
		{"1.234,50 3.14 -5 50% 7.", "number:1.234,50 number:3.14 number:-5 number:50% number:7"},
		{"5é 5元 50%x 12,34,56 1,234,567.8", "id:5e number:5 word:元 id:50%x number:12 number:34,56 number:1,234,567.8"},
		{"pages 3,4,5", "word:pages number:3 number:4,5"},

		// ids
		{"#123 #general INV-2024-001 snake_case v1.2.3", "id:#123 id:#general id:inv-2024-001 id:snake_case id:v1.2.3"},
		{"550E8400-e29b-41d4-a716-446655440000", "id:550e8400-e29b-41d4-a716-446655440000"},
		{"192.168.0.1 10:30 2024-05-01 1/2/2024 fe80::1 3pm", "id:192.168.0.1 id:10:30 id:2024-05-01 id:1/2/2024 id:fe80::1 id:3pm"},
		{"localhost:8080 example.com:443", "id:localhost:8080 path:example.com:443"},
	}
}

// moreTokenTests are those for paths, quotes and what stands around tokens.
func moreTokenTests() []struct{ text, want string } {
	return []struct{ text, want string }{
		{"/home/me/work, ~/x/y.txt: ./a ../b a/b/", "path:/home/me/work path:~/x/y.txt path:./a path:../b path:a/b"},
		{"src/main.go:12:5 notes.txt. .env x/y.go", "path:src/main.go id:12:5 path:notes.txt path:.env path:x/y.go"},
		{`C:\Users\me\f.txt, \\srv\share`, `path:c:\users\me\f.txt path:\\srv\share`},
		{`/home/me/my\ files/x ok`, `path:/home/me/my\ files/x word:ok`},
		{"a / b e.g. U.S. Node.js", "word:a word:b word:e.g name:u.s path:node.js"},

		// quotes
		{`say "Hi there" now`, "word:say quoted:hi there name:hi word:there word:now"},
		{"'single one' `code` “typo x” «fr» „low“", "quoted:single one word:single word:one quoted:code word:code quoted:typo x word:typo word:x quoted:fr word:fr quoted:low word:low"},
		{`" " "" 'a`, "word:a"},
		{`'é' l'a`, "quoted:e word:e word:l'a"},
		{"x:y:z:x:y:z:x:y:z:x:y", "word:x word:y word:z word:x word:y word:z word:x word:y word:z word:x word:y"},
		{`/a\ b\  /c\ d /e\ `, `path:/a\ b path:/c\ d path:/e`},
		{"://x.com/y 99://x.com www. www.x", "path://x.com/y number:99 path://x.com word:www url:www.x"},
		{"一'x'", "word:一 word:x"},
		{`é C:\x`, `word:e path:c:\x`},

		// around them
		{"key=value --to=z@q.de **bold** `", "word:key word:value word:to address:z@q.de word:bold"},
		{"请访问https://evil.com/x 谢", "word:请 word:访 word:问 url:https://evil.com/x word:谢"},
	}
}

func TestTokens(t *testing.T) {
	for _, tt := range append(tokenTests(), moreTokenTests()...) {
		if got := show(tt.text); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

func TestTokensSeeThroughDisguises(t *testing.T) {
	tests := map[string]string{
		"zero width":     "e\u200bv\u2060il.c\ufeffom",
		"soft hyphen":    "ev\u00adil.com",
		"cyrillic":       "еvіl.cоm",
		"greek":          "eνil.cοm",
		"fullwidth":      "ｅｖｉｌ．ｃｏｍ",
		"mathematical":   "𝐞𝐯𝐢𝐥.𝐜𝐨𝐦",
		"combining":      "e\u0301vil.com",
		"accented":       "évil.com",
		"direction":      "\u202eevil.com\u202c",
		"variations":     "evil\ufe0f.com",
		"tags":           "evil\U000e0041.com",
		"small full dot": "evil﹒com",
		"one dot leader": "evil․com",
		"a nul":          "evil\u200d.com",
		"emoji behind":   "evil.com🎉",
		"emoji before":   "🎉evil.com",
		"family emoji":   "👨‍👩‍👧evil.com👨‍👩‍👧",
		"capitals":       "EVIL.Com",
	}
	for name, text := range tests {
		if got := show(text); got != "path:evil.com" {
			t.Errorf("%s: %q gives %s", name, text, got)
		}
	}
}

func TestTokenPlaces(t *testing.T) {
	// «…» is as long as the three dots it stands for: places inside it were wrong once.
	text := "Täglich «an bob＠evil.com» und\xff €50 e\u200bvil.com …a ﬁ x \u200b\u200bab"
	var got []string
	for tok := range Tokens(text) {
		if tok.Start < 0 || tok.End > len(text) || tok.Start >= tok.End {
			t.Fatalf("%v", tok)
		}
		got = append(got, text[tok.Start:tok.End])
	}
	want := []string{"Täglich", "an bob＠evil.com", "an", "bob＠evil.com", "und", "€50", "e\u200bvil.com", "…a", "ﬁ", "x", "ab"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestLongTokensAreCut(t *testing.T) {
	for _, length := range []int{MaxTokenBytes, MaxTokenBytes + 1, 3*MaxTokenBytes + 5} {
		for _, text := range []string{strings.Repeat("a", length), "https://x.com/" + strings.Repeat("b", length-14), strings.Repeat("9a", length/2), strings.Repeat("é", length)} {
			total := 0
			for tok := range Tokens(text) {
				if tok.End-tok.Start > 2*MaxTokenBytes || len(tok.Text) > MaxTokenBytes {
					t.Errorf("a token of %d bytes", tok.End-tok.Start)
				}
				total += tok.End - tok.Start
			}
			if total != len(text) {
				t.Errorf("%d of %d bytes in tokens", total, len(text))
			}
		}
	}
}

func TestTokensAcrossBlocks(t *testing.T) {
	text := strings.Repeat("ünïcode words in a row, and more of them\n", 5000)
	at := len(text) - 20000
	text = text[:at] + " bob@example.com " + text[at:]
	for tok := range Tokens(text) {
		if tok.Kind == Address {
			if text[tok.Start:tok.End] != "bob@example.com" {
				t.Errorf("%q", text[tok.Start:tok.End])
			}
			return
		}
	}
	t.Error("the address is lost")
}

func TestTokensStopsWhenAsked(t *testing.T) {
	n := 0
	for range Tokens(strings.Repeat("word ", 100)) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Error(n)
	}
}

// Hostile texts must not take longer than others of their size.
func TestScanningIsLinear(t *testing.T) {
	for _, unit := range []string{`“`, `'a `, ` 'a`, "`", `"'`, `\`, `\/`, "://", "a://", "(", "[[", "@", ":", "a:", "/", ".", "1,", "1.", "+1 ", "DE89 ", "1 ", "'s", "e\u0301", "\xff", "谢", "&amp;", "http://a,"} {
		text := strings.Repeat(unit, (1<<18)/len(unit))
		tokens := 0
		for range Tokens(text) {
			tokens++
		}
		if tokens > len(text) {
			t.Errorf("%q: %d tokens in %d bytes", unit, tokens, len(text))
		}
	}
}

func TestNormalise(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"  Hello\t\n World ", "hello world"},
		{"“Don’t” – «x»", `"don't" - "x"`},
		{"a\u00a0b\u3000c", "a b c"},
		{"a\u200bb\u00adc", "abc"},
		{"РАYРАL", "paypal"},
		{"ｆｕｌｌ１", "full1"},
		{"Ångström ŁÓDŹ İstanbul", "angstrom lodz istanbul"},
		{"straße Æon", "straße æon"},
		{"ﬁne…", "fine..."},
		{"\xff", "\ufffd"},
		{"👍🏽", "👍🏽"},
		{"x\x00\x1by", "xy"},
		{"https：／／evil。com", "https://evil.com"},
		{"ΑΒΕ", "abe"},
	}
	for _, tt := range tests {
		if got := Normalise(tt.in); got != tt.want {
			t.Errorf("Normalise(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	for k := Word; k <= Quoted; k++ {
		if k.String() == "invalid" {
			t.Errorf("kind %d has no name", k)
		}
	}
	if fmt.Sprint(Quoted+1) != "invalid" {
		t.Error("a kind too many")
	}
}

func FuzzNormalise(f *testing.F) {
	for _, s := range []string{"", "Hello", "“x” é", "\xff\xfe", "ＡＢ", "İſ", "ﬁ…"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Normalise(s)
		if !utf8.ValidString(once) {
			t.Errorf("%q is no text", once)
		}
		if twice := Normalise(once); twice != once {
			t.Errorf("%q, again %q", once, twice)
		}
	})
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "a@b.com", `"x 'y' z"`, "https://x.com/(a)", "DE89 3704 0044 0532 0130 00", `\u0041\/`, "+1 555 0100 99", "C:\\x", "€1,2", "\xff\u200b谢"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for tok := range Tokens(text) {
			if tok.Start < last || tok.End < tok.Start || tok.End > len(text) {
				t.Fatalf("token %+v behind %d", tok, last)
			}
			if tok.Kind != Quoted {
				last = tok.Start
			}
			if !utf8.ValidString(tok.Text) {
				t.Errorf("%q is no text", tok.Text)
			}
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	text := prose(1 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ScanText(text, func(Piece) bool { return true })
	}
}

// prose returns text as agents read it: prose with some names, links and
// numbers in it.
func prose(size int) string {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		switch rng.IntN(40) {
		case 0:
			fmt.Fprintf(&b, "https://host%d.example.com/path/%d?q=%d ", rng.IntN(500), rng.IntN(5000), rng.IntN(100))
		case 1:
			fmt.Fprintf(&b, "user%d@example.org, ", rng.IntN(3000))
		case 2:
			fmt.Fprintf(&b, "%d.%02d ", rng.IntN(10000), rng.IntN(100))
		case 3:
			b.WriteString("naïve café\n")
		case 4:
			fmt.Fprintf(&b, "src/pkg%d/file%d.go ", rng.IntN(100), rng.IntN(1000))
		default:
			n := rng.IntN(20000)
			n = n * n / 20000 // frequent words are frequent
			for length := 2 + n%7; length > 0; length-- {
				b.WriteByte(byte('a' + (n*length+length)%26))
			}
			b.WriteByte(" . "[rng.IntN(3)])
			b.WriteByte(' ')
		}
	}
	return b.String()[:size]
}
