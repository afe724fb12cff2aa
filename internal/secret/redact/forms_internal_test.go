package redact

import (
	"slices"
	"testing"
)

// The forms of a token are the token itself, its parts, and what these may encode.
func TestForms(t *testing.T) {
	for token, want := range map[string][]string{
		"short":                                 {"short"},
		"abcdefgh-ijklmnop":                     {"abcdefgh-ijklmnop", "abcdefgh", "ijklmnop"},
		"abcd1234=567890ab":                     {"abcd1234=567890ab", "abcd1234", "567890ab"},
		"https://a.example/k3yk3yk3":            {"https://a.example/k3yk3yk3", "k3yk3yk3"},
		"7333637233743939":                      {"7333637233743939", "s3cr3t99"},
		"czNjcjN0OTktbG9uZ2Vy":                  {"s3cr3t99-longer"},
		"x=czNjcjN0OTktbG9uZ2VyIQ==":            {"s3cr3t99-longer!"},
		"https://a.example/?q=7333637233743939": {"s3cr3t99"},
	} {
		got := Forms(token, 8)
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", token, got, w)
			}
		}
	}
	if got := Forms("a-b-c-d-e-f-g-h", 8); len(got) != 1 {
		t.Errorf("parts too short to tell anything: %q", got)
	}
	if got := decoded("73336372337439", 8); got != nil {
		t.Errorf("too short to be decoded: %q", got)
	}
}
