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
	for r, want := range map[rune]bool{0x034e: false, 0x034f: true, 0x0350: false, 0x115f: true, 0x1160: true, 0x7f: true, 'a': false, 0x200b: true} {
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

func TestNamesFolder(t *testing.T) {
	for command, option := range map[string]string{"tar": "-C", "cp": "-t", "unzip": "-d", "wget": "-P", "any": "--target-directory"} {
		if !namesFolder(command, option) || namesFolder(command, "-q") {
			t.Errorf("%s %s", command, option)
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

func TestAllowsLongOptions(t *testing.T) {
	any, some := commandEntry{options: []string{"*"}}, commandEntry{options: []string{"--all"}}
	if !any.allows("--anything") || some.allows("--anything") || !some.allows("--all") {
		t.Error("long options")
	}
}
