package scripts_test

import (
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/shell/scripts"
)

// A program is plain only if all of it is understood.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		plain    func(string) bool
		yes, not []string
	}{
		"sed": {
			scripts.PlainSed,
			[]string{"", "1,40p", "s/a/b/g", `\,x,d`, "/x/I{p;d}", "$!N", "a\\\nw file", "# w file"},
			[]string{"e ls", "s/a/b/e", "w file", "s/a/b/w file", "/x", "r file", "s/a"},
		},
		"awk": {
			scripts.PlainAwk,
			[]string{"", "{print $1}", "/ERROR/ {print substr($0, 2)}", "NR==1"},
			[]string{`{system("ls")}`, `{print > "f"}`, `{print | "sh"}`, "{getline x}", "ENVIRON[1]", "@load \"x\"", "f(1)"},
		},
	} {
		for _, program := range c.yes {
			if !c.plain(program) {
				t.Errorf("%s: %q is not plain", what, program)
			}
		}
		for _, program := range c.not {
			if c.plain(program) {
				t.Errorf("%s: %q is plain", what, program)
			}
		}
	}
	if !scripts.OnlyCalls("map(select(.a))", "map", "select") || scripts.OnlyCalls("map(load(.a))", "map", "select") {
		t.Error("calls of a jq program")
	}
	if !scripts.CallsWord("ENV.PATH", "env") || scripts.CallsWord(".env", "env") || scripts.CallsWord("my_env", "env") {
		t.Error("words of a jq program")
	}
}

// Escapes are resolved as a shell does. A value with a character by its number in Unicode is not
// known.
func TestEscapes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{`a\n\x41\102`: "a\nAB", `\e[0m`: "\x1b[0m", `a\0b`: "a", `it\'s`: "it's", `\z`: `\z`, "plain": "plain"} {
		if got, known := scripts.ANSI(text); got != want || !known {
			t.Errorf("%s: %q %v", text, got, known)
		}
	}
	if _, known := scripts.ANSI(`\u0041`); known {
		t.Error("a character by its number is known")
	}
	for text, want := range map[string]string{`\$a`: "$a", `a\n`: `a\n`, "a\\\nb": "ab", "a": "a"} {
		if got := scripts.Unescape(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// All files in the headings of a diff are named, as written.
func TestDiffNames(t *testing.T) {
	t.Parallel()
	diff := "--- /dev/null\n+++ b/x.go\t2026\nrename to y\n+++ \"b/\\303\\244\"\n line\n"
	if got := scripts.DiffNames(diff); !slices.Equal(got, []string{"b/x.go", "y", "b/ä"}) {
		t.Errorf("%q", got)
	}
}

// Single words.
func TestTexts(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"file:///etc/x": "/etc/x", "FILE:x": "x", "file://host/x": "/x", "x": "x"} {
		if got := scripts.FilePath(url); got != want {
			t.Errorf("%s: %q", url, got)
		}
	}
	for text, want := range map[string]bool{"git@host:a/b": true, "https://host/x": true, "../x": true, "origin": false, "main:main": false, "a:refs/heads/b": false} {
		if scripts.Repository(text) != want {
			t.Errorf("%s: not %v", text, want)
		}
	}
	if !scripts.Descriptor("2") || !scripts.Descriptor("1-") || scripts.Descriptor("file") {
		t.Error("numbers of open files")
	}
	if !scripts.Below("/a/b", "/a") || !scripts.Below("/a", "/a") || scripts.Below("/ab", "/a") || scripts.Below("a", "") {
		t.Error("folders")
	}
	if !scripts.HasLetter("-xv", "vV") || scripts.HasLetter("-x", "vV") || scripts.HasLetter("v", "v") {
		t.Error("letters of an option")
	}
	if scripts.Nesting("((a)[b])") != 2 || scripts.Nesting("))((") != 2 {
		t.Error("open brackets")
	}
}
