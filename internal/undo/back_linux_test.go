package undo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/floodmark/floodmark/internal/swap"
)

func put(t *testing.T, p, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// made is a store with one call: it replaced a file, made a folder with one in it and a
// link, and took a file away.
func made(t *testing.T) (s *Store, project string) {
	t.Helper()
	root := t.TempDir()
	project = filepath.Join(root, "p")
	s = &Store{Folder: filepath.Join(root, "undo"), Quota: Quota, Now: func() time.Time { return time.Unix(1e9, 0) }}
	s.Lock = func(string) (io.Closer, error) { return io.NopCloser(nil), nil }
	room, err := s.Room(About{Session: "s", Call: "c"})
	if err != nil {
		t.Skip(err)
	}
	put(t, filepath.Join(project, "a"), "old")
	put(t, filepath.Join(project, "gone"), "gone")
	put(t, filepath.Join(room, "new/a"), "new")
	put(t, filepath.Join(room, "new/f"), "new")
	if err := os.Symlink("a", filepath.Join(room, "new/l")); err != nil {
		t.Fatal(err)
	}
	w := &swap.Swap{Root: project, Folder: room, Name: moved, Limit: Quota}
	err = w.Do([]swap.Step{
		{Path: "a", Do: swap.Put, From: "new/a", Left: swap.Thing{SHA256: digest(filepath.Join(room, "new/a"))}},
		{Path: "d", Do: swap.Make, Left: swap.Thing{Kind: swap.Folder, Mode: 0o755}},
		{Path: "d/f", Do: swap.Put, From: "new/f"},
		{Path: "l", Do: swap.Put, From: "new/l"},
		{Path: "gone", Do: swap.Take},
	})
	if err := errors.Join(err, s.Take(room)); err != nil {
		t.Fatal(err)
	}
	return s, project
}

// Whatever was changed since is named, and nothing is touched.
func TestChangedSince(t *testing.T) {
	for name, c := range map[string]struct {
		change func(project string) error
		path   string
	}{
		"content": {func(p string) error { return os.WriteFile(filepath.Join(p, "a"), []byte("NEW"), 0o644) }, "a"},
		"mode":    {func(p string) error { return os.Chmod(filepath.Join(p, "a"), 0o600) }, "a"},
		"removed": {func(p string) error { return os.Remove(filepath.Join(p, "a")) }, "a"},
		"a link now": {func(p string) error {
			return errors.Join(os.Remove(filepath.Join(p, "a")), os.Symlink("x", filepath.Join(p, "a")))
		}, "a"},
		"time":     {func(p string) error { return os.Chtimes(filepath.Join(p, "d/f"), time.Unix(1, 0), time.Unix(1, 0)) }, "d/f"},
		"one more": {func(p string) error { return os.WriteFile(filepath.Join(p, "d/more"), nil, 0o644) }, "d"},
		"another link": {func(p string) error {
			return errors.Join(os.Remove(filepath.Join(p, "l")), os.Symlink("x", filepath.Join(p, "l")))
		}, "l"},
		"there again": {func(p string) error { return os.WriteFile(filepath.Join(p, "gone"), []byte("mine"), 0o644) }, "gone"},
		"folder a link": {func(p string) error {
			return errors.Join(os.RemoveAll(filepath.Join(p, "d")), os.Symlink("/etc", filepath.Join(p, "d")))
		}, "d"},
	} {
		s, project := made(t)
		if err := c.change(project); err != nil {
			t.Fatal(err)
		}
		id := s.List("")[0].ID
		r, err := s.Back(id, How{})
		if err != nil || r.Done || len(r.Refused) == 0 || r.Refused[0].Path != c.path {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, err = s.Back(id, How{Only: true}); err != nil || !r.Done {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if data, _ := os.ReadFile(filepath.Join(project, "gone")); string(data) != map[bool]string{true: "mine", false: "gone"}[name == "there again"] {
			t.Errorf("%s: %q", name, data)
		}
	}
}

// Nothing is given back by a name that is none.
func TestForeignNames(t *testing.T) {
	s, project := made(t)
	for _, id := range []string{"", ".", "..", "../rooms", "x", s.List("")[0].ID + "/in.old"} {
		if r, err := s.Back(id, How{}); err == nil {
			t.Errorf("%q: %+v", id, r)
		}
	}
	if len(s.List("other")) > 0 || len(s.List("")) != 1 {
		t.Error("a tenant sees what another has")
	}
	if r, err := s.Back(s.List("")[0].ID, How{}); err != nil || !r.Done || len(r.Given) != 5 {
		t.Errorf("%+v, %v", r, err)
	}
	if left, _ := os.ReadDir(project); len(left) != 2 {
		t.Errorf("%v", left)
	}
}
