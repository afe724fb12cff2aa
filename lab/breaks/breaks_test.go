package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGate is the gate of a small repository. It fails if part.txt contains «wrong», and in a
// nightly run also if part.txt contains «hidden» or «far». The repository's changed leaves the
// suite out if part.txt contains «far».
const fakeGate = `#!/bin/sh
grep -q '"commit": "[0-9a-f]\{40\}"' docs/evidence/nightly.json || exit 3
result=passed status=0
if grep -q wrong part.txt || { [ -n "$NIGHTLY" ] && grep -q -e hidden -e far part.txt; }; then
  echo "--- FAIL: TestPart in $PWD/part.txt"
  result=FAILED status=1
fi
grep -q absent part.txt && result="skipped: does not exist yet"
printf '%-12s %8d  %s\n' "$1" 0 "$result"
exit $status
`

const fakeChanged = `#!/bin/sh
grep -q far part.txt && exit 1
echo "part.txt changed"
`

// entry returns an entry that replaces «whole» in part.txt.
func entry(name, who, becomes string) string {
	return "name: " + name + "\nsuite: heavy\nwho: " + who + "\nabout: A part is broken.\nshows: FAIL: TestPart\nfile: part.txt\n-whole\n+" + becomes + "\n\n"
}

// newRepo makes the small repository and returns its folder.
func newRepo(t *testing.T, breaks string) string {
	t.Helper()
	root := t.TempDir()
	for file, text := range map[string]string{
		".ci/run":        fakeGate,
		".ci/must-run":   "unit\nheavy\n",
		breaksFile:       breaks,
		"part.txt":       "a part\nwhole\n",
		".cache/changed": fakeChanged,
	} {
		path := filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := git(t.Context(), root, "init", "-q"); err != nil {
		t.Fatal(err)
	}
	if err := commitAll(t.Context(), root, "a repository"); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestWhoNotices(t *testing.T) {
	root := newRepo(t, entry("seen", "gate", "wrong")+entry("unseen", "gate", "fine")+entry("outside", "gate", "far")+
		entry("left", "nightly", "hidden")+entry("left-outside", "nightly", "far")+entry("early", "nightly", "wrong")+
		entry("gone", "gate", "absent")+strings.Replace(entry("moved", "gate", "x"), "-whole", "-hole", 1))
	file := filepath.Join(root, "breaks.json")
	err := start(t.Context(), []string{"-root", root, "-control", "-json", file}, io.Discard)
	if err == nil || err.Error() != "5 of 9 did not do what they have to" {
		t.Error(err)
	}
	want := map[string]struct{ noticed, wrong string }{
		"control-heavy": {"", ""},
		"seen":          {"gate", ""},
		"unseen":        {"", "heavy passed"},
		"outside":       {"", ".ci/closures is too narrow"},
		"left":          {"nightly", ""},
		"left-outside":  {"nightly", ""},
		"early":         {"gate", "the gate notices, too"},
		"gone":          {"", "heavy did not run"},
		"moved":         {"", "has the lines to replace 0 times"},
	}
	got := readReport(t, file)
	if len(got) != len(want) {
		t.Errorf("%d results, want %d", len(got), len(want))
	}
	for _, r := range got {
		w := want[r.Name]
		if r.Noticed != w.noticed || (r.Wrong == "") != (w.wrong == "") || !strings.Contains(r.Wrong, w.wrong) || len(r.Commit) != 40 {
			t.Errorf("%s: %+v", r.Name, r)
		}
		if r.Noticed != "" && r.Line != "--- FAIL: TestPart in part.txt" {
			t.Errorf("%s shows %q", r.Name, r.Line)
		}
	}
	if left, err := os.ReadDir(filepath.Join(root, ".cache", "breaks")); err != nil || len(left) > 0 {
		t.Error("clones are left", left, err)
	}
}

// A run of some entries keeps the results of other entries that are still listed.
func TestEvidenceOfEarlierRunsIsKept(t *testing.T) {
	root := newRepo(t, entry("one", "gate", "wrong")+entry("two", "gate", "wrong"))
	file := filepath.Join(root, "breaks.json")
	for _, only := range []string{"two", "one"} {
		if err := start(t.Context(), []string{"-root", root, "-run", only, "-json", file}, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	if got := readReport(t, file); len(got) != 2 || got[0].Name != "one" || got[1].Name != "two" {
		t.Errorf("%+v", got)
	}
	if err := start(t.Context(), []string{"-root", root, "-run", "three"}, io.Discard); err == nil {
		t.Error("no entry was tried, and nothing said so")
	}
}

func readReport(t *testing.T, file string) []result {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r.Breaks
}

func TestReadBreaks(t *testing.T) {
	good := entry("a", "gate", "wrong")
	for text, want := range map[string]string{
		"# a remark\n\n" + good: "",
		good + good:             "a is there twice",
		"suite: unit\n":         ".ci/breaks:1: an entry begins with its name",
		"name: a\nfoo: b\n":     ".ci/breaks:2: want name",
		"name: a\n-b\n":         "no file is named",
		"name: a\nshows: (\n":   "error parsing regexp",
		"name: a\nsuite: b\n":   "want suite, who, about, shows and a file",
		good + "-b\n":           "a line to replace after its replacement",
		strings.Replace(good, "who: gate", "who: me", 1): "who is gate or nightly",
		strings.Replace(good, "+wrong", "+whole", 1):     "nothing changes in part.txt",
		strings.Replace(good, "-whole\n+wrong\n", "", 1): "nothing changes in part.txt",
	} {
		_, err := readBreaks(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// An entry without lines to replace creates a file, and never overwrites one.
func TestANewFile(t *testing.T) {
	root := t.TempDir()
	b := broken{Edits: []edit{{file: "new.txt", new: []string{"x", "y"}}}}
	if err := b.apply(root); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(root, "new.txt")); err != nil || string(data) != "x\ny\n" {
		t.Errorf("%q, %v", data, err)
	}
	if err := b.apply(root); err == nil {
		t.Error("a file was overwritten")
	}
}

// Every entry must still find its lines, for example after a rename.
func TestEveryEntryStillApplies(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, breaksFile))
	if err != nil {
		t.Fatal(err)
	}
	all, err := readBreaks(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		copied := t.TempDir()
		for _, e := range b.Edits {
			into := filepath.Join(copied, e.file)
			if err := os.MkdirAll(filepath.Dir(into), 0o755); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(root, e.file))
			if errors.Is(err, fs.ErrNotExist) {
				continue // apply creates the file
			}
			if err = errors.Join(err, os.WriteFile(into, data, 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.apply(copied); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}
