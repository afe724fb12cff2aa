package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A shelf is a server that releases are downloaded from.
type shelf map[string][]byte

func (s shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, ok := s[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

// release puts a version for one machine on the shelf, with its checksum.
func (s shelf) release(t *testing.T, version, target string) {
	t.Helper()
	name := "floodmark_" + version + "_" + target
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, program := range []string{"floodmark", "floodmark-hook", "floodmark-box"} {
		text := "#!/bin/sh\necho " + program + " " + version + "\n"
		if err := w.WriteHeader(&tar.Header{Name: name + "/" + program, Mode: 0o755, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s["/v"+version+"/"+name+".tar.gz"] = b.Bytes()
	s["/v"+version+"/checksums.txt"] = fmt.Appendf(s["/v"+version+"/checksums.txt"], "%x  %s.tar.gz\n", sha256.Sum256(b.Bytes()), name)
}

// A person installs into a home of their own, on a machine called so.
type person struct {
	home, path string
	server     *httptest.Server
}

func newPerson(t *testing.T, s shelf, system, machine string) person {
	t.Helper()
	p := person{home: t.TempDir(), server: httptest.NewServer(s)}
	t.Cleanup(p.server.Close)
	p.path = filepath.Join(p.home, "tools") + ":" + os.Getenv("PATH")
	uname := "#!/bin/sh\ncase $1 in -s) echo " + system + " ;; -m) echo " + machine + " ;; esac\n"
	if err := os.Mkdir(filepath.Join(p.home, "tools"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, "tools", "uname"), []byte(uname), 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p person) installs(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(root, "install.sh"), "--from", p.server.URL}, args...)...)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + p.path}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p person) has(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.home, ".local", "bin"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

const allPrograms = "floodmark floodmark-box floodmark-hook"

func TestInstallScript(t *testing.T) {
	s := shelf{}
	for _, target := range []string{"linux_amd64", "linux_arm64", "darwin_arm64"} {
		s.release(t, "1.2.3", target)
	}
	s.release(t, "1.3.0", "linux_amd64")
	for _, m := range [][2]string{{"Linux", "x86_64"}, {"Linux", "aarch64"}, {"Darwin", "arm64"}} {
		p := newPerson(t, s, m[0], m[1])
		if out, err := p.installs(t, "v1.2.3"); err != nil || !strings.Contains(out, "installed floodmark 1.2.3") || p.has(t) != allPrograms {
			t.Errorf("%s: %v\n%s\n%s", m, err, out, p.has(t))
		}
	}
	p := newPerson(t, s, "Linux", "x86_64")
	for _, version := range []string{"1.2.3", "1.3.0", "1.3.0"} {
		if out, err := p.installs(t, version); err != nil || !strings.Contains(out, "installed floodmark "+version) || p.has(t) != allPrograms {
			t.Errorf("%s: %v\n%s\n%s", version, err, out, p.has(t))
		}
	}
	if out, err := p.installs(t, "1.3.0", "--into", "relative"); err == nil || !strings.Contains(out, "full path") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestInstallScriptRefuses holds that what is not whole is not installed, and
// that what was there stays.
func TestInstallScriptRefuses(t *testing.T) {
	const list, archive = "/v1.2.3/checksums.txt", "/v1.2.3/floodmark_1.2.3_linux_amd64.tar.gz"
	for name, c := range map[string]struct {
		spoil           func(shelf)
		system, machine string
		version, want   string
	}{
		"another archive":     {spoil: func(s shelf) { s[archive] = append(s[archive], 0) }, want: "nothing was installed"},
		"half an archive":     {spoil: func(s shelf) { s[archive] = s[archive][:40] }, want: "nothing was installed"},
		"no line":             {spoil: func(s shelf) { s[list] = []byte("\n") }, want: "no line of its own"},
		"another file's line": {spoil: func(s shelf) { s[list] = bytes.ReplaceAll(s[list], []byte("amd64"), []byte("arm64")) }, want: "no line of its own"},
		"two lines":           {spoil: func(s shelf) { s[list] = append(s[list], s[list]...) }, want: "no line of its own"},
		"a short checksum":    {spoil: func(s shelf) { s[list] = s[list][1:] }, want: "no sha256"},
		"an empty checksum":   {spoil: func(s shelf) { s[list] = s[list][64:] }, want: "nothing was installed"},
		"no list":             {spoil: func(s shelf) { delete(s, list) }, want: "cannot download"},
		"no archive":          {spoil: func(s shelf) { delete(s, archive) }, want: "cannot download"},
		"no such version":     {version: "9.9.9", want: "cannot download"},
		"a way out":           {version: "../x", want: "that is no version"},
		"no version":          {version: "", want: "which version?"},
		"Windows":             {system: "MINGW64_NT-10.0", want: "WSL"},
		"another system":      {system: "Plan9", want: "no Floodmark for Plan9"},
		"another machine":     {machine: "riscv64", want: "no Floodmark for riscv64"},
		"an option of others": {version: "--force", want: "no option --force"},
		"a folder is missing": {version: "--into", want: "needs a folder"},
		"a second version":    {version: "1.2.3 1.2.4", want: "one version"},
	} {
		t.Run(name, func(t *testing.T) {
			s := shelf{}
			s.release(t, "1.2.3", "linux_amd64")
			s.release(t, "1.0.0", "linux_amd64")
			system, machine, version := "Linux", "x86_64", c.version
			if c.system != "" {
				system = c.system
			}
			if c.machine != "" {
				machine = c.machine
			}
			if version == "" && name != "no version" {
				version = "1.2.3"
			}
			if c.spoil != nil {
				c.spoil(s)
			}
			p := newPerson(t, s, system, machine)
			out, err := p.installs(t, strings.Fields(version)...)
			if err == nil || !strings.Contains(out, c.want) {
				t.Errorf("%v, want %q, got\n%s", err, c.want, out)
			}
			if has := p.has(t); has != "" {
				t.Errorf("it left %s", has)
			}
		})
	}
}

// TestUpgradeTouchesNoAgent holds what the package does before it is replaced.
func TestUpgradeTouchesNoAgent(t *testing.T) {
	for _, args := range [][]string{{"upgrade", "1.2.3"}, {"1"}, {"failed-upgrade", "1.2.3"}, {"deconfigure"}} {
		out, err := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(root, "packaging", "preremove.sh")}, args...)...).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", args, err, out)
		}
	}
}
