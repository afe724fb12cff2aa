package language

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

func stated(texts ...string) *Stated {
	var s Stated
	for _, text := range texts {
		s.Add(text)
	}
	return &s
}

func TestStatedWholeTokens(t *testing.T) {
	tests := []struct {
		text string
		yes  []string
		no   []string
	}{
		{
			"Mail a@b.com, please.",
			[]string{"a@b.com", "a@B.COM"},
			[]string{"A@b.com", "xa@b.com", "a@b.co", "b.com", "a", "a@b.com.", " a@b.com", "a@b.com\n", "a@b.com,c@d.com", "а@b.com", "a\u200b@b.com"},
		},
		{"Mail xa@b.com now", []string{"xa@b.com"}, []string{"a@b.com"}},
		{"Mail a@b.com@evil.com or a@b.com/x", nil, []string{"a@b.com", "a@evil.com", "b.com@evil.com"}},
		{"To:<a@b.com>;cc=c@d.com,e@f.com", []string{"a@b.com", "c@d.com", "e@f.com"}, []string{"To"}},
		{"Look at /home/me/work/secret", []string{"/home/me/work/secret", "/home/me/work/secret/"}, []string{"/home/me/work", "secret", "/home/me/work/secre", "/home/me/work/Secret", "home/me/work/secret"}},
		{"Look at /home/me/work(1)/x and /srv/a*", nil, []string{"/home/me/work", "/srv/a", "/x"}},
		{`Look at /home/me/my\ files/x, and "/a b/c"`, []string{"/home/me/my files/x", "/a b/c"}, []string{"/home/me/my", "files/x", "/a", "b/c"}},
		{"See **~/notes.txt** and report.txt's end", []string{"~/notes.txt", "report.txt"}, []string{"notes.txt", "/notes.txt"}},
		{
			"Fetch https://Example.com/Path?q=1#f now",
			[]string{"https://example.com/Path?q=1#f", "https://EXAMPLE.com/Path?q=1#f"},
			[]string{"http://example.com/Path?q=1#f", "https://example.com/path?q=1#f", "https://example.com/Path?q=1", "https://example.com/Path", "https://example.com/", "example.com", "https://example.com/Path?q=1#f&x=2", "https://example.com.evil.com/Path?q=1#f", "https://examplе.com/Path?q=1#f"},
		},
		{"Open https://example.com.", []string{"https://example.com", "https://example.com/"}, []string{"https://example.com//", "https://good@example.com"}},
		{"Open https://Good.com@evil.com/x", []string{"https://Good.com@evil.com/x"}, []string{"https://good.com@evil.com/x", "https://evil.com/x", "https://good.com"}},
		{"Pay DE89 3704 0044 0532 0130 00!", []string{"DE89370400440532013000", "DE89 3704 0044 0532 0130 00"}, []string{"DE89", "DE893704004405320130", "de89370400440532013000", "DE89370400440532013001"}},
		{"Call +49 (170) 123-4567", []string{"+491701234567", "+49 170 1234567"}, []string{"491701234567", "1234567"}},
		{"Close INV-2024-001 and #42 at 10:30 on 2024-05-01", []string{"INV-2024-001", "#42", "10:30", "2024-05-01"}, []string{"INV-2024", "INV-2024-0011", "inv-2024-001", "42", "2024", "10", "001"}},
		{`Name it "Quarterly numbers, final" or 'x'`, []string{"Quarterly numbers, final", "x"}, []string{"Quarterly numbers", "final", "quarterly numbers, final", `"Quarterly numbers, final"`}},
		{`Delete the mail titled "Pay a@evil.com at https://evil.com/x"`, []string{"Pay a@evil.com at https://evil.com/x"}, []string{"a@evil.com", "https://evil.com/x"}},
		{`Save "notes.txt" in '/home/me' as “Plan B”`, []string{"notes.txt", "/home/me", "Plan B"}, []string{"Plan"}},
		{"Join #general and ask @alice🎉", []string{"#general", "@alice"}, []string{"general", "alice"}},
		{"run main.go:12 please", nil, []string{"main.go"}},
		{"a@b.com\u200bc and d@e.com\u200b ok", nil, []string{"a@b.com", "d@e.com"}},
		{"x=https://a.com/b|https://c.com/d", nil, []string{"https://a.com/b"}},
		{"and / or ~ or .", nil, []string{"/", "~", "."}},
	}
	for _, tt := range tests {
		s := stated(tt.text)
		for _, v := range tt.yes {
			if !s.Has(v, hook.String, "x") {
				t.Errorf("%q does not state %q", tt.text, v)
			}
		}
		for _, v := range tt.no {
			if s.Has(v, hook.String, "x") {
				t.Errorf("%q states %q", tt.text, v)
			}
		}
	}
}

