package mirrordesk

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch/registrytest"
)

const text = "module a.example/m\n"

func write(t *testing.T, p, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o700), os.WriteFile(p, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// newDesk returns a desk over a registry that has the go.mod of one module, and a project
// that pins it.
func newDesk(t *testing.T) (d *Desk, r *registrytest.Registry, project string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	if err != nil {
		t.Fatal(err)
	}
	project = filepath.Join(home, "app")
	write(t, filepath.Join(project, "go.sum"), "a.example/m v1.0.0/go.mod "+hash+"\n")
	write(t, filepath.Join(project, "go.mod"), "module app.example/app\n\nrequire a.example/m v1.0.0\n")
	r = registrytest.New(t, "proxy.golang.org")
	r.Answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	now := func() time.Time { return time.Unix(0, 0) }
	store := mirror.Store{Folder: filepath.Join(home, "packages"), Quota: mirror.Quota}
	return &Desk{
		Fetcher: &mirrorfetch.Fetcher{Store: store, From: mirrorfetch.Public(), Now: now, Dial: r.Dial, Roots: r.Roots},
		Home:    home, Now: now, Wait: time.Hour,
	}, r, project
}

func TestPackagesAreReady(t *testing.T) {
	d, r, project := newDesk(t)
	w, ok := d.Wants(project, "go mod download")
	if !ok || w.Lock != filepath.Join(project, "go.sum") || !w.Fetches || len(r.Asked()) > 0 {
		t.Fatalf("%+v %v %q", w, ok, r.Asked())
	}
	w.there = false // the project needs no archive, so everything is in the cache
	m, err := d.Ready(t.Context(), w)
	if err != nil || m.Folder != d.Fetcher.Store.Folder || m.Set == "" {
		t.Errorf("%+v %v", m, err)
	}
	if again, err := d.Ready(t.Context(), w); err != nil || again != m || len(r.Asked()) != 1 {
		t.Errorf("%+v %v %q", again, err, r.Asked())
	}
}

// A fetch that takes longer than a call waits goes on.
func TestLater(t *testing.T) {
	d, r, project := newDesk(t)
	free := make(chan struct{})
	r.Answer = func(w http.ResponseWriter, _ *http.Request) {
		<-free
		_, _ = io.WriteString(w, text)
	}
	w, _ := d.Wants(project, "go mod download")
	w.there, d.Wait = false, 0
	if m, err := d.Ready(t.Context(), w); !errors.Is(err, ErrLater) || m.Set != "" {
		t.Errorf("%+v %v", m, err)
	}
	for i := range 3 { // only two are fetched at once
		other := w
		other.key[0] += byte(i + 1)
		if _, err := d.Ready(t.Context(), other); !errors.Is(err, ErrLater) {
			t.Error(err)
		}
	}
	if len(d.runs) != maxUnder {
		t.Errorf("%d are under way", len(d.runs))
	}
	close(free)
	d.Wait = time.Hour
	if m, err := d.Ready(t.Context(), w); err != nil || m.Set == "" {
		t.Errorf("%+v %v", m, err)
	}
	for _, other := range d.runs {
		<-other.done
	}
}

func TestFailed(t *testing.T) {
	d, r, project := newDesk(t)
	r.Answer = http.NotFound
	w, _ := d.Wants(project, "go mod download")
	w.there = false
	if m, err := d.Ready(t.Context(), w); err == nil || m.Set != "" {
		t.Errorf("%+v %v", m, err)
	}
	if _, ok := d.Wants(project, "go mod download"); ok {
		t.Error("it is tried again at once")
	}
	d.Now = func() time.Time { return time.Unix(0, 0).Add(failedFor) }
	if _, ok := d.Wants(project, "go mod download"); !ok {
		t.Error("it is never tried again")
	}
}

// A Go command that does not fetch gets a mirror only if a module is missing.
func TestMissingModules(t *testing.T) {
	d, _, project := newDesk(t)
	sum, err := os.ReadFile(filepath.Join(project, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Wants(project, "go test ./..."); ok {
		t.Error("nothing is missing")
	}
	write(t, filepath.Join(project, "go.sum"), strings.Replace(string(sum), "/go.mod", "", 1))
	if _, ok := d.Wants(project, "go test ./..."); !ok {
		t.Error("a module is missing")
	}
	write(t, filepath.Join(d.Home, "go/pkg/mod/cache/download/a.example/m/@v/v1.0.0.ziphash"), "h1:")
	if _, ok := d.Wants(project, "go test ./..."); ok {
		t.Error("nothing is missing")
	}
	if w, ok := d.Wants(project, "go mod download"); !ok || !w.there {
		t.Errorf("%+v %v", w, ok)
	}
}

func TestNothingIsWanted(t *testing.T) {
	d, r, project := newDesk(t)
	write(t, filepath.Join(project, "package-lock.json"), `{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"1.0.0"}}}`)
	write(t, filepath.Join(project, "empty", "package-lock.json"), `{"lockfileVersion":3,"packages":{}}`)
	write(t, filepath.Join(project, "broken", "package-lock.json"), `{`)
	if err := errors.Join(os.Symlink("../go.sum", filepath.Join(project, "empty", "go.sum")), os.Symlink("empty", filepath.Join(project, "link"))); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"npm ci", "cd empty && npm ci", "cd broken && npm ci", "cd none && npm ci", "cd empty && go mod download", "cd link && go mod download", "ls", "pip install -r go.sum", "npm install a",
	} {
		if w, ok := d.Wants(project, line); ok {
			t.Errorf("%s: %+v", line, w)
		}
	}
	var none *Desk
	if _, ok := none.Wants(project, "go mod download"); ok || len(r.Asked()) > 0 {
		t.Error("nobody can want it")
	}
}

func TestPrivate(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".config/go/env"), "GOFLAGS=-x\nGOPRIVATE=git.corp.example,*.inner.example\nGONOPROXY=none\n")
	got := Private(home, func(name string) string { return map[string]string{"GOPRIVATE": "c.example"}[name] })
	if want := []string{"git.corp.example", "*.inner.example", "c.example"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
