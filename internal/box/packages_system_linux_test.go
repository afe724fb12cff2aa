package box_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/box"
	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch/registrytest"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

// A market serves the packages of the tests from the caches of this machine, by the protocols of
// the real registries.
type market struct {
	*registrytest.Registry
	modules  string // where the go command stores what it fetched
	archives string // where npm stores what it fetched
	wheels   map[string][]byte
	tarballs map[string]string // path to integrity
	fetcher  *mirrorfetch.Fetcher
}

func newMarket(t *testing.T) *market {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	m := &market{
		Registry: registrytest.New(t, "proxy.golang.org", "registry.npmjs.org", "pypi.org", "files.pythonhosted.org"),
		archives: filepath.Join(home, ".npm", "_cacache", "content-v2", "sha512"), wheels: map[string][]byte{}, tarballs: map[string]string{},
	}
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	m.modules = filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
	m.Answer = m.answer
	m.fetcher = &mirrorfetch.Fetcher{
		Store: mirror.Store{Folder: filepath.Join(t.TempDir(), "mirror"), Quota: mirror.Quota}, From: mirrorfetch.Public(),
		Machine: "x86_64", Now: time.Now, Dial: m.Dial, Roots: m.Roots,
	}
	return m
}

func (m *market) answer(w http.ResponseWriter, r *http.Request) {
	switch r.Host {
	case "proxy.golang.org":
		http.ServeFile(w, r, filepath.Join(m.modules, filepath.FromSlash(r.URL.Path)))
	case "registry.npmjs.org":
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.tarballs[r.URL.Path], "sha512-"))
		if err != nil || len(raw) != sha512.Size {
			http.NotFound(w, r)
			return
		}
		digits := hex.EncodeToString(raw)
		http.ServeFile(w, r, filepath.Join(m.archives, digits[:2], digits[2:4], digits[4:]))
	case "pypi.org":
		type file struct {
			Filename string            `json:"filename"`
			URL      string            `json:"url"`
			Hashes   map[string]string `json:"hashes"`
		}
		var files []file
		for name, data := range m.wheels {
			if own, _, _ := strings.Cut(name, "-"); "/simple/"+lockfile.PipName(own)+"/" == r.URL.Path {
				sum := sha256.Sum256(data)
				files = append(files, file{name, "https://files.pythonhosted.org/packages/" + name, map[string]string{"sha256": hex.EncodeToString(sum[:])}})
			}
		}
		w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"files": files})
	default:
		_, _ = w.Write(m.wheels[strings.TrimPrefix(r.URL.Path, "/packages/")])
	}
}

