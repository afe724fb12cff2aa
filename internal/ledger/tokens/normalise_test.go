package tokens

import "testing"

func TestNormaliseMore(t *testing.T) {
	for in, want := range map[string]string{
		"ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ": "ff fi fl ffi ffl st st",
		"AZ az [@{`":    "az az [@{`", // the neighbours of the letters stay
		"ＡＺ＠［":          "az@[",
		"a\tb\rc\x0bd":  "a b c d",
		"a\x08b\x0ec":   "abc",
		"a \u00a0 b":    "a b",
		"\u00a0a\u3000": "a",
		"!~\x7f":        "!~",
		"ΩЖ":            "wж",
		"\x80":          "\ufffd",
		"\u2126":        "w", // the sign for ohm is an omega
	} {
		if got := Normalise(in); got != want {
			t.Errorf("Normalise(%q) = %q, want %q", in, got, want)
		}
	}
	if got := string(AppendNormal([]byte("x "), " A ")); got != "x a" {
		t.Errorf("behind other text: %q", got)
	}
	if got := string(AppendNormal([]byte("x "), "\u200b")); got != "x " {
		t.Errorf("what stood there before changed: %q", got)
	}
}
