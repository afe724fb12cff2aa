package codescan

import (
	"path"
	"slices"
	"strings"
)

// A Language is what a text is written in. The zero language is unknown, and
// nothing is understood in it.
type Language string

// The languages that are read.
const (
	Python     Language = "python"
	JavaScript Language = "javascript" // TypeScript too
	Golang     Language = "golang"
	// Prose is notes and tables: text of which tools run at most the examples.
	Prose Language = "prose"
)

// MaxText is the largest text that is read. Source files and inline programs
// are far smaller; a larger text is not understood.
const MaxText = 1 << 20

// Of tells the language of a file from its name.
func Of(file string) Language {
	file = strings.ToLower(strings.ReplaceAll(file, `\`, "/"))
	base := path.Base(file)
	if steering(base) || strings.Contains(path.Dir(file)+"/", "requirements/") {
		return ""
	}
	switch path.Ext(base) {
	case ".py", ".pyi":
		return Python
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return JavaScript
	case ".go":
		return Golang
	case ".md", ".txt", ".rst", ".csv", ".tsv", ".adoc":
		if ofTests(file) {
			return ""
		}
		return Prose
	}
	return ""
}

// ofTests reports a file in a folder where tests keep what they work on: such a
// text is no note. It may be a script that a test runs, or a list of commands.
func ofTests(file string) bool {
	for part := range strings.SplitSeq(path.Dir(file), "/") {
		switch strings.Trim(part, "_") {
		case "test", "tests", "testdata", "test-data", "test_data", "testing", "spec", "specs", "fixture", "fixtures", "testcases", "e2e", "features", "scripts":
			return true
		}
	}
	return false
}

// steering names files that are run or followed by tools before or beside the
// code of a project, though their ending says otherwise.
func steering(base string) bool {
	switch base {
	case "conftest.py", "setup.py", "sitecustomize.py", "usercustomize.py", "noxfile.py", "manage.py", "wscript.py",
		"conf.py", "settings.py", "tasks.py", "fabfile.py", "dodo.py",
		"requirements.txt", "constraints.txt", "cmakelists.txt", "robots.txt", "claude.md", "agents.md", "gemini.md", "skill.md",
		"copilot-instructions.md", ".cursorrules.md":
		return true
	}
	return (strings.Contains(base, "require") || strings.Contains(base, "constraint") || strings.Contains(base, "deps") || base == "modules.txt" ||
		base == "entry_points.txt" || base == "meson_options.txt") && strings.HasSuffix(base, ".txt") ||
		strings.HasPrefix(base, ".") || strings.Contains(base, ".config.") || strings.Contains(base, ".conf.") || strings.Contains(base, ".preset.") || strings.Contains(base, ".workspace.") || strings.Contains(base, ".setup.") ||
		strings.HasPrefix(base, "gulpfile.") || strings.HasPrefix(base, "gruntfile.")
}

// A Report is what a program does. The zero report is that of a program that
// could do anything.
type Report struct {
	// Understood: it does nothing but what is said here, besides computing
	// and printing. Otherwise all else is empty.
	Understood bool
	// Reads, Writes and Deletes are paths as they are written, sorted, with «*»
	// and «**» where a pattern chose them. To look whether a file is there is
	// to read it. What deletes a folder deletes what is below it.
	Reads, Writes, Deletes []string
	// Modules are those it loads that are not of the standard library: dotted
	// names, or relative paths. What is loaded runs; the caller judges it.
	Modules []string
	// Roots are folders in which it looks for modules, besides the usual ones.
	Roots []string
	// Standard are modules of the standard library it loads. A file of the
	// project with such a name would be loaded in its place.
	Standard []string
	// Arguments: it reads its arguments or its standard input.
	Arguments bool
}

// Script reads a whole program, as it stands on a command line. Those in Go
// are not followed.
func Script(l Language, text string) Report {
	if len(text) > MaxText {
		return Report{}
	}
	var r Report
	ok := false
	switch l {
	case Python:
		r, ok = scriptPython(text)
	case JavaScript:
		r, ok = scriptJavaScript(text)
	default:
	}
	if !ok {
		return Report{}
	}
	r.Understood = true
	for _, list := range []*[]string{&r.Reads, &r.Writes, &r.Deletes, &r.Modules, &r.Roots, &r.Standard} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

// Inert reports whether a piece of source text, a whole file or a fragment,
// can only compute when it is run: it reaches no network, process, file or
// environment, loads nothing but what is known to be harmless, and holds no
// address and nothing encoded. What it calls by names of the project is not
// its own doing. A fragment is judged for any place it may be put in, also
// inside of what is a string there; but a word at its very edge may become
// part of a longer one, so callers should pass whole lines.
func Inert(l Language, text string) bool {
	if len(text) > MaxText {
		return false
	}
	switch l {
	case Prose:
		return plainProse(text)
	case Python:
		return inertPython(text)
	case JavaScript:
		return inertJavaScript(text)
	case Golang:
		return inertGo(text)
	default:
		return false
	}
}
