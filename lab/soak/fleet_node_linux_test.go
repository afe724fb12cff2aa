package soak

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/fleet/fleetcheck"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
)

// A node runs the real program, again after each end, with proxies of its own to the databases.
// Every node sees its own folder under the same path, as nodes on different machines do, because
// rules contain paths.
type node struct {
	fleet   *fleet
	name    string
	dir     string // as seen from outside
	url     string
	proxies []*proxy
	cmd     *exec.Cmd
	ended   chan struct{}
	out     *said
	ready   atomic.Bool // whether /readyz said so when the balancer last asked
}

// A fleet is all nodes and what they share.
type fleet struct {
	t       *testing.T
	dir     string // nodes see their folder as dir/node
	cluster *cluster
	nodes   []*node
	token   string
	tls     *tls.Config
	probe   *http.Client
	last    []fleetcheck.Heard // what the last drill's clients heard
	program string             // the program with which nodes begin
}

func newFleetOf(t *testing.T, n int, program string) *fleet {
	t.Helper()
	dir := folder(t)
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the servers' user needs access
		t.Fatal(err)
	}
	f := &fleet{t: t, dir: dir, program: program}
	db := filepath.Join(dir, "db")
	if err := errors.Join(os.Mkdir(db, 0o700), os.Mkdir(f.seen(), 0o700)); err != nil {
		t.Fatal(err)
	}
	f.cluster = newCluster(t, db)
	first := f.prepare("node1")
	f.certificate(first)
	if _, err := config.LoadKeys(config.DirPaths(first).Keys, "floodmark/journal"); err != nil {
		t.Fatal(err)
	}
	tokens, err := httpapi.OpenTokens(config.DirPaths(first).Tokens, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if f.token, _, err = tokens.Create(httpapi.Token{Kind: httpapi.AgentKind, Name: "drill"}); err != nil {
		t.Fatal(err)
	}
	for i, port := range freePorts(t, n) {
		f.add(fmt.Sprint("node", i+1), first, port)
	}
	for _, n := range f.nodes {
		n.start()
	}
	f.probe = &http.Client{Timeout: time.Second, Transport: &http.Transport{TLSClientConfig: f.tls}}
	t.Cleanup(f.probe.CloseIdleConnections)
	f.allReady()
	return f
}

// seen returns the path under which every node sees its own folder.
func (f *fleet) seen() string { return filepath.Join(f.dir, "node") }

// prepare makes a folder with the program in it.
func (f *fleet) prepare(name string) string {
	f.t.Helper()
	dir := filepath.Join(f.dir, name)
	for _, sub := range []string{"bin", "config", "data", "state", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			f.t.Fatal(err)
		}
	}
	place(f.t, f.program, filepath.Join(dir, "bin", "floodmark"))
	return dir
}

func place(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		_ = os.Remove(to) // a running program cannot be written to
		err = os.WriteFile(to, data, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// add makes a node with the keys and tokens of the first node.
func (f *fleet) add(name, first string, port int) {
	f.t.Helper()
	n := &node{fleet: f, name: name, dir: f.prepare(name), url: fmt.Sprintf("https://127.0.0.1:%d", port)}
	if n.dir != first {
		if err := errors.Join(os.CopyFS(filepath.Join(n.dir, "data", "keys"), os.DirFS(config.DirPaths(first).Keys)), os.Chmod(filepath.Join(n.dir, "data", "keys"), 0o700)); err != nil {
			f.t.Fatal(err)
		}
		for _, file := range []string{"data/tokens.json", "config/cert.pem", "config/key.pem"} {
			place(f.t, filepath.Join(first, file), filepath.Join(n.dir, file))
		}
		for _, file := range []string{"keys/index.key", "keys/journal.key", "tokens.json"} {
			_ = os.Chmod(filepath.Join(n.dir, "data", file), 0o600)
		}
	}
	var ports []int
	for _, m := range f.cluster.members {
		p := newProxy(f.t, fmt.Sprintf("127.0.0.1:%d", m.pg))
		n.proxies, ports = append(n.proxies, p), append(ports, p.port())
	}
	see := f.seen()
	put(f.t, config.DirPaths(n.dir).Service, fmt.Sprintf(
		"version: 1\njournal:\n  store: %s\nlisten:\n  - {address: \"127.0.0.1:%d\", certificate: %s/config/cert.pem, key: %s/config/key.pem}\n",
		f.cluster.dsn(ports), port, see, see))
	f.nodes = append(f.nodes, n)
}

// inside returns a command that sees a node's folder under the common path.
func (f *fleet) inside(dir string, args ...string) *exec.Cmd {
	script := `mount --bind "$1" "$2" && shift 2 && exec "$@"`
	cmd := exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "sh", "-c", script, "sh", dir, f.seen()}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + f.seen()}
	return cmd
}

// start starts the program in the node's folder.
func (n *node) start() {
	n.fleet.t.Helper()
	n.out, n.ended = &said{}, make(chan struct{})
	see := n.fleet.seen()
	n.cmd = n.fleet.inside(n.dir, filepath.Join(see, "bin", "floodmark"), "serve", "--dir", see)
	n.cmd.Env = append(n.cmd.Env, "FLOODMARK_FAULT_CLOCK="+filepath.Join(see, "clock"))
	n.cmd.Stdout, n.cmd.Stderr = n.out, n.out
	if err := n.cmd.Start(); err != nil {
		n.fleet.t.Fatal(err)
	}
	ended, cmd := n.ended, n.cmd
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(ended)
	}()
	n.fleet.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may be gone already
		<-ended
	})
}

// kill kills the program and waits for its end.
func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	<-n.ended
}

// stop asks the program to end, and waits.
func (n *node) stop() {
	n.fleet.t.Helper()
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	<-n.ended
}

// isReady asks /readyz, as a load balancer does. An older program that has no such page is ready
// if it answers at all.
func (n *node) isReady() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := n.fleet.probe.Do(r)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotFound
}

// allReady waits until every node is ready. It restarts a node that has ended, for example because
// no database answered, as a service manager would.
func (f *fleet) allReady() {
	f.t.Helper()
	for _, n := range f.nodes {
		for end := patience(f.t); !n.isReady(); time.Sleep(50 * time.Millisecond) {
			select {
			case <-n.ended:
				n.start()
			default:
			}
			if time.Now().After(end) {
				f.t.Fatalf("%s is not ready:\n%s\n%s", n.name, tail(n.out.String()), f.cluster.said())
			}
		}
	}
}

// balance asks all nodes whether they are ready, again and again until ctx ends.
func (f *fleet) balance(ctx context.Context) {
	for ctx.Err() == nil {
		for _, n := range f.nodes {
			n.ready.Store(n.isReady())
		}
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// certificate writes a self-signed certificate for all nodes.
func (f *fleet) certificate(dir string) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "node.example"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err1 := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	secret, err2 := x509.MarshalPKCS8PrivateKey(key)
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	err = errors.Join(err1, err2, os.WriteFile(filepath.Join(dir, "config", "cert.pem"), public, 0o600),
		os.WriteFile(filepath.Join(dir, "config", "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	if err != nil {
		f.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	f.tls = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}
}

// setClock makes a node's clock differ from the real time by a duration.
func (n *node) setClock(by time.Duration) {
	n.fleet.t.Helper()
	put(n.fleet.t, filepath.Join(n.dir, "clock"), strings.TrimSpace(by.String()))
}
