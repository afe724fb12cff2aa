package shellscan_test

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/floodmark/floodmark/internal/shell/shellscan"
)

// wrappers returns ways to wrap a line so that it still does at least the same.
func wrappers(t *testing.T) map[string]func(string) string {
	t.Helper()
	quoted := func(line string) string {
		q, err := syntax.Quote(line, syntax.LangBash)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	return map[string]func(string) string{
		"bash -c":        func(l string) string { return "bash -c " + quoted(l) },
		"bash -lc":       func(l string) string { return "bash -lc " + quoted(l) },
		"eval":           func(l string) string { return "eval " + quoted(l) },
		"sudo sh -c":     func(l string) string { return "sudo sh -c " + quoted(l) },
		"env nohup":      func(l string) string { return "env A=1 nohup nice timeout 5 sh -c " + quoted(l) },
		"a subshell":     func(l string) string { return "(\n" + l + "\n)" },
		"a group":        func(l string) string { return "{\n" + l + "\n}" },
		"if":             func(l string) string { return "if true; then\n" + l + "\nfi" },
		"else":           func(l string) string { return "if true; then ls; else\n" + l + "\nfi" },
		"for":            func(l string) string { return "for zz in 1; do\n" + l + "\ndone" },
		"while":          func(l string) string { return "while true; do\n" + l + "\ndone" },
		"case":           func(l string) string { return "case x in x)\n" + l + "\n;; esac" },
		"a function":     func(l string) string { return "zz() {\n" + l + "\n}; zz" },
		"a substitution": func(l string) string { return "echo \"$(\n" + l + "\n)\"" },
		"a process":      func(l string) string { return "cat <(\n" + l + "\n)" },
		"after others":   func(l string) string { return "ls -la; git status &&\n" + l },
		"before others":  func(l string) string { return l + "\nls" },
		"a trap":         func(l string) string { return "trap " + quoted(l) + " EXIT" },
		"background":     func(l string) string { return "{\n" + l + "\n} & wait" },
		"a pipe":         func(l string) string { return "{\n" + l + "\n} | cat" },
		"a document":     func(l string) string { return "sh <<'ZZEND'\n" + l + "\nZZEND\n" },
		"a string":       func(l string) string { return "sh <<< " + quoted(l) },
		"time":           func(l string) string { return "time {\n" + l + "\n}" },
	}
}

// Wrapping a line never makes it look weaker.
func TestLawWrappingNeverWeakens(t *testing.T) {
	c := commands(t)
	for _, file := range files(t) {
		for _, s := range samples(t, file) {
			if s.line == "" || strings.HasPrefix(s.line, "#") || strings.Contains(s.line, "<<") || strings.Contains(s.line, "$@") {
				continue
			}
			plain := shellscan.Scan(s.line, here(), c)
			for name, wrap := range wrappers(t) {
				if why := weaker(plain, shellscan.Scan(wrap(s.line), here(), c)); why != "" {
					t.Errorf("%s: %s: %s", name, s.line, why)
				}
			}
		}
	}
}

// weaker returns which effect of plain is missing in wrapped. The wrapped line need not be
// understood.
func weaker(plain, wrapped shellscan.Report) string {
	switch {
	case plain.NetworkIntoInterpreter && !wrapped.NetworkIntoInterpreter:
		return "the network into an interpreter"
	case !plain.Understood && wrapped.Understood:
		return "it is understood"
	case !wrapped.Understood:
		return "" // it could be anything
	}
	for _, e := range plain.Effects {
		if !strings.Contains(", "+show(wrapped)+",", ", "+show(shellscan.Report{Effects: []shellscan.Effect{e}, Understood: true})+",") {
			return e.Kind.String() + " " + e.Path + e.URL
		}
	}
	return ""
}

// Removing a line from a list does not change the effects of the other lines.
func TestLawListsAreSums(t *testing.T) {
	c := commands(t)
	for _, file := range files(t) {
		list := samples(t, file)
		for i := 1; i < len(list); i++ {
			a, b := list[i-1].line, list[i].line
			if strings.Contains(a+b, "#") || strings.Contains(a, "<<") {
				continue
			}
			both := shellscan.Scan("( "+a+"\n); "+b, here(), c)
			for _, one := range []string{a, b} {
				if why := weaker(shellscan.Scan(one, here(), c), both); why != "" {
					t.Errorf("%s in %s; %s: %s", one, a, b, why)
				}
			}
		}
	}
}

// The zero report is that of a line of which nothing is known.
func TestLawZeroRestricts(t *testing.T) {
	var r shellscan.Report
	if r.Understood || shellscan.Kind(0) != shellscan.Anything || r.Has(shellscan.Anything) {
		t.Errorf("%+v", r)
	}
	r.Effects = []shellscan.Effect{{}}
	if !r.Has(shellscan.Anything) || r.Has(shellscan.Read) {
		t.Error("an effect nobody named is anything")
	}
	for k := shellscan.Anything; k <= shellscan.Settings; k++ {
		if k.String() == "invalid" || k.String() == "" {
			t.Errorf("kind %d has no word", k)
		}
	}
	if (shellscan.Settings + 1).String() != "invalid" {
		t.Error("there is a kind more")
	}
}

func FuzzScan(f *testing.F) {
	c := commands(f)
	for _, file := range files(f) {
		for _, s := range samples(f, file) {
			f.Add(s.line)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := shellscan.Scan(line, here(), c)
		if r.Understood != (len(r.Why) == 0) || len(r.Effects) > shellscan.MaxEffects+1 || len(r.Why) > shellscan.MaxWhy {
			t.Errorf("%q: %+v", line, r)
		}
		for _, e := range r.Effects {
			if e.Start < 0 || e.End < e.Start || e.End > len(line) {
				t.Errorf("%q: %+v", line, e)
			}
		}
		shellscan.ScanWords(strings.Fields(line), here(), c)
	})
}
