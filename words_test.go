package floodmark_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// A value that does not exist is shown as invalid and never written. The error for a wrong word
// lists the right words.
func TestWordsSayWhatIsWrong(t *testing.T) {
	for got, want := range map[string]string{
		floodmark.Trust(6).String():     "invalid(6)",
		floodmark.Trust(7).String():     "invalid(7)",
		floodmark.Effect(6).String():    "observe",
		floodmark.Effect(7).String():    "invalid(7)",
		floodmark.Verdict(4).String():   "invalid(4)",
		floodmark.Secrecy(255).String(): "invalid(255)",
		floodmark.Reach(0).String():     "boxed",
		floodmark.Reach(1).String():     "free",
		floodmark.Reach(2).String():     "invalid(2)",
		floodmark.Role(3).String():      "invalid(3)",
		floodmark.Whence(3).String():    "invalid(3)",
		floodmark.Clean().String():      "system/public",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for name, c := range map[string]struct {
		parse func(string) error
		want  string
	}{
		"trust":   {func(w string) error { _, err := floodmark.ParseTrust(w); return err }, `unknown trust "x" (want one of untrusted, external, shared, local, owner, system)`},
		"secrecy": {func(w string) error { _, err := floodmark.ParseSecrecy(w); return err }, `unknown secrecy "x" (want one of secret, private, internal, public)`},
		"effect":  {func(w string) error { _, err := floodmark.ParseEffect(w); return err }, `unknown effect "x" (want one of admin, run, send, change, write, fetch, observe)`},
		"reach":   {func(w string) error { _, err := floodmark.ParseReach(w); return err }, `unknown reach "x" (want one of boxed, free)`},
		"verdict": {func(w string) error { _, err := floodmark.ParseVerdict(w); return err }, `unknown verdict "x" (want one of restrict, confirm, audit, allow)`},
	} {
		if err := c.parse("x"); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for _, v := range []interface{ MarshalText() ([]byte, error) }{floodmark.Trust(6), floodmark.Effect(7), floodmark.Effect(255), floodmark.Role(3), floodmark.Reach(2)} {
		if text, err := v.MarshalText(); err == nil || text != nil {
			t.Errorf("%v is written as %q", v, text)
		}
	}
}

func TestZeroness(t *testing.T) {
	if !(floodmark.Origin{}).IsZero() || (floodmark.Origin{Group: "g"}).IsZero() {
		t.Error("an origin is zero if it says nothing, and only then")
	}
	if !(floodmark.Digest{}).IsZero() || (floodmark.Digest{31: 1}).IsZero() {
		t.Error("a digest is zero if it is all zeros, and only then")
	}
}

// A digest that cannot be parsed leaves the value unchanged.
func TestDigestKeepsItsValue(t *testing.T) {
	d := floodmark.DigestOf("hello")
	back := d
	for wrong, want := range map[string]string{
		"2c":                      "digest has 2 characters, want 64",
		d.String() + "0":          "digest has 65 characters, want 64",
		d.String()[2:] + "zz":     "digest: encoding/hex: invalid byte: U+007A 'z'",
		strings.Repeat("0", 63):   "digest has 63 characters, want 64",
		"2cf24dba" + "\n" + "etc": "digest has 12 characters, want 64",
	} {
		if err := back.UnmarshalText([]byte(wrong)); err == nil || err.Error() != want || back != d {
			t.Errorf("%q: %v, left with %v; want %s", wrong, err, back, want)
		}
	}
	if text, err := d.MarshalText(); err != nil || string(text) != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("hello is written as %s, %v", text, err)
	}
}