// wheel makes a Python package with one module.
func (m *market) wheel(t *testing.T, name, version, needs string) (pinned string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := name + "-" + version + ".dist-info/"
	for _, f := range [][2]string{
		{name + ".py", "def name():\n    return '" + name + " " + version + "'\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n" + needs},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: floodmark\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", ""},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	m.wheels[name+"-"+version+"-py3-none-any.whl"] = b.Bytes()
	sum := sha256.Sum256(b.Bytes())
	return fmt.Sprintf("%s==%s --hash=sha256:%s\n", name, version, hex.EncodeToString(sum[:]))
}

// A locked project has a lock file and a way to check that its packages are there.
type locked struct {
	files map[string]string
	lock  string
	run   string
	said  string
	// modules are the modules that a Go program imports. The go command makes its lock file.
	modules []string
	// from is a folder of real packages that npm installed.
	from      string
	addresses bool // the lock file has them
}

func lockedProjects(t *testing.T, m *market) map[string]locked {
	t.Helper()
	all := map[string]locked{}
	for name, modules := range map[string][]string{
		"go uuid": {"github.com/google/uuid"}, "go cmp": {"github.com/google/go-cmp/cmp"}, "go toml": {"github.com/pelletier/go-toml/v2", "golang.org/x/mod/semver"},
		"go yaml and sh": {"go.yaml.in/yaml/v3", "mvdan.cc/sh/v3/syntax", "golang.org/x/term"}, "go cobra": {"github.com/spf13/cobra"},
	} {
		run := "go mod download && go mod verify && go list -deps . >/dev/null && echo here"
		if name == "go uuid" && os.Getenv("FLOODMARK_MIRROR") != "" { // this takes long, because the library of Go is built, too
			run = "go build -o /tmp/program . && /tmp/program && go mod verify"
		}
		all[name] = locked{lock: "go.sum", modules: modules, run: run, said: "here"}
	}
	for name, folder := range map[string]string{"npm filesystem": "filesystem-2026.8.31", "npm memory": "memory-2026.8.31", "npm everything": "everything-2026.8.31"} {
		run := "npm ci --loglevel=error && node -e 'console.log(\"here\")'"
		if name == "npm memory" {
			run = "npm install --loglevel=error && echo here"
		}
		all[name] = locked{lock: "package-lock.json", from: folder, run: run, said: "here", addresses: name != "npm everything"}
	}
	const pip = "python3 -m pip install --quiet --target deps -r requirements.txt && PYTHONPATH=deps python3 -c "
	one := m.wheel(t, "alpha", "1.0", "")
	all["pip one"] = locked{lock: "requirements.txt", files: map[string]string{"requirements.txt": one}, run: pip + "'import alpha; print(alpha.name())'", said: "alpha 1.0"}
	two := m.wheel(t, "beta", "2.1", "Requires-Dist: gamma_x>=3\n") + m.wheel(t, "gamma_x", "3.0.post1", "")
	all["pip two"] = locked{lock: "requirements.txt", files: map[string]string{"requirements.txt": two}, run: pip + "'import beta, gamma_x; print(gamma_x.name())'", said: "gamma_x 3.0.post1"}
	all["pip all"] = locked{lock: "requirements.txt", files: map[string]string{"requirements.txt": "# all\n" + one + two}, run: pip + "'import alpha, beta; print(beta.name())'", said: "beta 2.1"}
	return all
}

// write makes the files of a project outside of a box, as its owner would.
func (l *locked) write(t *testing.T, m *market, s *box.Spec) {
	t.Helper()
	for name, text := range l.files {
		put(t, filepath.Join(s.Project, name), text)
	}
	if len(l.modules) > 0 {
		l.writeGo(t, m, s.Project)
	}
	if l.from != "" {
		l.writeNpm(t, m, s.Project)
	}
}

func (l *locked) writeGo(t *testing.T, m *market, project string) {
	t.Helper()
	versions, err := exec.Command("go", "list", "-m", "-f", "{{.Path}} {{.Version}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	mod, imports := "module app.example/app\n\ngo 1.26.0\n", ""
	for line := range strings.Lines(string(versions)) {
		f := strings.Fields(line)
		if len(f) == 2 && slices.ContainsFunc(l.modules, func(p string) bool { return p == f[0] || strings.HasPrefix(p, f[0]+"/") }) {
			mod += "\nrequire " + f[0] + " " + f[1] + "\n"
		}
	}
	for _, p := range l.modules {
		imports += "import _ \"" + p + "\"\n"
	}
	put(t, filepath.Join(project, "go.mod"), mod)
	put(t, filepath.Join(project, "main.go"), "package main\n\n"+imports+"\nfunc main() { println(\"here\") }\n")
	c := exec.Command("go", "build", "-mod=mod", "-o", os.DevNull, ".")
	c.Dir, c.Env = project, append(os.Environ(), "GOPROXY=file://"+m.modules, "GONOSUMDB=*", "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("the module cache has not what is needed: %s", out)
	}
}

// writeNpm writes the lock file for packages that npm installed earlier from the real registry.
func (l *locked) writeNpm(t *testing.T, m *market, project string) {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(home, ".cache", "floodmark-ci", "npm", l.from, "node_modules", ".package-lock.json"))
	if err != nil {
		t.Skip("npm has not installed it here")
	}
	var lock map[string]any
	if err := json.Unmarshal(data, &lock); err != nil {
		t.Fatal(err)
	}
	packages := lock["packages"].(map[string]any)
	needs := map[string]string{}
	for folder, one := range packages {
		p := one.(map[string]any)
		if strings.Count(folder, "node_modules/") == 1 && strings.HasPrefix(folder, "node_modules/@modelcontextprotocol/server-") {
			needs[strings.TrimPrefix(folder, "node_modules/")] = p["version"].(string)
		}
		version, _ := p["version"].(string)
		at := lockfile.NpmPath(folder[strings.LastIndex(folder, "node_modules/")+len("node_modules/"):], version)
		m.tarballs[at], _ = p["integrity"].(string)
		if delete(p, "resolved"); l.addresses { // otherwise npm asks for the index of each package
			p["resolved"] = "https://registry.npmjs.org" + at
		}
	}
	root := map[string]any{"name": "app", "version": "1.0.0", "dependencies": needs}
	packages[""], lock["name"], lock["version"] = root, "app", "1.0.0"
	for name, value := range map[string]any{"package.json": root, "package-lock.json": lock} {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(project, name), string(text)+"\n")
	}
}

