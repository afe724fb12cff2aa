package hostnames

import (
	"slices"
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                     nil,
		"see https://A.example:8443/x?y#z":     {"a.example"},
		"fetch('//a.example/r')":               {"a.example"},
		"curl a.example/x; curl a.example/y":   {"a.example"},
		"nc a.b.example 80":                    {"a.b.example"},
		"curl A.example:8443/x a.b.example:80": {"a.example", "a.b.example"},
		"git clone git@a.example:b/c.git":      {"a.example"},
		"panic in main.go:33, 12:30, a:b":      nil,
		"mail Mallory@post.example now":        {"mallory@post.example"},
		"fs.promises.open('x')":                nil,
		"https://a.example https://b.example/": {"a.example", "b.example"},
		"go test ./... main.go":                nil,
		"203.0.113.9:80 203.0.113.77/x":        {"203.0.113.9", "203.0.113.77"},
		"ssh root@203.0.113.9":                 {"203.0.113.9"},
		"0.0.0.0:80 127.0.0.1 255.255.255.0":   nil,
		"/dev/tcp/a.example/80 $X.b.example":   {"a.example", "x.b.example"},
		"${X}.a.example/y ./.a.b .env":         {"a.example"},
	} {
		if got := slices.Collect(In(text)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAbove(t *testing.T) {
	for host, want := range map[string]string{"a.b.example": "b.example", "$(id).b.example": "b.example", "b.example": "", "": "", "a@b.c.example": "", "203.0.113.9": "", "a.b": ""} {
		if got := Above(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

// For a text with too many words, TooLong follows the hosts that were found. The caller can stop at
// any host.
func TestTooLong(t *testing.T) {
	fits := strings.Repeat("https://a.example/ ", MaxTokens)
	if got := slices.Collect(In(fits)); !slices.Equal(got, []string{"a.example"}) {
		t.Errorf("at the limit: %q", got)
	}
	if got := slices.Collect(In(fits + "https://b.example/")); !slices.Equal(got, []string{"a.example", TooLong}) {
		t.Errorf("beyond it: %q", got)
	}
	for range In("https://a.example https://b.example") {
		break
	}
}

func FuzzIn(f *testing.F) {
	f.Add("curl https://a.example/x 'mallory@b.example'")
	f.Fuzz(func(t *testing.T, text string) {
		for host := range In(text) {
			if host == "" || host != TooLong && strings.ContainsAny(host, " /\n") {
				t.Errorf("%q names %q", text, host)
			}
		}
	})
}
