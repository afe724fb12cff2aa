package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A repo is a small module with Floodmark's name, with a nightly run at its first commit.
type repo struct {
	t    *testing.T
	root string
}

func newRepo(t *testing.T) repo {
	t.Helper()
	r := repo{t, t.TempDir()}
	for file, text := range map[string]string{
		"go.mod":               "module " + module + "\n\ngo 1.26\n",
		"words.go":             "package floodmark\n",
		"low/low.go":           "package low\n\nimport _ \"" + module + "\"\n\nfunc F() int {\n\treturn 1\n}\n",
		"low/testdata/x.txt":   "x\n",
		"high/high.go":         "package high\n\nimport _ \"" + module + "/low\"\n",
		"apart/apart.go":       "package apart\n",
		"apart/apart_test.go":  "package apart\n\nimport _ \"" + module + "/beside\"\n",
		"beside/beside.go":     "package beside\n",
		"lab/go.mod":           "module " + module + "/lab\n\ngo 1.26\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => ../\n",
		"lab/far/far.go":       "package far\n\nimport _ \"" + module + "/beside\"\n",
		"docs/page.md":         "a page\n",
		".ci/run":              "\n",
		".ci/must-run":         "unit\nheavy\nown\n",
		".ci/debt":             "lines low 5000\nlines high 4500\n",
		".ci/closures":         "heavy: high\nown: =high path:docs/\n  =apart\n",
		".gitignore":           "ignored\n",
		"tools/changed/it.txt": "\n",
	} {
		r.write(file, text)
	}
	r.git("init", "-q")
	r.commit()
	r.nightly(r.git("rev-parse", "HEAD"), "passed")
	r.commit()
	return r
}

func (r repo) write(file, text string) {
	r.t.Helper()
	path := filepath.Join(r.root, file)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		r.t.Fatal(err)
	}
}

func (r repo) nightly(commit, heavy string) {
	r.write(nightlyFile, `{"commit": "`+strings.TrimSpace(commit)+`", "suites": {"unit": {"result": "passed"}, "own": {"result": "passed"}, "heavy": {"result": "`+heavy+`"}}}`)
}

func (r repo) git(args ...string) string {
	r.t.Helper()
	out, err := git(r.root, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"}, args...)...)
	if err != nil {
		r.t.Fatal(err)
	}
	return out
}

func (r repo) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "change")
}

