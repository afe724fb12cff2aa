package openhost

import "testing"

func TestHostPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"a.example", "a.example", true},
		{"A.example", "a.example", true},
		{"a.example", "b.a.example", false},
		{"*.a.example", "b.a.example", true},
		{"*.a.example", "a.example", false},
		{"*.a.example", "xa.example", false},
		{"printer", "printer", true},
		{"a-b_9.example", "a-b_9.example", true},
	} {
		if h, ok := ParsePattern(c.pattern); !ok || h.Matches(c.host) != c.want {
			t.Errorf("%s over %s: %v", c.pattern, c.host, !c.want)
		}
	}
	for _, pattern := range []string{"", "*", "*.", "a..b", ".a", "a.", "a b.example", "https://a.example", "a/b", "*.*.com", "é.example"} {
		if _, ok := ParsePattern(pattern); ok {
			t.Errorf("%s is taken for a host", pattern)
		}
	}
	for pattern, want := range map[string]string{
		"github.com": "github.com", "gist.github.com": "github.com", "*.github.com": "github.com", "*.google.com": "drive.google.com",
		"team.github.io": "github.io", "x.s3.amazonaws.com": "s3.amazonaws.com", "*.a.vercel.app": "vercel.app", "a.blob.core.windows.net": "blob.core.windows.net",
		"google.com": "", "10.0.0.7": "", "mygithub.com": "", "docs.example.com": "", "*.example.com": "",
	} {
		h, _ := ParsePattern(pattern)
		if got, open := h.Open(); got != want || open != (want != "") {
			t.Errorf("%s: %q %v, want %q", pattern, got, open, want)
		}
	}
}

// Anyone can register a name below a public suffix.
func TestPublicSuffixes(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*.com": true, "*.co.uk": true, "*.CO.UK": true, "*.github.io": true, "*.kawasaki.jp": true, "*.a.kawasaki.jp": true, "*.compute.amazonaws.com": true, "*.lan": true,
		"*.example.co.uk": false, "*.city.kawasaki.jp": false, "*.intranet.example": false, "*.lan.example": false, "co.uk": false, "printer": false,
	} {
		h, ok := ParsePattern(pattern)
		if !ok || h.Public() != want {
			t.Errorf("%s is public: %v %v", pattern, h.Public(), ok)
		}
	}
}
