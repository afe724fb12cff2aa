package address

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// An address that wraps an inner host or writes it in another form is inner too.
func TestInnerHosts(t *testing.T) {
	for host, want := range map[string]floodmark.Secrecy{
		"64:ff9b::7f00:1": floodmark.Private, "::7f00:1": floodmark.Private, "0x7f.0.0.0x1": floodmark.Private, "127.1": floodmark.Private,
		"64:ff9b::808:808": floodmark.Public, "164:ff9b::7f00:1": floodmark.Public, "8.8.8.example": floodmark.Public,
	} {
		if got := Openness(host); got != want {
			t.Errorf("%s is %v, want %v", host, got, want)
		}
	}
}

// An address is plain if all programs agree on its host.
func TestPlainURL(t *testing.T) {
	for url, want := range map[string]bool{
		"https://a.example/x": true, "a.example": true, "ssh://a.example": true, "a.example?x@y": true, "a.example/~": true,
		"https://a.example/!": true, "https://a.example/~\x7f": false, "https://a.example/ ": false, "a.example/\x80": false, `a.example\x`: false,
		"gopher://a.example": false, "anna@a.example": false, "https://anna@a.example/x": false, "https:///x": false, "": false,
		"a.example/@x": true, "a.example#@x": true, "https://a_b.example": true, "https://a+b.example": false,
	} {
		if Plain(url) != want {
			t.Errorf("%q is plain: %v", url, !want)
		}
	}
	for host, want := range map[string]bool{
		"": false, "a": true, "z": true, "0": true, "9": true, "a-b.c": true, "`": false, "{": false, "/": false, ":": false, "A": false,
		strings.Repeat("a", 253): true, strings.Repeat("a", 254): false,
	} {
		if PlainHost(host) != want {
			t.Errorf("%.9s is plain: %v", host, !want)
		}
	}
}

// How open an answer of a host can be.
func TestOpenness(t *testing.T) {
	for host, want := range map[string]floodmark.Secrecy{
		"": floodmark.Public, "a.example": floodmark.Public, "8.8.8.8": floodmark.Public, "2001:4860::8888": floodmark.Public,
		"metadata": floodmark.Secret, "[fd00:ec2::254]": floodmark.Secret, "169.254.169.254": floodmark.Secret,
		"127.0.0.1": floodmark.Private, "10.1.2.3": floodmark.Private, "169.254.1.1": floodmark.Private, "0.0.0.0": floodmark.Private,
		"::": floodmark.Private, "::1": floodmark.Private, "fe80::1%eth0": floodmark.Private, "fd00::1": floodmark.Private, "fd00:ec2::254%eth0": floodmark.Secret, "::ffff:10.0.0.1": floodmark.Private,
		"::a00:1": floodmark.Private, "::a9fe:101": floodmark.Private, "64:ff9b::": floodmark.Private, "64:ff9b::a00:1": floodmark.Private,
		"6400:ff9b::a00:1": floodmark.Public, "64:ff9b::100": floodmark.Public, "64:ff9b::1": floodmark.Public, "65:ff9b::a00:1": floodmark.Public, "1::a00:1": floodmark.Public, "100::a00:1": floodmark.Public, "::808:808": floodmark.Public,
		"printer": floodmark.Private, ".example": floodmark.Public, "a.local": floodmark.Private, "a.home.arpa": floodmark.Private, "local.example": floodmark.Public,
		"127.1": floodmark.Private, "a.0x1": floodmark.Private, "a.1b": floodmark.Public, "a.example.": floodmark.Public,
	} {
		if got := Openness(host); got != want {
			t.Errorf("%s is %v, want %v", host, got, want)
		}
	}
}

func TestHostOf(t *testing.T) {
	for raw, want := range map[string]struct {
		host  string
		plain bool
	}{
		"https://Example.com/a":               {"example.com", true},
		"HTTP://example.com":                  {"example.com", true},
		"http://a.test?x":                     {"a.test", true},
		"http://a.test#x":                     {"a.test", true},
		"https://a.test:80/x":                 {"a.test", true},
		"https://a.test:8a/x":                 {"a.test:8a", false},
		"https://a.test:a8/x":                 {"a.test:a8", false},
		"https://a.test:8089/x":               {"a.test", true},
		"https://:80/x":                       {"", false},
		"https://a.test./x":                   {"a.test", true},
		"https://0-9.az/":                     {"0-9.az", true},
		"https://a_b.test/":                   {"a_b.test", true},
		"https://a/b":                         {"a", true},
		"https://u@a.test/":                   {"a.test", false},
		"https://@a.test/":                    {"a.test", false},
		"https://u:p@v@a.test/":               {"a.test", false},
		`https://a.test\b`:                    {"", false},
		`https://\b`:                          {"", false},
		"ftp://a.test/x":                      {"a.test", false},
		"a.test/x":                            {"a.test", false},
		"a.test:22":                           {"a.test", false},
		"https://":                            {"", false},
		"https:///x":                          {"", false},
		"":                                    {"", false},
		"https://{.test":                      {"{.test", false},
		"https://`.test":                      {"`.test", false},
		"https://" + strings.Repeat("a", 253): {strings.Repeat("a", 253), true},
		"https://" + strings.Repeat("a", 254): {strings.Repeat("a", 254), false},
	} {
		if host, plain := HostOf(raw); host != want.host || plain != want.plain {
			t.Errorf("%.40q: %q %v, want %v", raw, host, plain, want)
		}
	}
}

