package main

import (
	"archive/tar"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// The program in the image is run as in a container: as the image's user and in the image's root.
// This needs root. Without root only the contents of the image are checked.
func TestImage(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	platform := "linux/amd64"
	repository, err := git(t.Context(), "rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	index, err := build(t.Context(), repository, "1.2.3-test", at, []string{platform})
	if err != nil {
		t.Fatal(err)
	}
	again, err := build(t.Context(), repository, "1.2.3-test", at, []string{platform})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := digest(t, index), digest(t, again); a != b {
		t.Errorf("two builds differ: %s and %s", a, b)
	}
	image := only(t, index)
	c, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c.Config.User != "65532:65532" || c.OS+"/"+c.Architecture != platform || !c.Created.Equal(at) {
		t.Errorf("the image runs as %q on %s/%s, made at %v", c.Config.User, c.OS, c.Architecture, c.Created)
	}
	root := t.TempDir()
	names := unpack(t, image, root)
	for _, want := range []string{"ko-app/floodmark", "etc/passwd", "etc/ssl/certs/ca-certificates.crt"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing among %v", want, names)
		}
	}
	for _, name := range names {
		if base := filepath.Base(name); base == "sh" || base == "bash" || base == "busybox" {
			t.Errorf("there is a shell: %s", name)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can change the root of a process: the program in the image was not run")
	}
	runs(t, root, c.Config)
}

func digest(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	d, err := index.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d.String()
}

func only(t *testing.T, index v1.ImageIndex) v1.Image {
	t.Helper()
	m, err := index.IndexManifest()
	if err != nil || len(m.Manifests) != 1 {
		t.Fatalf("%v %v", m, err)
	}
	image, err := index.Image(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// unpack writes the image's files below a folder and returns their names.
func unpack(t *testing.T, image v1.Image, root string) []string {
	t.Helper()
	all := mutate.Extract(image)
	defer func() { _ = all.Close() }()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(all); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimSuffix(h.Name, "/"), "/")
		path := filepath.Join(root, filepath.Join("/", name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			names = append(names, name)
			err = write(path, r, fs.FileMode(h.Mode).Perm())
		}
		if err == nil && os.Geteuid() == 0 {
			err = os.Lchown(path, h.Uid, h.Gid)
		}
		if err == nil && h.Typeflag == tar.TypeDir {
			err = os.Chmod(path, fs.FileMode(h.Mode).Perm())
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func write(path string, from io.Reader, mode fs.FileMode) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, from)
	return err
}

// inside returns a command that runs the image's program in the image's root, as the image's user.
func inside(ctx context.Context, root string, c v1.Config, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Entrypoint[0], args...)
	cmd.Path, cmd.Err = c.Entrypoint[0], nil // the program is in the other root
	cmd.Dir, cmd.Env = c.WorkingDir, c.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return cmd
}

// runs starts the monitor with the image's command, asks it as the owner, and stops it.
func runs(t *testing.T, root string, c v1.Config) {
	t.Helper()
	ctx := t.Context()
	proc := filepath.Join(root, "proc") // every container engine mounts it
	if err := os.MkdirAll(proc, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("proc", proc, "proc", 0, ""); err != nil {
		t.Skipf("a root without /proc runs no monitor, and none can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(proc, 0); err != nil {
			t.Error(err)
		}
	})
	out, err := inside(ctx, root, c, "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1.2.3-test") {
		t.Fatalf("version: %v\n%s", err, out)
	}
	node := inside(ctx, root, c, c.Cmd...)
	var said strings.Builder
	node.Stdout, node.Stderr = &said, &said
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- node.Wait() }()
	until(t, ended, func() bool {
		out, err = inside(ctx, root, c, "status", "--dir", "/data", "--output", "json").CombinedOutput()
		return err == nil
	})
	if err := node.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the monitor did not end well: %v\n%s", err, said.String())
	}
	if _, err := os.Stat(filepath.Join(root, "data", "data", "journal.db")); err != nil {
		t.Errorf("nothing was written: %v\n%s", err, said.String())
	}
	mounted(ctx, t, root, c)
}

// until calls answers again and again until it returns true or the program has ended.
func until(t *testing.T, ended chan error, answers func() bool) {
	t.Helper()
	for !answers() {
		select {
		case err := <-ended:
			t.Error("it ended before it answered")
			ended <- err
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// mounted starts a node with its settings and secrets as Kubernetes mounts them: links to files
// that belong to root and that the group may read. Unlike there, the journal is a file.
func mounted(ctx context.Context, t *testing.T, root string, c v1.Config) {
	t.Helper()
	node := filepath.Join(root, "data", "node")
	keys := filepath.Join(root, "data", "data", "keys")
	certificate, key := selfSigned(t)
	mount(t, filepath.Join(node, "config"), map[string][]byte{"service.yaml": []byte(`version: 1
keys: /data/node/keys
tokens: /data/node/tokens/tokens.json
metrics: listen
listen:
  - {address: "127.0.0.1:17443", certificate: /data/node/tls/tls.crt, key: /data/node/tls/tls.key}
`)})
	mount(t, filepath.Join(node, "keys"), map[string][]byte{"index.key": readFile(t, keys+"/index.key"), "journal.key": readFile(t, keys+"/journal.key")})
	mount(t, filepath.Join(node, "tls"), map[string][]byte{"tls.crt": certificate, "tls.key": key})
	const token = "fm_owner_00000000_test"
	mount(t, filepath.Join(node, "tokens"), map[string][]byte{"tokens.json": []byte(`{"version":1,"tokens":[]}`)})
	if err := os.Chown(node, 65532, 65532); err != nil {
		t.Fatal(err)
	}
	cmd := inside(ctx, root, c, "serve", "--dir", "/data/node")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until(t, ended, func() bool { return ask(ctx, certificate, "/readyz", "") == http.StatusOK })
	if got := ask(ctx, certificate, "/metrics", token); got != http.StatusForbidden {
		t.Errorf("metrics without a token that counts: %d", got)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the node did not end well: %v\n%s", err, said.String())
	}
}

// mount writes files and links as Kubernetes does.
func mount(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	version := filepath.Join(dir, "..2026_11_01")
	err := errors.Join(os.MkdirAll(version, 0o755), os.Symlink("..2026_11_01", filepath.Join(dir, "..data")))
	for name, data := range files {
		file := filepath.Join(version, name)
		err = errors.Join(err, os.WriteFile(file, data, 0o440), os.Chmod(file, 0o440), os.Chown(file, 0, 65532), os.Symlink("..data/"+name, filepath.Join(dir, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// selfSigned returns a certificate for 127.0.0.1 and its key.
func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// ask returns the status of an answer, or 0 if there is none.
func ask(ctx context.Context, certificate []byte, path, token string) int {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://127.0.0.1:17443"+path, http.NoBody)
	if err != nil {
		return 0
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