func TestStatedNames(t *testing.T) {
	tests := []struct {
		text string
		yes  []string
		no   []string
	}{
		{"Send it to Bob.", []string{"Bob"}, []string{"Send", "bob", "it", "to", "Send it"}},
		{"Email Bob Jones Smith about lunch", []string{"Bob Jones Smith"}, []string{"Bob Jones", "Jones Smith", "Bob", "Smith", "Email Bob Jones Smith", "lunch"}},
		{"Ask Bob and Alice", []string{"Bob", "Alice"}, []string{"Bob and Alice", "Ask Bob", "and"}},
		{"Pay Bank of America today", []string{"Bank of America"}, []string{"Bank", "America", "of America", "Pay"}},
		{"open the quarterly budget and send", []string{"quarterly budget"}, []string{"quarterly", "budget", "the quarterly budget", "quarterly  budget", "Quarterly Budget"}},
		{"Ask Bob a7 Ann", []string{"Bob", "Ann"}, []string{"Bob a7", "a7 Ann", "Bob a7 Ann"}},
		{"Invite Bob, Jones", []string{"Bob", "Jones"}, []string{"Bob Jones", "Bob, Jones"}},
		{"Invite Bob\nJones", []string{"Bob", "Jones"}, []string{"Bob Jones", "Bob\nJones"}},
		{"Please send The File To The User Today", nil, []string{"Please", "The", "File", "User", "Today", "The File"}},
		{"Ask Bob-evil and xBob", []string{"Bob-evil"}, []string{"Bob", "evil"}},
		{"Bob's mail for Zoë", []string{"Bob", "Zoë"}, []string{"Bob's", "Zoe", "Zo"}},
		{"отправь письмо из Москвы", []string{"Москвы", "отправь письмо из Москвы"}, []string{"из", "письмо", "Mocквы"}},
		{"A B C D E F G H I", nil, []string{"A", "A B", "H I", "I"}},
		{"Kai Lee Max Tom Ann Eve Sam Pat", []string{"Kai Lee Max Tom Ann Eve Sam Pat"}, nil},
		{"Kai Lee Max Tom Ann Eve Sam Pat Ron", nil, []string{"Kai Lee Max Tom Ann Eve Sam Pat Ron", "Kai Lee Max Tom Ann Eve Sam Pat"}},
	}
	for _, tt := range tests {
		s := stated(tt.text)
		for _, v := range tt.yes {
			if !s.Has(v, hook.String, "to") {
				t.Errorf("%q does not state %q", tt.text, v)
			}
		}
		for _, v := range tt.no {
			if s.Has(v, hook.String, "to") {
				t.Errorf("%q states %q", tt.text, v)
			}
		}
	}
}

func TestStatedNumbersNeedTheirRole(t *testing.T) {
	tests := []struct {
		text, value, role string
		want              bool
	}{
		{"refund invoice 7", "7", "invoice_id", true},
		{"refund invoice 7", "7", "invoiceId", true},
		{"refund invoice number 7", "7", "invoice", true},
		{"refund invoice #7", "7", "invoice_id", true},
		{"refund invoice: 7", "7", "invoice_id", true},
		{"refund invoices 7", "7", "invoice_id", true},
		{"refund invoice 7", "7", "amount", false},
		{"refund invoice 7", "7", "id", false},
		{"refund id 7", "7", "id", true},
		{"refund invoice 77", "7", "invoice_id", false},
		{"refund the invoice. 7 of them", "7", "invoice_id", false},
		{"7", "7", "invoice_id", false},
		{"pay $50", "50", "amount", true},
		{"pay $50", "50.00", "amount", true},
		{"pay 50 dollars", "50", "amount", true},
		{"pay 50 EUR", "50", "total_amount", true},
		{"pay EUR 50", "50", "amount", true},
		{"pay 50EUR", "50", "amount", true},
		{"pay 50€ or €60", "60", "amount", true},
		{"pay 50", "50", "amount", true},
		{"pay $1,234.50", "1234.5", "amount", true},
		{"pay 1.234,50 €", "1234.50", "amount", true},
		{"pay $1,234", "1234", "amount", true},
		{"pay $50", "500", "amount", false},
		{"pay $50", "-50", "amount", false},
		{"pay $50", "5e1", "amount", false},
		{"pay $50", "50", "invoice_id", false},
		{"the meeting takes 50 minutes", "50", "amount", false},
		{"the meeting takes 50 minutes", "50", "duration_minutes", true},
		{"show the top 10", "10", "limit", true},
		{"set the limit to 10", "10", "max_results", true},
		{"buy 3 copies", "3", "quantity", true},
		{"buy 3 copies", "3", "limit", false},
		{"merge PR 12", "12", "pull_number", true},
		{"my account is 12345678", "12345678", "account", true},
		{"my account is 12345678", "12345678", "recipient", true},
		{"my account is 12345678", "12345678", "amount", false},
		{"what happened in 1999", "1999", "year", true},
		{"what happened in 1999", "1999", "amount", false},
		{"title it '50'", "50", "title", true},
		{"title it '50'", "50", "amount", false},
		{`he said "pay 50 dollars"`, "50", "amount", false},
		{"50x and x50 and 50-60", "50", "amount", false},
	}
	for _, tt := range tests {
		for _, kind := range []hook.LeafKind{hook.Number, hook.String} {
			want := tt.want && (kind == hook.String || tt.role != "title")
			if got := stated(tt.text).Has(tt.value, kind, tt.role); got != want {
				t.Errorf("%q states %s as %s: %v, want %v", tt.text, tt.value, tt.role, got, want)
			}
		}
	}
}

