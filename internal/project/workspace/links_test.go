package workspace_test

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/internal/project/workspace"
)

// Links returns the links in a folder, and if deep is set, those in the folders below.
func TestLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	for _, dir := range []string{"a/skills/deep", "dot/x", "b"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("dot/x/y.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"a/one.md": "dot/x/y.md", "a/skills/x": "dot/x", "a/none": "nowhere", "c": "a", "b/two": "b/three"} {
		if err := os.Symlink(at(to), at(link)); err != nil {
			t.Skip(err)
		}
	}
	d := workspace.New(workspace.Options{})
	for _, c := range []struct {
		folder string
		deep   bool
		want   []string
	}{
		{"a", true, []string{at("a/one.md"), at("a/skills/x")}},
		{"a", false, []string{at("a/one.md")}},
		{"c", true, []string{at("c")}},
		{"b", true, nil},
		{"gone", true, nil},
		{"dot/x/y.md", true, nil},
	} {
		got := d.Links(at(c.folder), c.deep)
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, c.want) {
			t.Errorf("%s: %v", c.folder, got)
		}
	}
	if got := d.Links(at("a"), true)[at("a/skills/x")]; got != at("dot/x") {
		t.Errorf("it leads to %s", got)
	}
}

// A password file that is a link, or that others may read, is ignored.
func TestDatabases(t *testing.T) {
	home := t.TempDir()
	disk, name := workspace.New(workspace.Options{}), filepath.Join(home, ".pgpass")
	put := func(at string, mode os.FileMode) {
		if err := os.WriteFile(at, []byte("db.example:5432:a:b:c\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	if put(name, 0o600); runtime.GOOS != "windows" && !slices.Equal(disk.Databases(home), []string{"db.example:5432"}) {
		t.Errorf("%q", disk.Databases(home))
	}
	version := filepath.Join(home, ".psqlrc-16.2")
	if put(version, 0o600); disk.Databases(home) != nil {
		t.Errorf("psql runs settings of its version: %q", disk.Databases(home))
	}
	if err := os.Remove(version); err != nil || runtime.GOOS != "windows" && disk.Databases(home) == nil {
		t.Errorf("%q, %v", disk.Databases(home), err)
	}
	if err := os.Chmod(name, 0o640); err != nil || disk.Databases(home) != nil {
		t.Errorf("others may read it: %q, %v", disk.Databases(home), err)
	}
	put(filepath.Join(home, "pgpass"), 0o600)
	if err := os.Remove(name); err != nil || disk.Databases(home) != nil || disk.Databases("") != nil {
		t.Errorf("it is not there: %q, %v", disk.Databases(home), err)
	}
	if err := os.Symlink("pgpass", name); err == nil && disk.Databases(home) != nil {
		t.Errorf("it is a link: %q", disk.Databases(home))
	}
}

// A compose file outside of the folder is not read.
func TestComposes(t *testing.T) {
	folder, disk := t.TempDir(), workspace.New(workspace.Options{})
	name := filepath.Join(folder, "compose.yaml")
	if disk.Composes(folder) || disk.Composes("") {
		t.Error("there is none")
	}
	if err := os.WriteFile(name, []byte("services: {db: {image: a}}"), 0o600); err != nil || !disk.Composes(folder) {
		t.Errorf("it is there: %v", err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".env"), make([]byte, 17<<20), 0o600); err != nil || disk.Composes(folder) {
		t.Errorf("nobody reads all settings: %v", err)
	}
	if err := os.Rename(name, filepath.Join(folder, "x.yaml")); err != nil || disk.Composes(folder) {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(folder, ".env")); err != nil || os.Symlink("x.yaml", name) == nil && disk.Composes(folder) {
		t.Errorf("it is a link: %v", err)
	}
}
