package mirrorfetch

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/format/lockfile"
)

// The requests and their order depend only on the lock file.
func TestRequests(t *testing.T) {
	w := newWorld(t)
	for e, lock := range w.stock() {
		if _, err := w.fetch(e, lock); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
	}
	got := w.Asked()
	slices.Sort(got)
	want := []string{"GET " + wheelAt, "GET " + goModAt, "GET " + goZipAt, "GET " + indexAt, "GET " + npmAt}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for e, lock := range w.stock() { // everything is in the mirror already
		if _, err := w.fetch(e, lock); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
	}
	if n := len(w.Asked()); n != len(want) {
		t.Errorf("%d requests more", n-len(want))
	}
}

// A registry may redirect to another configured host.
func TestConfiguredRedirect(t *testing.T) {
	w := newWorld(t)
	lock := w.stock()[lockfile.Go]
	w.files["storage.googleapis.com/zip"] = w.files[goZipAt]
	w.twist = func(a http.ResponseWriter, r *http.Request) bool {
		if r.Host+r.URL.Path != goZipAt {
			return false
		}
		http.Redirect(a, r, "https://storage.googleapis.com/zip", http.StatusFound)
		return true
	}
	if _, err := w.fetch(lockfile.Go, lock); err != nil {
		t.Error(err)
	}
}

// An index of npm contains what is pinned, and what the archive says.
func TestPackument(t *testing.T) {
	w := newWorld(t)
	_, ask := w.box()
	said := ask("GET /@s%2fa HTTP/1.1\r\n\r\n")
	_, body, _ := strings.Cut(said, "\r\n\r\n")
	var p struct {
		Name     string            `json:"name"`
		Tags     map[string]string `json:"dist-tags"`
		Versions map[string]struct {
			Name, Version    string
			HasInstallScript bool
			Dependencies     map[string]string
			Scripts          map[string]string
			Dist             struct{ Tarball, Integrity string }
		} `json:"versions"`
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	v := p.Versions["1.0.0"]
	if p.Name != "@s/a" || p.Tags["latest"] != "1.0.0" || v.Name != "@s/a" || v.Version != "1.0.0" || !v.HasInstallScript || v.Dependencies["b"] != "1" || v.Scripts != nil || v.Dist.Tarball != "https://"+npmAt || v.Dist.Integrity == "" {
		t.Errorf("%s", body)
	}
}

func TestPrivateNames(t *testing.T) {
	w := newWorld(t)
	locks := w.stock()
	w.fetcher.From.Private = []string{"*.example", "@s"}
	if _, err := w.fetch(lockfile.Npm, locks[lockfile.Npm]); err == nil {
		t.Error("a private package is fetched")
	}
	if _, err := w.fetch(lockfile.Go, locks[lockfile.Go]); err != nil || len(w.Asked()) > 0 {
		t.Errorf("%v, %q", err, w.Asked())
	}
}

func TestWheelsOfThisMachine(t *testing.T) {
	f := &Fetcher{Machine: "x86_64"}
	for name, want := range map[string]bool{
		"a-1-py3-none-any.whl": true, "a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl": true, "a-1-cp311-cp311-musllinux_1_1_x86_64.whl": false,
		"a-1-cp311-cp311-manylinux2014_aarch64.whl": false, "a-1-cp311-cp311-macosx_11_0_x86_64.whl": false, "a-1-cp311-cp311-win_amd64.whl": false,
	} {
		if f.runs(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for _, name := range []string{"../a.whl", "a/b.whl", ".a.whl", "a.exe", "a b.whl", "a\".whl", strings.Repeat("a", 300) + ".whl", "a%2f.whl"} {
		if plainFile(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestRegistriesThatCannotBe(t *testing.T) {
	if err := Public().Check(); err != nil {
		t.Error(err)
	}
	for _, base := range []string{"", "http://registry.example", "https://127.0.0.1", "https://localhost", "https://user@registry.example", "https://registry.example?x", "registry.example", "https://registry"} {
		r := Public()
		r.Npm = base
		if r.Check() == nil {
			t.Errorf("%q is taken for a registry", base)
		}
		r = Public()
		r.Hosts = []string{base}
		if base != "registry.example" && r.Check() == nil {
			t.Errorf("%q is taken for a host", base)
		}
	}
}