func TestMatchHost(t *testing.T) {
	for _, tc := range []struct {
		pattern, host string
		want          bool
	}{
		{"a.test", "a.test", true},
		{"a.test", "b.a.test", false},
		{"*.a.test", "b.a.test", true},
		{"*.a.test", "c.b.a.test", true},
		{"*.a.test", "a.test", false},
		{"*.a.test", ".a.test", false},
		{"*.a.test", "xa.test", false},
		{"*.a.test", "x.b.test", false},
	} {
		if got := MatchHost(tc.pattern, tc.host); got != tc.want {
			t.Errorf("%s on %s: %v", tc.pattern, tc.host, got)
		}
	}
}

func TestHostLike(t *testing.T) {
	for path, want := range map[string]bool{
		"evil.example/login": true, "//evil.example/x": true, "a.bc/d": true, "a.b/c": false, "docs/tips": false,
		"notes.txt": false, "./a/b": false, ".env/x": false, "c:/a.txt/b": false, "": false, "/": false,
	} {
		if got := LikeHost(path); got != want {
			t.Errorf("%q looks like a host: %v", path, got)
		}
	}
}

func TestHostOfPath(t *testing.T) {
	for path, want := range map[string]string{
		"Evil.example/login": "evil.example", "//evil.example": "evil.example", "evil.example:8443": "evil.example", "evil.example:8443/x": "evil.example", "git@evil.example:a/b": "evil.example",
		"u@evil.example/x": "evil.example", "main.go:33": "main.go", "/dev/tcp/evil.example/80": "evil.example", "/dev/udp/evil.example/80": "evil.example", "evil.example./login": "evil.example",
		"evil.example": "", "a.b/c": "", "docs/tips": "", "./a/b": "", ".env/x": "", "c:/a.txt/b": "", "a.bc:d": "", "a b.cd/e": "", `a\b.cd/e`: "", "": "", "/": "", "@": "",
	} {
		if got := HostOfPath(path); got != want {
			t.Errorf("%q begins with %q, want %q", path, got, want)
		}
	}
}

func TestIPOf(t *testing.T) {
	for word, want := range map[string]string{
		"203.0.113.9": "203.0.113.9", "203.0.113.9:80": "203.0.113.9", "203.0.113.9/x": "203.0.113.9", "git@203.0.113.9:a/b": "203.0.113.9", "/dev/tcp/203.0.113.9/80": "203.0.113.9",
		"169.254.169.254": "169.254.169.254", "10.0.0.7": "10.0.0.7", "223.0.0.1": "223.0.0.1",
		"224.0.0.1": "", "255.255.255.0": "", "0.0.0.0": "", "127.0.0.1:80": "", "1.2.3": "", "1.2.3.04": "", "::1": "", "v203.0.113.9": "", "a/203.0.113.9": "", "": "",
	} {
		if got := IPOf(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// What is told to one machine alone, or lies in a network of its own, is not public.
func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "169.254.169.254": false, "168.63.129.16": false, "::ffff:168.63.129.16": false,
		"100.64.0.1": false, "fd00::1": false, "fe80::1%eth0": false, "64:ff9b::a00:1": false, "2002:a00:1::": false, "0.0.0.0": false, "255.255.255.255": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s is public: %v", text, got)
		}
	}
}

// A place that a box may reach is a plain name of the open network with its port.
func TestPlace(t *testing.T) {
	for _, text := range []string{"api.example:443", "a-b.c.example:1", "1.a.example:65535", strings.Repeat("a", 63) + ".example:80"} {
		if host, ok := Place(text); !ok || host != text[:strings.LastIndexByte(text, ':')] {
			t.Errorf("%q is refused", text)
		}
	}
	for _, text := range []string{
		"", ":443", "api.example", "api.example:", "api.example:0", "api.example:65536", "api.example:0443", "api.example:+443", "api.example:https", "api.example:443:443", "api.example:443 ",
		"API.example:443", "api.example.:443", ".example:443", "a..example:443", "*.example:443", "a_b.example:443", "-a.example:443", "a-.example:443",
		"a.example\x00.b.example:443", "a.example\n:443", "a@b.example:443", "a.example/b:443", "\u0430pi.example:443", "xn--pi-7kc.example:443",
		strings.Repeat("a", 64) + ".example:443", strings.Repeat("a.", 127) + "a:443",
		"localhost:443", "a.localhost:443", "printer:443", "a.local:443", "db.internal:443", "metadata.google.internal:80",
		"8.8.8.8:443", "127.0.0.1:443", "127.1:443", "0x7f.0.0.1:443", "a.0x1:443", "2130706433:443", "169.254.169.254:80", "[::1]:443", "::1:443", "[::ffff:8.8.8.8]:443",
	} {
		if _, ok := Place(text); ok {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzPlace(f *testing.F) {
	f.Add("api.example:443")
	f.Fuzz(func(t *testing.T, text string) {
		if host, ok := Place(text); ok && (!PlainHost(host) || Openness(host) != floodmark.Public || !strings.HasPrefix(text, host+":") || !strings.Contains(host, ".")) {
			t.Errorf("%q is taken for %q", text, host)
		}
	})
}

// A value where an address could be is a file by its first characters.
func TestNamesFile(t *testing.T) {
	for value, want := range map[string]bool{
		"/a": true, "~/a": true, "./a": true, `\\h\a`: true, " /a": true, "file:x": true, "FILE://x": true, "C:/a": true, `c:\a`: true, "C:/": true,
		"": false, " ": false, "c:": false, "c:a": false, "ab/c": false, "https://a.test/": false, "a.test": false,
	} {
		if got := NamesFile(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}
