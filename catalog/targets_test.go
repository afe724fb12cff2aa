package catalog

import (
	"slices"
	"strings"
	"testing"
)

// theFolder says what is a folder in these tests: those with dots only, «~»,
// and «dir.d».
func theFolder(name string) bool { return slices.Contains([]string{".", "..", "~", "dir.d"}, name) }

// only takes the one part a line has, as the judge does.
func only(t *testing.T, line string) *part {
	t.Helper()
	list := parts(line)
	if len(list) != 1 {
		t.Fatalf("%s has %d parts", line, len(list))
	}
	list[0].unwrap()
	return &list[0]
}

// TestFilesACommandWrites lists every file a command may write, in order.
func TestFilesACommandWrites(t *testing.T) {
	for line, want := range copiesAndEdits() {
		checkTargets(t, line, want)
	}
	for line, want := range downloadsAndArchives() {
		checkTargets(t, line, want)
	}
}

func checkTargets(t *testing.T, line, want string) {
	t.Helper()
	if got := strings.Join(only(t, line).targets(theFolder), " "); got != want {
		t.Errorf("%s\ngot  %q\nwant %q", line, got, want)
	}
}

func copiesAndEdits() map[string]string {
	return map[string]string{
		"cat a > b":                  "b",
		"cat -o a":                   "",
		"dd if=a of=b":               "b",
		"dd if=a of":                 "",
		"tee a -a b":                 "a b",
		"tee a > b":                  "b a",
		"sed s/a/b/ f":               "",
		"sed -i s/a/b/ f":            "s/a/b/ f",
		"sed -ni s/a/b/ f":           "s/a/b/ f",
		"sed --in-place s/a/b/ f":    "s/a/b/ f",
		"sed --in-place=.x s/a/b/ f": "s/a/b/ f",
		"sed --line-length=1 x f":    "",
		"sed x - f":                  "",
		"cp a b":                     "b b/a",
		"cp a b.txt":                 "b.txt",
		"cp a .b":                    ".b .b/a",
		"cp a dir.d":                 "dir.d dir.d/a",
		"cp x/a ..":                  ".. ../a",
		"cp x/a x..":                 "x..",
		"cp a b c.txt":               "c.txt c.txt/a c.txt/b",
		"cp a":                       "",
		"cp":                         "",
		"cp -t d a b":                "d d/d d/a d/b",
		"cp -td a":                   "d d/a",
		"cp --target-directory=d a":  "d d/a",
		"cp --target-directory d a":  "d d/d d/a",
		"cp -P d a b":                "b b/d b/a",
		"mv a b":                     "a b b b/a",
		"mv a b.txt":                 "a b.txt b.txt",
		"rename a b":                 "a b b b/a",
		"git":                        "",
		"git mv a b":                 "a b b b/a",
		"git clone u d":              "u d",
		"git rm a":                   "a",
		"git commit a":               "",
		"sed s/a/b/ f > g":           "g",
		"dd if=a > g":                "g",
		"rm -i a b":                  "a b",
		"chmod --reference=x a":      "a",
		"chmod x=y a":                "x=y a",
	}
}

func downloadsAndArchives() map[string]string {
	return map[string]string{
		"curl u/a":                   "",
		"curl -O u/a":                "a",
		"curl -sO u/a?q#r":           "a",
		"curl --remote-name u/a#r":   "a",
		"curl -O '?q'":               "",
		"curl -J u/a":                "a",
		"curl --O u/a":               "",
		"curl - u/a":                 "",
		"curl -o f u/a":              "f",
		"curl -sof u/a":              "f",
		"curl --output=f u/a":        "f",
		"curl --output f u/a":        "f",
		"curl -D h -c k u":           "h k",
		"curl -O --output-dir d u/a": "d/d d/a",
		"curl --output-dir=d -o f u": "f d/f",
		"curl -a f u":                "",
		"wget u/a":                   "a",
		"wget -O f u/a":              "f",
		"wget -qO f u/a":             "f",
		"wget -O - u/a":              "-",
		"wget --O u/a":               "a",
		"wget - u/a":                 "a",
		"wget --output-document=f u": "f",
		"wget -a log u/a":            "log log a",
		"wget -Pd u/a":               "d/a",
		"wget -c u/a":                "a",
		"aria2c -d d u/a":            "d/d d/a",
		"axel u/a":                   "a",
		"http --download u/a":        "u/a a",
		"http -d u/a":                "a",
		"http u/a":                   "",
		"http -o f u/a":              "f",
		"iwr -OutFile f u/a":         "f",
		"iwr u/a":                    "",
		"tar xf a.tar":               " xf a.tar a",
		"tar -xf a.tar -C d b":       "d d/a.tar a d/d d/b",
		"tar --directory=d -xf a":    "d d/a",
		"unzip a.zip -d d":           "d d/a.zip a d/d",
		"gunzip a.gz .b":             " a.gz a .b",
	}
}

