package codescan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/codescan"
)

// project is what stands in the folder the programs are run in.
func project() map[string]string {
	return map[string]string{
		"src/a.py": "x = 1\ndef add(a, b):\n    return a - b\n", "src/b.py": "foo = 2  \n", "a.md": "one two\none\n", "b.md": "three",
		"package.json": `{"version": "1.0.0"}`, "data.csv": "name,amount\npen,3.5\n", "old.txt": "x", "CHANGES.md": "# Changes\n\n## 1.2.3\n",
		"build/x/y.o": "z", "almanac.py": "def workdays_between(a, b):\n    return b - a\n",
	}
}

// What a program was seen to do is in its report: every everyday program is
// run in a throw-away folder under strace, and what it opened for reading or
// writing, removed, started or connected to is compared.
func TestPythonTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every program under strace")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("no strace")
	}
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("no python3")
	}
	python := strings.TrimSpace(string(out))
	probe := exec.Command(strace, "-f", "-o", os.DevNull, python, "-c", "")
	if probe.Run() != nil {
		t.Skip("strace may not trace here")
	}
	for i, s := range samples(t, "python-everyday.txt") {
		dir := t.TempDir()
		for name, text := range project() {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		log := filepath.Join(t.TempDir(), "trace")
		run := exec.Command(strace, "-f", "-y", "-s", "4096", "-e", "trace=%file,%network,%process", "-o", log, python, "-B", "-c", s.text, "x")
		run.Dir = dir
		run.Stdin = strings.NewReader(`{"version": "1"}`)
		if said, err := run.CombinedOutput(); err != nil {
			t.Errorf("program %d: %v\n%s\n%s", i, err, s.text, said)
			continue
		}
		trace, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, s.text, dir, string(trace), codescan.Script(codescan.Python, s.text))
	}
}

// compare wants every call of a trace to be in a report.
func compare(t *testing.T, text, dir, trace string, r codescan.Report) {
	t.Helper()
	call := regexp.MustCompile(`^\d+ +(\w+)\((.*)\) += (-?\d+)`)
	started := 0
	for line := range strings.Lines(trace) {
		m := call.FindStringSubmatch(line)
		if m == nil || m[3] == "-1" {
			continue
		}
		paths := touched(dir, m[2])
		switch m[1] {
		case "execve":
			started++
		case "connect", "socket", "fork", "vfork", "clone", "clone3", "symlink", "symlinkat", "link", "linkat", "chdir":
			t.Errorf("%s\nwas seen to %s", text, strings.TrimSpace(line))
		case "open", "openat", "creat":
			writes := strings.Contains(m[2], "O_WRONLY") || strings.Contains(m[2], "O_RDWR") || strings.Contains(m[2], "O_CREAT")
			switch {
			case writes:
				want(t, text, line, paths, r.Writes)
			case strings.Contains(m[2], "O_DIRECTORY"): // listed for a pattern, or to be emptied
				want(t, text, line, paths, append(slices.Concat(r.Reads, r.Deletes, parents(r.Reads)), "."))
			case len(paths) > 0 && !loaded(paths[0], r):
				want(t, text, line, paths, slices.Concat(r.Reads, r.Deletes))
			}
		case "chmod", "fchmodat":
			want(t, text, line, paths, r.Writes)
		case "mkdir", "mkdirat":
			want(t, text, line, paths, append(slices.Clone(r.Writes), parents(r.Writes)...))
		case "unlink", "unlinkat", "rmdir":
			want(t, text, line, paths, r.Deletes)
		case "rename", "renameat", "renameat2":
			want(t, text, line, paths[:1], r.Deletes)
			want(t, text, line, paths[1:], r.Writes)
		}
	}
	if started != 1 {
		t.Errorf("%s\nstarted %d programs", text, started-1)
	}
}

// touched lists the paths in the arguments of a call that are below dir, and
// for other folders those that are written to.
func touched(dir, args string) []string {
	var out []string
	word := regexp.MustCompile(`(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"`)
	for _, m := range word.FindAllStringSubmatch(args, -1) {
		p := m[2]
		if !filepath.IsAbs(p) {
			p = filepath.Join(m[1], p)
			if m[1] == "" {
				p = filepath.Join(dir, m[2])
			}
		}
		if rel, err := filepath.Rel(dir, p); err == nil && !strings.HasPrefix(rel, "..") {
			out = append(out, rel)
		} else if strings.Contains(args, "O_WRONLY") || strings.Contains(args, "O_RDWR") || !strings.Contains(args, "O_RDONLY") {
			out = append(out, p)
		}
	}
	return out
}

func loaded(path string, r codescan.Report) bool {
	return slices.Contains(r.Modules, strings.TrimSuffix(path, ".py")) && strings.HasSuffix(path, ".py")
}

// parents are the folders above some paths.
func parents(list []string) []string {
	var out []string
	for _, p := range list {
		for d := filepath.Dir(p); d != "."; d = filepath.Dir(d) {
			out = append(out, d)
		}
	}
	return out
}

// want wants every path to be among those that were said.
func want(t *testing.T, text, line string, paths, said []string) {
	t.Helper()
	for _, p := range paths {
		if p != "/dev/null" && !slices.ContainsFunc(said, func(s string) bool { return matches(s, p) }) {
			t.Errorf("%s\nwas seen to %s\nsaid were %q", text, strings.TrimSpace(line), said)
		}
	}
}

// matches holds a path against one of a report.
func matches(said, path string) bool {
	q := regexp.QuoteMeta(filepath.Clean(said))
	q = strings.ReplaceAll(q, `\*\*/`, `(.*/)?`)
	q = strings.ReplaceAll(q, `\*\*`, `.*`)
	q = strings.ReplaceAll(q, `\*`, `[^/]*`)
	return regexp.MustCompile("^" + q + "$").MatchString(path)
}