// says runs a command and returns its output joined to one line.
func (r repo) says(args ...string) string {
	r.t.Helper()
	var out bytes.Buffer
	err := run(r.root, args, &out)
	if err != nil {
		return "error: " + err.Error()
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestNothingChanged(t *testing.T) {
	t.Setenv("NIGHTLY", "")
	r := newRepo(t)
	for _, c := range []struct{ command, want string }{
		{"packages", ""},
		{"own", ""},
		{"lines", ""},
		{"suite heavy", "error: unchanged"},
		{"suite own", "error: unchanged"},
		{"suite unit", "it always runs"},
	} {
		if got := r.says(strings.Fields(c.command)...); got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}

func TestWhatAChangeReaches(t *testing.T) {
	t.Setenv("NIGHTLY", "")
	for _, c := range []struct{ file, packages, own, heavy, other string }{
		{"low/low.go", "./high ./low", "./low", "low changed", "error: unchanged"},
		{"low/testdata/x.txt", "./high ./low", "./low", "low changed", "error: unchanged"},
		{"low/new.go", "./high ./low", "./low", "low changed", "error: unchanged"},
		{"words.go", "./ ./high ./low", "./", ". changed", "error: unchanged"},
		{"high/high.go", "./high", "./high", "high changed", "high changed"},
		{"beside/beside.go", "./apart ./beside ./lab/far", "./beside", "error: unchanged", "error: unchanged"},
		{"lab/far/testdata/x.txt", "./lab/far", "./lab/far", "error: unchanged", "error: unchanged"},
		{"docs/page.md", "", "", "error: unchanged", "docs/page.md changed"},
		{"README.md", "", "", "error: unchanged", "error: unchanged"},
		{"go.mod", "./ ./apart ./beside ./high ./lab/far ./low", "./ ./apart ./beside ./high ./lab/far ./low", "go.mod changed", "go.mod changed"},
		{".ci/run", "./ ./apart ./beside ./high ./lab/far ./low", "./ ./apart ./beside ./high ./lab/far ./low", ".ci/run changed", ".ci/run changed"},
		{".golangci.yml", "./ ./apart ./beside ./high ./lab/far ./low", "./ ./apart ./beside ./high ./lab/far ./low", ".golangci.yml changed", ".golangci.yml changed"},
	} {
		for _, committed := range []bool{false, true} {
			r := newRepo(t)
			was, err := os.ReadFile(filepath.Join(r.root, c.file))
			if err != nil {
				was = []byte("package low\n")
			}
			r.write(c.file, string(was)+"\n// more\n")
			if committed {
				r.commit()
			}
			for command, want := range map[string]string{"packages": c.packages, "own": c.own, "suite heavy": c.heavy, "suite own": c.other} {
				if got := r.says(strings.Fields(command)...); got != want {
					t.Errorf("%s, committed %t: %s: %q, want %q", c.file, committed, command, got, want)
				}
			}
		}
	}
}

// A deleted file is a change, too.
func TestADeletedFile(t *testing.T) {
	t.Setenv("NIGHTLY", "")
	r := newRepo(t)
	if err := os.Remove(filepath.Join(r.root, "low/testdata/x.txt")); err != nil {
		t.Fatal(err)
	}
	if got := r.says("packages"); got != "./high ./low" {
		t.Error(got)
	}
}

func TestChangedLines(t *testing.T) {
	t.Setenv("NIGHTLY", "")
	r := newRepo(t)
	r.write("low/low.go", "package low\n\nimport _ \""+module+"\"\n\nfunc F() int {\n\treturn 2\n}\n\nfunc G() {}\n")
	if got := r.says("lines"); got != "low/low.go:6-6 low/low.go:8-9" {
		t.Error(got)
	}
}

// If it is unknown what changed, everything is treated as changed.
func TestEverything(t *testing.T) {
	for _, c := range []struct {
		why string
		do  func(repo)
	}{
		{"there was no nightly run", func(r repo) { os.Remove(filepath.Join(r.root, nightlyFile)) }},
		{"the commit of the last nightly run is not among our ancestors", func(r repo) { r.nightly(strings.Repeat("0", 40), "passed") }},
		{"this is the nightly run", func(repo) { t.Setenv("NIGHTLY", "1") }},
	} {
		t.Setenv("NIGHTLY", "")
		r := newRepo(t)
		c.do(r)
		if got := r.says("suite", "heavy"); got != c.why {
			t.Errorf("%q, want %q", got, c.why)
		}
		if got := r.says("packages"); got != "./ ./apart ./beside ./high ./lab/far ./low" {
			t.Errorf("%s: %s", c.why, got)
		}
	}
}

func TestTheNightlyRunIsChecked(t *testing.T) {
	r := newRepo(t)
	if got := r.says("nightly"); !strings.HasPrefix(got, "last nightly run: ") {
		t.Error(got)
	}
	r.nightly(r.git("rev-parse", "HEAD"), "FAILED")
	if got := r.says("nightly"); !strings.Contains(got, `suite heavy is "FAILED"`) {
		t.Error(got)
	}
	r.nightly(r.git("rev-parse", "HEAD"), "passed")
	r.write(mustRun, "unit\nheavy\nown\nnew\n")
	if got := r.says("nightly"); !strings.Contains(got, "suite new was added since") || !strings.Contains(got, "last nightly run: ") {
		t.Error(got)
	}
	r.git("commit", "-qam", "a suite more")
	r.nightly(r.git("rev-parse", "HEAD"), "passed")
	if got := r.says("nightly"); !strings.Contains(got, `suite new is ""`) {
		t.Error(got)
	}
	r.nightly(strings.Repeat("1", 40), "passed")
	if got := r.says("nightly"); !strings.Contains(got, "not an ancestor") {
		t.Error(got)
	}
	r.nightly("HEAD", "passed")
	if got := r.says("nightly"); !strings.Contains(got, "is no hash") {
		t.Error(got)
	}
	r.write(nightlyFile, "{")
	if got := r.says("nightly"); !strings.HasPrefix(got, "error: "+nightlyFile) {
		t.Error(got)
	}
}

func TestDebtOnlyShrinks(t *testing.T) {
	r := newRepo(t)
	for _, c := range []struct{ debt, want string }{
		{"lines low 5000\nlines high 4500\n", ""},
		{"lines low 4999\n", ""},
		{"lines low 5001\nlines high 4500\n", "lines of low may only shrink: 5001, was 5000"},
		{"lines low 5000\nlines high 4500\nlines new 1\n", "lines of new may only shrink: 1, was 0"},
		{"lines low 5000\nlines renamed 4500\n", ""},
		{"lines low 100\nfiles low 26\n", "files of low may only shrink: 26, was 0"},
		{"lines low\n", "want"},
	} {
		r.write(debtFile, c.debt)
		if got := r.says("ratchet"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.debt, got, c.want)
		}
	}
}

// Without a nightly run the debt is compared with the parent commit. Without a parent it is not
// compared.
func TestDebtOfTheParent(t *testing.T) {
	t.Setenv("NIGHTLY", "")
	r := newRepo(t)
	os.Remove(filepath.Join(r.root, nightlyFile))
	r.write(debtFile, "lines low 5001\nlines high 4500\n")
	r.commit()
	if got := r.says("ratchet"); !strings.Contains(got, "may only shrink: 5001, was 5000") {
		t.Error(got)
	}
	clone := repo{t, t.TempDir()}
	clone.git("clone", "-q", "--depth=1", "file://"+r.root, ".")
	if got := clone.says("ratchet"); !strings.Contains(got, "no past") {
		t.Error(got)
	}
	clone.nightly(strings.Repeat("1", 40), "passed")
	if got := clone.says("nightly"); !strings.Contains(got, "no past: everything runs") {
		t.Error(got)
	}
	if got := clone.says("suite", "heavy"); !strings.Contains(got, "not among our ancestors") {
		t.Error(got)
	}
}

// A file's time follows from its content, in every clone.
func TestDatesFollowContent(t *testing.T) {
	r := newRepo(t)
	at := func(file string) time.Time {
		t.Helper()
		info, err := os.Stat(filepath.Join(r.root, file))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	r.write("low/same.go", "package low\n\nimport _ \""+module+"\"\n\nfunc F() int {\n\treturn 1\n}\n")
	r.commit()
	r.write("high/high.go", "package high\n")
	touched := at("high/high.go")
	if got := r.says("date"); got != "" {
		t.Fatal(got)
	}
	switch {
	case !at("low/low.go").Equal(at("low/same.go")):
		t.Error("the same content has two times")
	case at("low/low.go").Equal(at("words.go")):
		t.Error("another content has the same time")
	case at("low/low.go").Year() > 2010 || !at("low").Equal(at("docs")):
		t.Error("times of a clone remain")
	case !at("high/high.go").Equal(touched):
		t.Error("a file with changes has a time as if it had none")
	}
}

// Closures are checked even for suites that need not run now.
func TestClosuresAreChecked(t *testing.T) {
	r := newRepo(t)
	for text, want := range map[string]string{
		"heavy: high =apart path:docs/\n": "",
		"# a remark\nheavy high\n":        ".ci/closures:2: want",
		"heavy: nowhere\n":                "heavy: there is no package nowhere",
		"own: path:docs/gone.md\n":        "docs/gone.md",
		"light: high\n":                   "does not list a suite called light",
	} {
		r.write(".ci/closures", text)
		if got := r.says("closures"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestClosuresAreRead(t *testing.T) {
	t.Setenv("NIGHTLY", "")
	r := newRepo(t)
	for text, want := range map[string]string{
		"heavy high\n":                "want «suite: parts»",
		"heavy: high\nheavy: low\n":   "once each",
		"heavy: nowhere\n":            "there is no package nowhere",
		"heavy: path:docs/gone.md\n":  "docs/gone.md",
		"# a remark\n\nheavy: apart ": "unchanged",
	} {
		r.write(".ci/closures", text)
		r.commit()
		r.nightly(r.git("rev-parse", "HEAD"), "passed")
		if got := r.says("suite", "heavy"); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
