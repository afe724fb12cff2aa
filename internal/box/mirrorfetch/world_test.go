package mirrorfetch

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/floodmark/floodmark/internal/box/boxhole"
	"github.com/floodmark/floodmark/internal/box/mirror"
	"github.com/floodmark/floodmark/internal/box/mirrorfetch/registrytest"
	"github.com/floodmark/floodmark/internal/format/lockfile"
)

// A world has registries with one package each, and a mirror.
type world struct {
	*testing.T
	*registrytest.Registry
	files   map[string][]byte // by host and path
	twist   func(w http.ResponseWriter, r *http.Request) bool
	fetcher *Fetcher
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, Registry: registrytest.New(t, "proxy.golang.org", "registry.npmjs.org", "pypi.org", "files.pythonhosted.org", "storage.googleapis.com"), files: map[string][]byte{}}
	w.Answer = func(a http.ResponseWriter, r *http.Request) {
		if w.twist != nil && w.twist(a, r) {
			return
		}
		data, has := w.files[r.Host+r.URL.RequestURI()]
		if !has {
			http.NotFound(a, r)
			return
		}
		_, _ = a.Write(data)
	}
	w.fetcher = &Fetcher{
		Store: mirror.Store{Folder: filepath.Join(t.TempDir(), "mirror"), Quota: mirror.Quota}, From: Public(), Machine: "x86_64",
		Now: func() time.Time { return time.Unix(0, 0) }, Dial: w.Dial, Roots: w.Roots,
	}
	return w
}

const (
	goMod    = "module a.example/m\n"
	goZipAt  = "proxy.golang.org/a.example/m/@v/v1.0.0.zip"
	goModAt  = "proxy.golang.org/a.example/m/@v/v1.0.0.mod"
	npmAt    = "registry.npmjs.org/@s/a/-/a-1.0.0.tgz"
	indexAt  = "pypi.org/simple/a/"
	wheelAt  = "files.pythonhosted.org/p/a-1.0-py3-none-any.whl"
	wheelURL = "https://" + wheelAt
)

// stock puts a package into each registry and returns the lock files that pin them.
func (w *world) stock() map[lockfile.Ecosystem]string {
	w.Helper()
	var module bytes.Buffer
	z := zip.NewWriter(&module)
	for name, text := range map[string]string{"a.example/m@v1.0.0/go.mod": goMod, "a.example/m@v1.0.0/m.go": "package m\n"} {
		f, err := z.Create(name)
		w.must(err)
		_, err = io.WriteString(f, text)
		w.must(err)
	}
	w.must(z.Close())
	w.files[goZipAt], w.files[goModAt] = module.Bytes(), []byte(goMod)
	at := filepath.Join(w.TempDir(), "m.zip")
	w.must(os.WriteFile(at, module.Bytes(), 0o600))
	zipHash, err := dirhash.HashZip(at, dirhash.Hash1)
	w.must(err)
	modHash, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(goMod)), nil })
	w.must(err)
	archive := tarball(w.T, `{"name":"other","version":"9.9.9","bin":"x.js","scripts":{"postinstall":"node x"},"dependencies":{"b":"1"}}`)
	w.files[npmAt] = archive
	npmHash := sha512.Sum512(archive)
	wheel := []byte("a wheel")
	w.files[wheelAt] = wheel
	sum := sha256.Sum256(wheel)
	digits := hex.EncodeToString(sum[:])
	w.files[indexAt] = fmt.Appendf(nil, `{"files":[{"filename":"a-1.0-py3-none-any.whl","url":%q,"hashes":{"sha256":%q}}]}`, wheelURL, digits)
	return map[lockfile.Ecosystem]string{
		lockfile.Go:   fmt.Sprintf("a.example/m v1.0.0 %s\na.example/m v1.0.0/go.mod %s\n", zipHash, modHash),
		lockfile.Npm:  fmt.Sprintf(`{"lockfileVersion":3,"packages":{"node_modules/@s/a":{"version":"1.0.0","resolved":"https://%s","integrity":"sha512-%s"}}}`, npmAt, base64.StdEncoding.EncodeToString(npmHash[:])),
		lockfile.PyPI: "A==1.0 --hash=sha256:" + digits + "\n",
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func tarball(t *testing.T, manifest string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	a := tar.NewWriter(z)
	if err := a.WriteHeader(&tar.Header{Name: "package/package.json", Size: int64(len(manifest)), Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	_, err := io.WriteString(a, manifest)
	if err != nil || a.Close() != nil || z.Close() != nil {
		t.Fatal("the archive cannot be written")
	}
	return b.Bytes()
}

// fetch fills the mirror by a lock file.
func (w *world) fetch(e lockfile.Ecosystem, lock string) (string, error) {
	w.Helper()
	l, err := lockfile.Read(e, []byte(lock), lockfile.Host{OS: "linux", Registry: w.fetcher.From.Npm})
	if err != nil || l.LeftOut > 0 && e != lockfile.Go || len(l.Packages) == 0 {
		return "", fmt.Errorf("it is not fetched: %v", err)
	}
	return w.fetcher.Fetch(w.Context(), l.Packages)
}

// box opens a mirror to a box, with all three lock files in one set.
func (w *world) box() (hole *boxhole.Hole, ask func(string) string) {
	w.Helper()
	var all []lockfile.Package
	for e, lock := range w.stock() {
		l, err := lockfile.Read(e, []byte(lock), lockfile.Host{})
		w.must(err)
		all = append(all, l.Packages...)
	}
	set, err := w.fetcher.Fetch(w.Context(), all)
	w.must(err)
	shelf, err := mirror.Open(w.fetcher.Store.Folder, set)
	w.must(err)
	hole, err = boxhole.New(nil)
	w.must(err)
	hole.Shelf = shelf
	l, err := net.Listen("tcp", "127.0.0.1:0")
	w.must(err)
	served := make(chan struct{})
	go func() { hole.Serve(l); close(served) }()
	w.Cleanup(func() { _ = l.Close(); hole.Close(); <-served })
	return hole, func(request string) string {
		w.Helper()
		conn, err := net.Dial("tcp", l.Addr().String())
		w.must(err)
		defer conn.Close()
		_, err = io.WriteString(conn, request)
		w.must(err)
		_ = conn.(*net.TCPConn).CloseWrite()
		said, _ := io.ReadAll(conn)
		return string(said)
	}
}
