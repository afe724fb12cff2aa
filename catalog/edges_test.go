package catalog

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/sqlread"
)

// An invisible character does not hide a name.
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
		if sqlread.ReadsOnly(text) != want {
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

// A shell takes only so many words and only these characters literally.
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
