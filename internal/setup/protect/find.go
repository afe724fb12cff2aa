package protect

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

// versionTime is how long an agent may take to print its version. It usually takes a tenth of a
// second, but up to three seconds on a busy machine.
const versionTime = 5 * time.Second

// maxPackage bounds a package.json.
const maxPackage = 1 << 20

// find looks for an agent: its program on PATH, its settings folder.
func (m Machine) find(ctx context.Context, k kind) (Found, bool) {
	f := Found{Agent: k.Agent, State: Open}
	f.Program = m.program(k.programs)
	var err error
	f.Folder, err = k.settings(m)
	there := f.Program != ""
	if err == nil {
		info, statErr := os.Stat(f.Folder)
		there = there || statErr == nil && info.IsDir() && !m.System
	}
	if !there || err != nil && m.System {
		return f, false
	}
	if f.Program != "" {
		f.Version = m.version(ctx, f.Program, k.packages)
	}
	if err != nil {
		f.State, f.Why = Unreadable, err.Error()
		return f, true
	}
	m.look(k, &f)
	return f, true
}

// Lookup returns the full path of a program on PATH; empty if it is not there.
func (m Machine) Lookup(name string) string { return m.program([]string{name}) }

// program returns the full path of the first of these names that is on PATH; empty if none is.
func (m Machine) program(names []string) string {
	for _, dir := range filepath.SplitList(m.Getenv("PATH")) {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && !info.IsDir() && info.Mode().Perm()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}

// version returns the version of a program: from its package.json or the folder of its installer,
// else as the program prints it. It is empty if none of these is known.
func (m Machine) version(ctx context.Context, program string, packages []string) string {
	there, err := filepath.EvalSymlinks(program)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(there); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if v := packageVersion(filepath.Join(dir, "package.json"), packages); v != "" {
			return v
		}
	}
	// Some installers keep each version in a folder or file named after it, below «versions».
	for dir := there; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(filepath.Dir(dir)) == "versions" {
			return versionIn(filepath.Base(dir))
		}
	}
	if m.Still {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env = append(m.offline(), "HOME="+m.Getenv("HOME"))
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return versionIn(string(out[:min(len(out), 200)]))
}

// offline returns an environment with which programs that obey proxy variables reach nothing over
// the network.
func (m Machine) offline() []string {
	nowhere := "http://127.0.0.1:9"
	return []string{
		"PATH=" + m.Getenv("PATH"), "LANG=C.UTF-8", "NO_COLOR=1", "http_proxy=" + nowhere, "https_proxy=" + nowhere,
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "ALL_PROXY=" + nowhere, "DISABLE_AUTOUPDATER=1",
	}
}

func packageVersion(file string, names []string) string {
	data, err := wholefile.Read(file, maxPackage)
	if err != nil {
		return ""
	}
	var p struct{ Name, Version string }
	if json.Unmarshal(data, &p) != nil || !slices.Contains(names, p.Name) {
		return ""
	}
	return versionIn(p.Version)
}

// versionIn returns the first part of a text that looks like a version.
func versionIn(text string) string {
	return regexp.MustCompile(`\d+(\.\d+)+([-+.][0-9A-Za-z.-]+)?`).FindString(text)
}

// Newer reports whether version a is newer than b, number by number. What follows a dash is
// ignored.
func Newer(a, b string) bool {
	return slices.Compare(numbers(a), numbers(b)) > 0
}

func numbers(version string) []int {
	version, _, _ = strings.Cut(version, "-")
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n := 0
		for _, r := range part {
			if r < '0' || r > '9' || n > 1<<30 {
				break
			}
			n = n*10 + int(r-'0')
		}
		list = append(list, n)
	}
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1] // 1.0 equals 1
	}
	return list
}