// packages installs the packages that projects pin, in boxes whose only network is a mirror.
func (p *programs) packages(t *testing.T) {
	m, installed := newMarket(t), map[string]int{}
	for name, l := range lockedProjects(t, m) {
		ok := t.Run(name, func(t *testing.T) {
			s := room(t)
			l.write(t, m, s)
			s.Mirror = m.fetch(t, filepath.Join(s.Project, l.lock))
			asked := len(m.Asked())
			lockBefore := look(filepath.Join(s.Project, l.lock))
			exit, said := p.start(t, s, l.run)
			if exit != 0 || !strings.Contains(said, l.said) {
				t.Errorf("exit %d: %.3000s", exit, said)
			}
			// npm install may rewrite the lock file.
			if lock := look(filepath.Join(s.Project, l.lock)); lock != lockBefore && !strings.Contains(l.run, "npm install") || strings.Contains(lock, "127.0.0.1") {
				t.Error("the lock file was changed")
			}
			if l.from != "" && look(filepath.Join(s.Project, "node_modules/zod/package.json")) == "" {
				t.Error("the packages are not in the project")
			}
			if n := len(m.Asked()); n != asked || n == 0 {
				t.Errorf("%d requests, %d of them when the box ran", n, n-asked)
			}
			s.Mirror = box.Mirror{}
			if exit, said := p.start(t, s, "rm -rf node_modules deps; "+l.run); exit == 0 {
				t.Errorf("it works without a mirror, too: %.300s", said)
			}
			kind, _, _ := strings.Cut(name, " ")
			installed["projects installed, "+kind]++
		})
		if !ok {
			installed["projects that failed"]++
		}
	}
	noteInstalled(t, installed)
}

// noteInstalled adds the counts to the file that FLOODMARK_MIRROR names.
func noteInstalled(t *testing.T, installed map[string]int) {
	t.Helper()
	at := os.Getenv("FLOODMARK_MIRROR")
	if at == "" {
		return
	}
	seen := map[string]int{}
	data, err := os.ReadFile(at)
	if err == nil {
		err = json.Unmarshal(data, &seen)
	}
	maps.Copy(seen, installed)
	if err == nil {
		data, err = json.MarshalIndent(seen, "", "  ")
	}
	if err == nil {
		err = os.WriteFile(at, append(data, '\n'), 0o600)
	}
	if err != nil {
		t.Error(err)
	}
}

// fetch fills the mirror with the packages that a lock file pins.
func (m *market) fetch(t *testing.T, lock string) box.Mirror {
	t.Helper()
	data, err := os.ReadFile(lock)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := lockfile.Known(filepath.Base(lock))
	list, err := lockfile.Read(e, data, lockfile.Host{OS: "linux", CPU: "x64", Libc: "glibc"})
	if err != nil || list.LeftOut > 0 || len(list.Packages) == 0 {
		t.Fatalf("%v: %d packages, left out %d", err, len(list.Packages), list.LeftOut)
	}
	set, err := m.fetcher.Fetch(t.Context(), list.Packages)
	if err != nil {
		t.Fatal(err)
	}
	return box.Mirror{Folder: m.fetcher.Store.Folder, Set: set}
}
