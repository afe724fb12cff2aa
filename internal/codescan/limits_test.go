package codescan_test

import (
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/codescan"
)

func languages() []codescan.Language {
	return []codescan.Language{codescan.Python, codescan.JavaScript}
}

func TestTextLimit(t *testing.T) {
	for _, l := range languages() {
		blank := strings.Repeat("\n", codescan.MaxText)
		if !codescan.Script(l, blank).Understood || !codescan.Inert(l, blank) {
			t.Errorf("%s: not understood at the limit", l)
		}
		if codescan.Script(l, blank+"\n").Understood || codescan.Inert(l, blank+"\n") {
			t.Errorf("%s: understood beyond the limit", l)
		}
	}
	if codescan.Inert(codescan.Prose, strings.Repeat("a", codescan.MaxText+1)) {
		t.Error("prose beyond the limit")
	}
}

func TestNestingLimit(t *testing.T) {
	for _, l := range languages() {
		nested := func(n int) string { return "x = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
		if !codescan.Script(l, nested(200)).Understood || codescan.Script(l, nested(201)).Understood {
			t.Errorf("%s: brackets in brackets", l)
		}
	}
}

func TestOf(t *testing.T) {
	for file, want := range map[string]codescan.Language{
		"a.py": codescan.Python, "src/b.PY": codescan.Python, "a.js": codescan.JavaScript, "a.mts": codescan.JavaScript, "x/a.go": codescan.Golang,
		"README.md": codescan.Prose, "a.csv": codescan.Prose, "a.json": "", "a.yaml": "", "Makefile": "", "a.sh": "", "a": "", "": "", "a.html": "",
		"conftest.py": "", "setup.py": "", "requirements-dev.txt": "", "AGENTS.md": "", "vite.config.ts": "", "CMakeLists.txt": "", "a.tsx": "", ".x.py": "",
	} {
		if got := codescan.Of(file); got != want {
			t.Errorf("Of(%q) = %q, want %q", file, got, want)
		}
	}
	if codescan.Script("", "").Understood || codescan.Inert("", "") || codescan.Script(codescan.Prose, "").Understood {
		t.Error("an unknown language is understood")
	}
}

func FuzzPython(f *testing.F) { fuzz(f, codescan.Python, "python") }

func FuzzJavaScript(f *testing.F) { fuzz(f, codescan.JavaScript, "javascript") }

func FuzzGolang(f *testing.F) {
	for _, s := range append(lines(f, "golang-hostile.txt"), "package p\nfunc f() {}\n") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if codescan.Script(codescan.Golang, text).Understood {
			t.Error("a Go program is understood")
		}
		codescan.Inert(codescan.Golang, text)
	})
}

// fuzz feeds a language with what it was written for, changed.
func fuzz(f *testing.F, l codescan.Language, file string) {
	for _, s := range samples(f, file+"-everyday.txt") {
		f.Add(s.text)
	}
	for _, s := range lines(f, file+"-hostile.txt") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := codescan.Script(l, text)
		if !r.Understood && len(r.Reads)+len(r.Writes)+len(r.Deletes)+len(r.Modules)+len(r.Roots)+len(r.Standard) > 0 {
			t.Errorf("not understood, but %+v", r)
		}
		codescan.Inert(l, text)
	})
}

func BenchmarkScript(b *testing.B) {
	for _, l := range languages() {
		var text string
		for _, s := range samples(b, string(l)+"-everyday.txt") {
			if codescan.Script(l, text+s.text+"\n").Understood && len(text) < 2000 {
				text += s.text + "\n"
			}
		}
		b.Run(string(l), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				codescan.Script(l, text)
			}
		})
		b.Run(string(l)+"/inert", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				codescan.Inert(l, text)
			}
		})
	}
}
