package floodmark_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "",
		"plain text":                      "plain text",
		"grüße 日本":                        "grüße 日本",
		"a\nb\tc\rd":                      "a⏎b⇥c⟨U+000D⟩d",
		"safe\u202egpj.exe":               "safe⟨U+202E⟩gpj.exe",
		"an\u200bna@firm":                 "an⟨U+200B⟩na@firm",
		"x\u00a0y\u3000z":                 "x⟨U+00A0⟩y⟨U+3000⟩z",
		"\u3164\u115f\u2800":              "⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩",
		"\U000E0041\ufe0f":                "⟨U+E0041⟩⟨U+FE0F⟩",
		"a   b":                           "a   b",
		"a    b":                          "a⟨4 spaces⟩b",
		"a     ":                          "a⟨5 spaces⟩",
		"bad \xff byte \ufffd":            "bad ⟨FF⟩ byte \ufffd",
		"e\u0301":                         "e\u0301",
		"e\u0301\u0301\u0301":             "e\u0301\u0301\u0301",
		"e" + strings.Repeat("\u0301", 4): "e\u0301\u0301\u0301⟨U+0301⟩",
	} {
		if got := floodmark.Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	if got := floodmark.Shorten(strings.Repeat("a", 12), 12); got != strings.Repeat("a", 12) {
		t.Errorf("at the limit: %q", got)
	}
	if got := floodmark.Shorten("123456789abcd", 12); got != "12345678⟨… 1 letters …⟩abcd" {
		t.Errorf("one beyond: %q", got)
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{" two\n\twords\x1b[2J ", 99, "two words [2J"},
		{"exactly", 7, "exactly"},
		{"one more", 7, "one …"},
		{"äöü", 5, "ä…"},
		{"anything", 1, "…"},
		{"", 0, ""},
	} {
		if got := floodmark.OneLine(c.in, c.limit); got != c.want {
			t.Errorf("%q within %d: %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func TestLooksAlike(t *testing.T) {
	for text, want := range map[string]bool{
		"anna@firm.example": false, "аnna@firm.example": true, "привет": false, "hello привет": false, "日本 anna": false, "pαypal": true, "": false, "ru.почта": true,
	} {
		if floodmark.LooksAlike(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
