package swap

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func put(t *testing.T, p, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func text(p string) string {
	data, _ := os.ReadFile(p)
	return string(data)
}

func always(string) bool { return true }

// A kept file is not changed by another name of the original.
func TestAFileWithTwoNames(t *testing.T) {
	root := t.TempDir()
	s := &Swap{Root: filepath.Join(root, "p"), Folder: filepath.Join(root, "s"), Name: "in", Limit: 1 << 20}
	put(t, filepath.Join(s.Root, "a"), "old")
	put(t, filepath.Join(s.Folder, "new/a"), "new")
	if err := os.Link(filepath.Join(s.Root, "a"), filepath.Join(root, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := s.Do([]Step{{Path: "a", Do: Put, From: "new/a"}}); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "elsewhere"), "changed")
	done, err := s.Done()
	if err != nil || done.Bytes == 0 || text(filepath.Join(s.Root, "a")) != "new" {
		t.Fatalf("%+v, %v", done, err)
	}
	back := *s
	back.Name = "back"
	if err := back.Do(done.Reverse("in", always)); err != nil || text(filepath.Join(s.Root, "a")) != "old" {
		t.Errorf("%q, %v", text(filepath.Join(s.Root, "a")), err)
	}
}

// A folder that its owner may not write to is taken away, and comes back unchanged.
func TestAReadOnlyFolder(t *testing.T) {
	root := t.TempDir()
	s := &Swap{Root: filepath.Join(root, "p"), Folder: filepath.Join(root, "s"), Name: "in", Limit: 1 << 20}
	put(t, filepath.Join(s.Root, "d/e/f"), "old")
	put(t, filepath.Join(s.Folder, "x"), "")
	for _, p := range []string{"d/e", "d"} {
		if err := os.Chmod(filepath.Join(s.Root, p), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, p := range []string{"d", "d/e"} {
			_ = os.Chmod(filepath.Join(s.Root, p), 0o755)
		}
	})
	if err := s.Do([]Step{{Path: "d", Do: Take}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(s.Root, "d")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	done, err := s.Done()
	if err != nil {
		t.Fatal(err)
	}
	back := *s
	back.Name = "back"
	if err := back.Do(done.Reverse("in", always)); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"d", "d/e"} {
		if info, err := os.Lstat(filepath.Join(s.Root, p)); err != nil || info.Mode().Perm() != 0o555 {
			t.Errorf("%s: %v, %v", p, info, err)
		}
	}
	if text(filepath.Join(s.Root, "d/e/f")) != "old" {
		t.Error("a file is lost")
	}
}

// If more is replaced than may be kept, nothing is kept. It cannot be restored then, but a step
// that fails does not lose it.
func TestTooMuchToKeep(t *testing.T) {
	root := t.TempDir()
	s := &Swap{Root: filepath.Join(root, "p"), Folder: filepath.Join(root, "s"), Name: "in", Limit: 1000}
	put(t, filepath.Join(s.Root, "large"), string(make([]byte, 2000)))
	put(t, filepath.Join(s.Root, "b"), "old")
	put(t, filepath.Join(s.Folder, "new"), "new")
	s.At = func(point string) {
		if point == "planned" {
			_ = os.Remove(filepath.Join(s.Root, "b"))
		}
	}
	if err := s.Do([]Step{{Path: "large", Do: Take}, {Path: "b", Do: Take}}); err == nil || len(text(filepath.Join(s.Root, "large"))) != 2000 {
		t.Errorf("%v", err)
	}
	s.At = nil
	if err := s.Do([]Step{{Path: "large", Do: Take}, {Path: "b", Do: Put, From: "new"}}); err != nil {
		t.Fatal(err)
	}
	done, err := s.Done()
	if left, _ := filepath.Glob(filepath.Join(s.Folder, "in.old*")); err != nil || done.Unkept == "" || len(left) > 0 || text(filepath.Join(s.Root, "b")) != "new" {
		t.Errorf("%+v, %v, %q", done, err, left)
	}
}

// A plan that leads out of the folder is not followed.
func TestForeignPlans(t *testing.T) {
	root := t.TempDir()
	s := &Swap{Root: filepath.Join(root, "p"), Folder: filepath.Join(root, "s"), Name: "in", Limit: 1000}
	put(t, filepath.Join(s.Root, "a"), "old")
	put(t, filepath.Join(root, "outside"), "outside")
	for name, p := range map[string]*Plan{
		"path":  {Root: s.Root, Steps: []Step{{Path: "../outside", Do: Take, Was: Thing{Kind: File}}}},
		"from":  {Root: s.Root, Steps: []Step{{Path: "a", Do: Put, From: "../outside", Was: Thing{Kind: File}}}},
		"whole": {Root: s.Root, Steps: []Step{{Path: "/etc/passwd", Do: Take}}}, "shop": {Root: s.Root, Shop: ".floodmark-/../../s", Back: "x"},
		"root": {Root: root, Steps: []Step{{Path: "outside", Do: Take, Was: Thing{Kind: File}}}},
	} {
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s.plan(), string(data))
		if err := s.Resume(); err == nil || text(filepath.Join(root, "outside")) != "outside" || text(filepath.Join(s.Root, "a")) != "old" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
