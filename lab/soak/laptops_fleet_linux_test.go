package soak

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/machines"
	"github.com/floodmark/floodmark/internal/fleet/machines/machinestest"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/postgresjournal"
	"github.com/floodmark/floodmark/internal/store/sqlitejournal"
	"github.com/floodmark/floodmark/journal"
)

// laptopTenant is the tenant to which all laptops belong.
const laptopTenant = "acme"

// A laptopFleet is real nodes over a real PostgreSQL.
type laptopFleet struct {
	t       *testing.T
	dir     string
	urls    []string
	ca      string
	enrol   string // a token with which laptops join
	journal *postgresjournal.Journal
	book    machines.Book
	store   bundle.Store
	author  ed25519.PrivateKey
	serial  uint64
}

func newLaptopFleet(t *testing.T, nodes int) *laptopFleet {
	t.Helper()
	f := &laptopFleet{t: t, dir: folder(t)}
	if err := os.Chmod(f.dir, 0o755); err != nil { //nolint:gosec // the server's user needs access
		t.Fatal(err)
	}
	db := newDatabase(t, f.dir, "db")
	db.dsn = db.script("start")
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	f.author = private
	first := filepath.Join(f.dir, "node0")
	paths := config.DirPaths(first)
	if err := errors.Join(os.MkdirAll(filepath.Dir(paths.Tokens), 0o700), os.MkdirAll(filepath.Dir(paths.Service), 0o700)); err != nil {
		t.Fatal(err)
	}
	(&fleet{t: t}).certificate(first)
	ca, err := os.ReadFile(filepath.Join(first, "config", "cert.pem"))
	if err != nil {
		t.Fatal(err)
	}
	f.ca = string(ca)
	if _, err := config.LoadKeys(paths.Keys, "floodmark/journal"); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(paths.Tokens, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if f.enrol, _, err = tokens.Create(httpapi.Token{Kind: httpapi.EnrolKind, Tenant: laptopTenant, Name: "setup", Uses: httpapi.MaxUses}); err != nil {
		t.Fatal(err)
	}
	if f.journal, err = postgresjournal.Open(t.Context(), db.dsn, postgresjournal.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.journal.Close() })
	f.book, f.store = f.journal.Machines(), f.journal.Bundles()
	for i, port := range freePorts(t, nodes) {
		f.node(fmt.Sprint("node", i), first, db.url(), port, bundle.FormatKey(public))
	}
	return f
}

// node starts a node of the real program, with the keys of the first node.
func (f *laptopFleet) node(name, first, dsn string, port int, key string) {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	paths := config.DirPaths(dir)
	if dir != first {
		if err := errors.Join(os.MkdirAll(paths.Keys, 0o700), os.CopyFS(paths.Keys, os.DirFS(config.DirPaths(first).Keys))); err != nil {
			f.t.Fatal(err)
		}
		for _, k := range []string{"index.key", "journal.key"} {
			if err := os.Chmod(filepath.Join(paths.Keys, k), 0o600); err != nil {
				f.t.Fatal(err)
			}
		}
	}
	put(f.t, paths.Service, fmt.Sprintf(`version: 1
journal: {store: "%s"}
listen:
  - {address: "127.0.0.1:%d", certificate: %s/config/cert.pem, key: %s/config/key.pem}
tokens: %s
tenants:
  %s: {quota: {events: 100000, bytes: 1000000000}}
bundles: {keys: ["%s"]}
`, dsn, port, first, first, config.DirPaths(first).Tokens, laptopTenant, key))
	run(f.t, dir, nil)
	url := fmt.Sprintf("https://127.0.0.1:%d", port)
	f.urls = append(f.urls, url)
	f.ready(url)
}

// ready waits until a node answers that it is ready.
func (f *laptopFleet) ready(url string) {
	f.t.Helper()
	pool := poolOf(f.t, f.ca)
	web := &http.Client{Timeout: time.Second, Transport: &http.Transport{TLSClientConfig: pool}}
	defer web.CloseIdleConnections()
	for end := patience(f.t); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		resp, err := web.Get(url + "/readyz")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
	}
	f.t.Fatal("a node is not ready")
}