// TestFoldersACommandWrites lists where whole folders may appear.
func TestFoldersACommandWrites(t *testing.T) {
	for line, want := range map[string]string{
		"cat a > b":          "",
		"tee a":              "",
		"mv a b":             "b b/a",
		"mv a":               "",
		"mv":                 "",
		"mv a.txt b":         "",
		"mv .a b":            "b b/.a",
		"mv a.txt c b":       "b b/a.txt b/c",
		"mv a.txt b.txt c":   "",
		"mv -t d a":          "d d/d d/a",
		"mv -td a":           "d d/a",
		"mv -td a.txt":       "",
		"mv -td":             "d",
		"cp a b":             "",
		"cp -p a b":          "",
		"cp -r a b":          "b b/a",
		"cp -pR a b":         "b b/a",
		"cp -a a b":          "b b/a",
		"cp --recursive a":   "",
		"cp --recursive a b": "b b/a",
		"cp --archive a b":   "b b/a",
		"cp --parents a b":   "",
		"cp - a b":           "",
		"cp -r a.txt b":      "",
		"rsync a b":          "b b/a",
		"ln -s a b":          "b b/a",
		"git":                "",
		"git status a b":     "",
		"git mv a b":         "b b/a",
		"git mv a.txt b":     "",
		"git clone u":        "u",
		"git clone u d":      "u d",
	} {
		p := only(t, line)
		if got := strings.Join(p.folders(theFolder), " "); got != want {
			t.Errorf("%s\ngot  %q\nwant %q", line, got, want)
		}
	}
}

// TestNumberOfTargets counts at the limit and beyond: what is cut there is
// enough to make the line count as the worst.
func TestNumberOfTargets(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  func(names []string) []string
	}{
		{"copied", func(n []string) []string { return copied(n, "d", theFolder) }},
		{"saved by address", func(n []string) []string { return saved(written{plain: n}, true) }},
		{"saved by name", func(n []string) []string { return saved(written{named: n, into: "d"}, false) }},
		{"unpacked", func(n []string) []string { return unpacked(written{plain: n}) }},
	} {
		for _, n := range []int{maxTargets - 1, maxTargets, maxTargets + 1, 2 * maxTargets} {
			got := len(tc.got(slices.Repeat([]string{"x"}, n)))
			first := 0 // a folder that counts as a target itself
			if tc.name == "copied" || tc.name == "unpacked" {
				first = 1
			}
			if want := min(n+first, maxTargets+1); got != want {
				t.Errorf("%s: %d of %d, want %d", tc.name, got, n, want)
			}
		}
	}
	c := shipped(t)
	for n, want := range map[int]bool{maxTargets: false, maxTargets + 1: true} {
		j := judge{catalog: c, at: here(), base: here().Project}
		j.shell("tee" + strings.Repeat(" x", n))
		if j.installs != want {
			t.Errorf("%d targets: the worst %v", n, j.installs)
		}
	}
}

func TestNamesInFolders(t *testing.T) {
	long := strings.Repeat("a", MaxPathBytes)
	for _, tc := range []struct{ folder, name, want string }{
		{"", "a", "a"},
		{"d", "a", "d/a"},
		{long, "a", long + "/a"},
		{long + "a", "a", "a"},
	} {
		if got := inFolder(tc.folder, tc.name); got != tc.want {
			t.Errorf("%.9q %q: %.9q", tc.folder, tc.name, got)
		}
	}
	for name, want := range map[string]string{
		"": "", "a": "a", "x/a": "a", "x/a/": "a", `x\a`: "a", `x/a\`: "a", "host:a": "a", "host:x/a": "a", "host:": "", "/": "",
	} {
		if got := lastPart(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
