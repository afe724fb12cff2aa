package language

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

func TestStatedAtItsLimit(t *testing.T) {
	for extra, want := range map[int]bool{0: true, 1: false} {
		message := strings.Repeat("x", maxStatedBytes-8+extra) + " a@b.com"
		if got := stated(message).Has("a@b.com", hook.String, "x"); got != want {
			t.Errorf("%d bytes over the limit, stated %v", extra, got)
		}
	}
	for _, n := range []int{tokens.MaxTokenBytes, tokens.MaxTokenBytes + 1} {
		name := strings.Repeat("N", 2000) + " " + strings.Repeat("O", n-2001)
		if got := stated("ask "+name).Has(name, hook.String, "x"); got != (n <= tokens.MaxTokenBytes) {
			t.Errorf("a name of %d bytes is stated: %v", n, got)
		}
	}
	for _, n := range []int{tokens.MaxTokenBytes - 1, tokens.MaxTokenBytes} {
		path := "/" + strings.Repeat("a", n-1)
		if got := stated("see "+path).Has(path, hook.String, "x"); got != (n < tokens.MaxTokenBytes) {
			t.Errorf("a path of %d bytes is stated: %v", n, got)
		}
		if got := stated("see '"+path+"'").Has(path, hook.String, "x"); got != (n < tokens.MaxTokenBytes) {
			t.Errorf("a quoted path of %d bytes is stated: %v", n, got)
		}
	}
}

func TestSymbolsThatEndTokens(t *testing.T) {
	for r, want := range map[rune]bool{
		'🎉': true, '“': true, '’': true, '–': false, '。': false, '€': true,
		'\ufffd': false, '\u200b': false, 'é': false, '٣': false, '\u0903': false,
	} {
		if isSymbol(r, "\"'") != want {
			t.Errorf("%q ends a token: %v", r, !want)
		}
	}
}

// The limits that other packages and readers count on.
func TestLimitsOfStated(t *testing.T) {
	for name, c := range map[string][2]int{
		"bytes of a message": {maxStatedBytes, 262144},
		"words of a name":    {maxNameWords, 8},
		"words between":      {maxBetween, 6},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}
