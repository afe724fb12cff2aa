package tokens

import (
	"fmt"
	"strings"
	"testing"
)

func TestBlocksEndBetweenTokens(t *testing.T) {
	const half = blockBytes / 2
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct {
		text string
		base int
		want int
	}{
		"all of it":               {x(blockBytes), 0, blockBytes},
		"all of the rest":         {x(blockBytes + 5), 5, blockBytes + 5},
		"one byte too many":       {x(blockBytes + 1), 0, blockBytes},
		"at a line":               {x(half) + "\n" + x(blockBytes), 0, half + 1},
		"at the last line":        {x(half) + "\n" + x(9) + "\n " + x(blockBytes), 0, half + 11},
		"a line too early":        {x(half-1) + "\n" + x(blockBytes), 0, blockBytes},
		"a line at the very end":  {x(blockBytes-1) + "\n" + x(9), 0, blockBytes},
		"a line one byte too far": {x(blockBytes) + "\n" + x(9), 0, blockBytes},
		"at a blank":              {x(half) + " " + x(blockBytes), 0, half + 1},
		"at a tab":                {x(half) + "\t" + x(blockBytes), 0, half + 1},
		"from the middle":         {"abc" + x(half) + "\n" + x(blockBytes), 3, half + 4},
		"not inside a character":  {"x" + strings.Repeat("é", blockBytes), 0, blockBytes - 1},
		"behind a character":      {strings.Repeat("é", blockBytes), 0, blockBytes},
		"what is no text":         {"x" + strings.Repeat("\x80", 2*blockBytes), 0, blockBytes - 4},
	} {
		if got := blockEnd(tt.text, tt.base); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

// What was hidden in one block moves nothing in the next.
func TestOffsetsInLaterBlocks(t *testing.T) {
	text := "a\u200b\u200bb" + strings.Repeat(" ", blockBytes) + "\n"
	at := len(text) + 3
	text += "to eve@x.example"
	for tok := range Tokens(text) {
		if tok.Kind == Address && tok.Start != at {
			t.Errorf("it is at %d, want %d", tok.Start, at)
		}
	}
}

func TestTokensAtTheirLimit(t *testing.T) {
	kinds := func(text string) (kinds []string) {
		for tok := range Tokens(text) {
			kinds = append(kinds, fmt.Sprintf("%v%d", tok.Kind, tok.End-tok.Start))
		}
		return kinds
	}
	for _, tt := range []struct{ text, want string }{
		{strings.Repeat("a", MaxTokenBytes), "[word4096]"},
		{strings.Repeat("a", MaxTokenBytes+1), "[id4096 word1]"},
		{strings.Repeat("a", MaxTokenBytes) + " b", "[word4096 word1]"},
		{"/" + strings.Repeat("a", MaxTokenBytes-1), "[path4096]"},
		{strings.Repeat("/a", MaxTokenBytes), "[id4096 path4096]"},
		{"'" + strings.Repeat("-", MaxTokenBytes-1) + "'", "[quoted4095]"},
		{"'" + strings.Repeat("-", MaxTokenBytes) + "'", "[]"},
		{"' '-'", "[quoted1]"},
		{"'-", "[]"},
		{"'-'x-'", "[quoted4 quoted2 word1]"},
		{"x'-'", "[word1]"},
		{"'-'' '", "[quoted1]"},
		{"'' -'", "[quoted2]"},
	} {
		if got := fmt.Sprint(kinds(tt.text)); got != tt.want {
			t.Errorf("%.10s… of %d bytes: %s, want %s", tt.text, len(tt.text), got, tt.want)
		}
	}
}

// The limits that other packages and readers count on.
func TestLimitsOfTokens(t *testing.T) {
	for name, c := range map[string][2]int{
		"bytes of a token":   {MaxTokenBytes, 4096},
		"tokens of a text":   {MaxTokens, 16777216},
		"digits of a number": {maxDigits, 32},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}