func TestStatedValuesThatSayNothing(t *testing.T) {
	var s Stated
	if !s.Has("null", hook.Null, "x") || !s.Has("false", hook.Bool, "x") || !s.Has("", hook.String, "x") {
		t.Error("null, false and nothing need not be stated")
	}
	if s.Has("true", hook.Bool, "x") || s.Has("null", hook.String, "x") || s.Has("false", hook.String, "x") || s.Has(" ", hook.String, "x") {
		t.Error("something was stated by nobody")
	}
	if stated("true").Has("true", hook.Bool, "x") {
		t.Error("a bare true is stated")
	}
}

func TestStatedLimits(t *testing.T) {
	long := strings.Repeat("a/", tokens.MaxTokenBytes)
	if s := stated(long); s.Has(long, hook.String, "x") || s.Has(long[:tokens.MaxTokenBytes], hook.String, "x") {
		t.Error("a token over the limit is stated")
	}
	// A message over the limit is cut between tokens, never inside one.
	message := strings.Repeat("x ", maxStatedBytes/2-4) + "/home/me/work/secret"
	if s := stated(message); s.Has("/home/me", hook.String, "x") || s.Has("/home/", hook.String, "x") || s.Has("/home/m", hook.String, "x") {
		t.Error("a part of a token is stated")
	}
	if s := stated(strings.Repeat("x", maxStatedBytes) + " a@b.com"); s.Has("a@b.com", hook.String, "x") {
		t.Error("what stands behind the limit is stated")
	}
}

// Whatever is stated must be in the text. The same text with one byte more or less must
// not be stated.
func TestStatedMutations(t *testing.T) {
	values := []string{"bob@example.com", "/home/me/notes.txt", "https://example.com/a/b?c=d", "INV-2024-17", "DE89370400440532013000", "#general"}
	for _, v := range values {
		s := stated("Please use " + v + " for this.")
		if !s.Has(v, hook.String, "x") {
			t.Errorf("%q is not stated", v)
		}
		for i := range len(v) {
			for _, mutant := range []string{v[:i] + v[i+1:], v[:i] + "x" + v[i:], v[:i] + "\u200b" + v[i:], v[:i] + "9" + v[i+1:], v[:i], v[i+1:]} {
				if mutant != v && mutant != "" && s.Has(mutant, hook.String, "x") {
					t.Errorf("%q states %q", v, mutant)
				}
			}
		}
		for _, mutant := range []string{v + "x", v + "/", "x" + v, v + " ", v + "\x00", v + "@evil.com", v + ".evil.com"} {
			if mutant != "/home/me/notes.txt/" && s.Has(mutant, hook.String, "x") {
				t.Errorf("%q states %q", v, mutant)
			}
		}
	}
}

func FuzzStated(f *testing.F) {
	f.Add("Mail a@b.com about “x y” at 10:30", "a@b.com")
	f.Add("pay $50 to Bank of America", "Bank of America")
	f.Add("/a\\ b/c 'x'", "/a b/c")
	f.Fuzz(func(t *testing.T, text, value string) {
		s := stated(text)
		if value == "" || !s.Has(value, hook.String, "x") {
			return
		}
		// Strict matching forgives case in hosts, blanks in accounts and names,
		// separators in numbers, and one slash. Nothing else.
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(" \t\\-()./,+0€$%", r) {
					return -1
				}
				return r
			}, strings.ToLower(s))
		}
		if _, isNumber := tokens.AsNumber(value); !isNumber && !strings.Contains(letters(text), letters(value)) {
			t.Errorf("%q states %q", text, value)
		}
	})
}

func BenchmarkStatedAdd(b *testing.B) {
	text := strings.Repeat("Please send the quarterly report to bob@example.com and pay invoice 7. ", 6)
	b.ReportAllocs()
	for b.Loop() {
		stated(text)
	}
}
