package config

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/journal"
)

// mount makes a folder as Kubernetes mounts a Secret: its files are links into a folder that is a
// link itself.
func mount(t *testing.T, mode os.FileMode, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "..2026"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..2026", filepath.Join(dir, "..data")); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(dir, "..2026", name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("..data/"+name, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func mountedKeys(t *testing.T) map[string]string {
	t.Helper()
	secret, _, err := journal.NewKey(rand.Reader, "floodmark/journal")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"index.key": strings.Repeat("k", 32), "journal.key": secret + "\n"}
}

func TestMountedKeys(t *testing.T) {
	files := mountedKeys(t)
	files["tenants.keys"] = "# ours\n\nacme 2026-11 " + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("a"), 32)) + "\n"
	dir := mount(t, 0o440, files)
	k, err := KeysOf(Service{Keys: dir}, Paths{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if k.Index[0] != 'k' || k.New || len(k.Tenants["acme"]) != 1 || k.Tenants["acme"][0].ID != "2026-11" || k.Tenants["acme"][0].Key[31] != 'a' || len(k.Tenants) != 1 {
		t.Errorf("%v", k.Tenants)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 5 {
		t.Errorf("%d files, want nothing new: %v", len(left), err)
	}
	delete(files, "tenants.keys")
	if k, err := KeysOf(Service{Keys: mount(t, 0o400, files)}, Paths{}, ""); err != nil || len(k.Tenants) != 0 {
		t.Errorf("without keys of tenants: %v", err)
	}
}

func TestMountedKeysThatAreRefused(t *testing.T) {
	for _, mode := range []os.FileMode{0o444, 0o460, 0o644, 0o441} {
		if _, err := loadMounted(mount(t, mode, mountedKeys(t))); err == nil || !strings.Contains(err.Error(), "defaultMode: 0440") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	files := mountedKeys(t)
	outside := filepath.Join(t.TempDir(), "index.key")
	if err := os.WriteFile(outside, []byte(files["index.key"]), 0o400); err != nil {
		t.Fatal(err)
	}
	delete(files, "index.key")
	dir := mount(t, 0o440, files)
	if _, err := loadMounted(dir); err == nil {
		t.Error("a folder without index.key: a key was made up")
	}
	if err := os.Symlink(outside, filepath.Join(dir, "index.key")); err != nil {
		t.Fatal(err)
	}
	if _, err := loadMounted(dir); err == nil || !strings.Contains(err.Error(), "escapes") {
		t.Errorf("a link that leads out: %v", err)
	}
	files["index.key"] = "short"
	if _, err := loadMounted(mount(t, 0o440, files)); err == nil || !strings.Contains(err.Error(), "5 bytes, want 32") {
		t.Error(err)
	}
}

func TestKeysNeedAFullPath(t *testing.T) {
	if _, err := ParseService("service.yaml", []byte("keys: here")); err == nil || !strings.Contains(err.Error(), "full path") {
		t.Error(err)
	}
}