// run starts the real program. When the test ends, it is killed.
func run(t *testing.T, dir string, env []string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(program(t, "floodmark"), "serve", "--dir", dir)
	out := &said{}
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + dir}, env...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone already
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(dir), tail(out.String()))
		}
	})
	return cmd
}

// publish seals and publishes bundles with the given versions.
func (f *laptopFleet) publish(versions ...uint64) {
	f.t.Helper()
	made := time.Now().Truncate(time.Second)
	for _, v := range versions {
		b := bundle.Bundle{
			Tenant: laptopTenant, Version: v, Floor: 1, Made: made, ValidUntil: made.Add(24 * time.Hour),
			Policy: fmt.Appendf(nil, "version: 1\nprofile: coding\n# version %d\n", v), Note: fmt.Sprint("version ", v),
		}
		sealed, err := b.Seal(f.author)
		if err == nil {
			err = f.store.Publish(f.t.Context(), sealed)
		}
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

// roll sets which laptops get which version from now on.
func (f *laptopFleet) roll(r bundle.Rollout) {
	f.t.Helper()
	f.serial++
	r.Tenant, r.Serial, r.By, r.At = laptopTenant, f.serial, "author", time.Now().Truncate(time.Second)
	if err := f.store.Roll(f.t.Context(), r); err != nil {
		f.t.Fatal(err)
	}
}

// compare compares the fleet's copy of a laptop's sessions with the laptop's journal, entry by
// entry, and adds the differences to r.
func (f *laptopFleet) compare(machine, dir string, r *laptopReport) {
	f.t.Helper()
	j, err := sqlitejournal.Open(f.t.Context(), config.DirPaths(dir).Journal, sqlitejournal.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	defer j.Close()
	own := 0
	for h, err := range j.Heads(f.t.Context(), 0) {
		if err != nil {
			f.t.Fatal(err)
		}
		r.Sessions++
		mirror := f.mirrored(machine, h.Session.ID)
		entries := 0
		for e, err := range j.Read(f.t.Context(), h.Session, 0) {
			if err != nil {
				f.t.Fatal(err)
			}
			entries++
			if got, is := mirror[e.Seq]; !is || got.Link() != e.Link() || string(got.Body) != string(e.Body) || got.At != e.At || got.Kind != e.Kind {
				r.Lost++
			}
		}
		if top, is := mirror[h.Link.Seq]; is && top.Link() == h.Link && len(mirror) == entries {
			r.Heads++
		}
		r.Doubled += max(0, len(mirror)-entries)
		own += entries
	}
	r.Entries += own
	if n := f.kept(machine); n != int64(own) {
		f.t.Errorf("machine %s wrote %d entries, the fleet counts %d", machine, own, n)
	}
}

// mirrored returns the fleet's copy of a session. It fails the test if the chain of the copy is
// broken.
func (f *laptopFleet) mirrored(machine string, s floodmark.SessionID) map[uint64]journal.Entry {
	f.t.Helper()
	all, prev := map[uint64]journal.Entry{}, journal.Link{}
	for e, err := range f.book.Read(f.t.Context(), laptopTenant, machines.ID(machine), s) {
		if err == nil {
			err = journal.Check(journal.Session{ID: s}, prev, e)
		}
		if err != nil {
			f.t.Fatalf("machine %s: %v", machine, err)
		}
		all[e.Seq], prev = e, e.Link()
	}
	return all
}

// quietFor is longer than many contacts of a real program in these tests take, and longer than the
// program waits after two failed contacts in a row.
const quietFor = 8 * time.Second

// quiet waits until nothing more comes from a machine.
func (f *laptopFleet) quiet(machine string) {
	f.t.Helper()
	last, since := f.kept(machine), time.Now()
	for time.Since(since) < quietFor {
		time.Sleep(100 * time.Millisecond)
		if n := f.kept(machine); n != last {
			last, since = n, time.Now()
		}
	}
}

// kept returns how many entries of a machine the fleet counts, or -1 if it does not know the
// machine.
func (f *laptopFleet) kept(machine string) int64 {
	f.t.Helper()
	list, err := machinestest.All(f.t.Context(), f.book, laptopTenant)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, m := range list {
		if string(m.ID) == machine {
			return m.Entries
		}
	}
	return -1
}
