package catalog

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
)

// Addresses that wrap or spell an inner host differently are inner all the same.
func TestInnerHosts(t *testing.T) {
	for host, want := range map[string]floodmark.Secrecy{
		"64:ff9b::7f00:1": floodmark.Private, "::7f00:1": floodmark.Private, "0x7f.0.0.0x1": floodmark.Private, "127.1": floodmark.Private,
		"64:ff9b::808:808": floodmark.Public, "164:ff9b::7f00:1": floodmark.Public, "8.8.8.example": floodmark.Public,
	} {
		if got := openness(host); got != want {
			t.Errorf("%s is %v, want %v", host, got, want)
		}
	}
}

// A character nobody sees does not hide a name.
func TestUnseen(t *testing.T) {
	for r, want := range map[rune]bool{0x034e: false, 0x034f: true, 0x0350: false, 0x115f: true, 0x1160: true, 0x7f: true, 0x80: true, 'a': false, 0x200b: true} {
		if unseen(r) != want {
			t.Errorf("%U is unseen: %v", r, !want)
		}
	}
}

func TestCleanAtSign(t *testing.T) {
	for in, want := range map[string]string{"@/": "/", "@/a": "/a", "@": "/p/@", "@b": "/p/@b", "@.": "/p"} {
		if got := cleanSlashes(in, "/p", "/h"); got != want {
			t.Errorf("%s is cleaned to %s, want %s", in, got, want)
		}
	}
}

func TestReadsOnlyEdges(t *testing.T) {
	for text, want := range map[string]bool{"SELECT $": false, "SELECT $1": true, "SELECT $a": false} {
		if readsOnly(text) != want {
			t.Errorf("%s reads only: %v", text, !want)
		}
	}
}

func TestSimpleSpaces(t *testing.T) {
	words, ok := simple("  git   status ", nil)
	if !ok || strings.Join(words, "|") != "git|status" {
		t.Errorf("%q %v", words, ok)
	}
}

// How many words and which letters a shell takes as they stand.
func TestPlainWords(t *testing.T) {
	for word, want := range map[string]bool{
		"a": true, "z": true, "A": true, "Z": true, "0": true, "9": true, "-_./=:,@+": true, "~": true, "~/a": true, "~/": true,
		"=a": false, "a~": false, "~a": false, "`": false, "{": false, "[": false, "$a": false, "a*": false, ";": false, "é": false,
	} {
		if plainWord(word) != want {
			t.Errorf("%s is plain: %v", word, !want)
		}
	}
	for n, want := range map[int]bool{MaxCommandWords: true, MaxCommandWords + 1: false} {
		if _, ok := simple(strings.Repeat("a ", n), nil); ok != want {
			t.Errorf("%d words: %v", n, ok)
		}
	}
	for n, want := range map[int]bool{MaxCommandBytes: true, MaxCommandBytes + 1: false} {
		if _, ok := simple(strings.Repeat("a", n), nil); ok != want {
			t.Errorf("%d bytes: %v", n, ok)
		}
	}
}

// An address is plain if every reader sees the same host.
func TestPlainURL(t *testing.T) {
	for url, want := range map[string]bool{
		"https://a.example/x": true, "a.example": true, "ssh://a.example": true, "a.example?x@y": true, "a.example/~": true,
		"https://a.example/!": true, "https://a.example/~\x7f": false, "https://a.example/ ": false, "a.example/\x80": false, `a.example\x`: false,
		"gopher://a.example": false, "anna@a.example": false, "https://anna@a.example/x": false, "https:///x": false, "": false,
		"a.example/@x": true, "a.example#@x": true, "https://a_b.example": true, "https://a+b.example": false,
	} {
		if plainURL(url) != want {
			t.Errorf("%q is plain: %v", url, !want)
		}
	}
	for host, want := range map[string]bool{
		"": false, "a": true, "z": true, "0": true, "9": true, "a-b.c": true, "`": false, "{": false, "/": false, ":": false, "A": false,
		strings.Repeat("a", 253): true, strings.Repeat("a", 254): false,
	} {
		if plainHost(host) != want {
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
		if got := openness(host); got != want {
			t.Errorf("%s is %v, want %v", host, got, want)
		}
	}
}
