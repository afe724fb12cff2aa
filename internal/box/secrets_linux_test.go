package box

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A box finds files that keep secrets by their names, anywhere in the project.
func TestSecrets(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Spec{Project: filepath.Join(root, "p"), Hidden: []string{"given"}, Secret: []string{"**/.env", "**/.env*", "**/*.pem", "**/client_secret*.json", `**/\[x].txt`, "**/conf/prod/*"}}
	const certificate, key = "-----BEGIN CERTIFICATE-----\nx\n", "-----BEGIN PRIVATE KEY-----\nx\n"
	for name, text := range map[string]string{
		"main.go": "", ".env": "", "a/.ENV.local": "", "node_modules/x/.env": "", "vendor/y/z/key.pem": key, "lib/cacert.pem": certificate, "lib/both.PEM": certificate + key,
		"client_secret_1.json": "", "client_secret": "", "[x].txt": "", "x.txt": "", "a/conf/prod/db": "", "conf/dev/db": "",
		".git/refs/heads/fix.pem": "", "sub/.git/refs/heads/.env": "", "real/plain": "", ".env.d/x": "", "closed/x": "", "../out": "",
	} {
		at := filepath.Join(s.Project, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"l/.env": "../real/plain", "l/out.pem": "../../out", "l/loop.pem": "loop.pem", "l/.env.dir": "../a"} {
		if err := os.MkdirAll(filepath.Join(s.Project, "l"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(s.Project, name)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{".env", "[x].txt", "a/.ENV.local", "a/conf/prod/db", "client_secret_1.json", "given", "lib/both.PEM", "node_modules/x/.env", "real/plain", "vendor/y/z/key.pem"}
	if os.Getuid() != 0 { // other users cannot read every folder
		if err := os.Chmod(filepath.Join(s.Project, "closed"), 0o111); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(s.Project, "closed"), 0o700) })
		want = slices.Insert(want, 5, "closed")
	}
	got, err := s.secrets()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	s.Secret = []string{"**/*"}
	for range maxHidden {
		f, err := os.CreateTemp(s.Project, "x")
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	if _, err := s.secrets(); err == nil {
		t.Error("more is hidden than a box can hide")
	}
}
