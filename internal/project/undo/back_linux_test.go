package undo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/store/swap"
	"github.com/floodmark/floodmark/kernel/artifact"
)

func put(t *testing.T, p, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// made returns a store with one call. The call replaced a file, made a folder with a file in it and
// a link, and removed a file.
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
	if err := errors.Join(err, s.Take(room, Said{})); err != nil {
		t.Fatal(err)
	}
	return s, project
}

// Each later change is reported, and nothing is restored.
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

// The old content is put beside paths that were changed since, and replaces nothing.
func TestBeside(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(project string) error
		at, text string
	}{
		"changed": {func(p string) error { return os.WriteFile(filepath.Join(p, "a"), []byte("mine"), 0o644) }, "a.before-undo", "old"},
		"removed": {func(p string) error { return os.Remove(filepath.Join(p, "a")) }, "a.before-undo", "old"},
		"the name is taken": {func(p string) error {
			return errors.Join(os.WriteFile(filepath.Join(p, "a"), []byte("mine"), 0o644), os.Symlink("/etc/passwd", filepath.Join(p, "a.before-undo")))
		}, "a.before-undo-2", "old"},
		"there again": {func(p string) error { return os.Mkdir(filepath.Join(p, "gone"), 0o755) }, "gone.before-undo", "gone"},
	} {
		s, project := made(t)
		if err := c.change(project); err != nil {
			t.Fatal(err)
		}
		r, err := s.Back(s.List("")[0].ID, How{Beside: true})
		if err != nil || !r.Done || len(r.Refused) != 1 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if data, err := os.ReadFile(filepath.Join(project, c.at)); string(data) != c.text || err != nil {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if left := s.List(""); len(left) > 0 {
			t.Errorf("%s: %+v is left", name, left)
		}
	}
}

// A session cannot push the owner's work out by overwriting much of its own, neither in separate
// calls nor in one call with it.
func TestTheOwnersWorkStays(t *testing.T) {
	for name, calls := range map[string][]map[string]int{
		"other calls":     {{"own": 100}, {"junk": 6000}, {"junk": 6000}, {"junk": 6000}, {"junk": 6000}},
		"the same calls":  {{"own": 100, "junk": 6000}, {"more": 100, "junk": 6000}, {"last": 100, "junk": 6000}},
		"one large call":  {{"own": 100, "junk": 30_000}},
		"the owner's own": {{"first": 6000}, {"own": 6000}},
		"in one folder":   {{"d/own": 100, "d/junk": 30_000}},
		"a word on all":   {{"own": 100, "junk": 6000}, {"junk": 6000}, {"more": 100, "junk": 6000}, {"junk": 6000}},
		"too many words":  {{"own": 100, "junk": 6000}, {"junk": 6000}, {"more": 100, "junk": 6000}, {"junk": 6000}},
	} {
		root := t.TempDir()
		project := filepath.Join(root, "p")
		now := time.Unix(1e9, 0)
		s := &Store{Folder: filepath.Join(root, "undo"), Quota: 10_000, Now: func() time.Time { return now }}
		s.Lock = func(string) (io.Closer, error) { return io.NopCloser(nil), nil }
		junk := floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: catalog.FoldPath(project + "/junk")}
		own := "own"
		switch name {
		case "in one folder":
			own, junk.Name = "d/own", catalog.FoldPath(project+"/d/junk")
		case "a word on all":
			junk = floodmark.ArtifactRef{Kind: floodmark.TreeArtifact, Name: catalog.FoldPath(project)}
		}
		word := artifact.Kept{Artifact: floodmark.Artifact{Ref: junk, Sources: []floodmark.Source{{Label: floodmark.Label{}}}}}
		said := Saying(1, []artifact.Kept{word})
		if name == "too many words" {
			said = Saying(1, slices.Repeat([]artifact.Kept{word}, maxSaid/100))
		}
		for i, files := range calls {
			now = now.Add(time.Minute)
			room, err := s.Room(About{Session: "s", Call: strconv.Itoa(i)})
			if err != nil {
				t.Skip(err)
			}
			var steps []swap.Step
			for p, size := range files {
				put(t, filepath.Join(project, p), strings.Repeat("x", size))
				put(t, filepath.Join(room, "new", p), "new")
				steps = append(steps, swap.Step{Path: p, Do: swap.Put, From: "new/" + p})
			}
			if own == "d/own" {
				steps = []swap.Step{{Path: "d", Do: swap.Take}}
			}
			w := &swap.Swap{Root: project, Folder: room, Name: moved, Limit: Reach * s.Quota}
			if err := errors.Join(w.Do(steps), s.Take(room, said)); err != nil {
				t.Fatal(err)
			}
		}
		total := int64(0)
		for _, a := range s.List("") {
			total += a.Bytes
			if r, err := s.Back(a.ID, How{Only: true}); err != nil {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
		if info, err := os.Stat(filepath.Join(project, own)); err != nil || info.Size() < 100 || total > s.Quota {
			t.Errorf("%s: %v, %v, %d bytes are kept", name, info, err, total)
		}
	}
}

// So many paths are restored beside their old place that their names alone are long.
func TestNoteOfMany(t *testing.T) {
	s, _ := made(t)
	folder := s.kept(s.List("")[0].ID)
	var many []Return
	for i := range 5000 {
		name := strings.Repeat("x", 200) + strconv.Itoa(i)
		many = append(many, Return{Was: name, At: name + ".before-undo"})
	}
	if err := s.note(folder, many); err != nil {
		t.Fatal(err)
	}
	if a, err := read(folder); err != nil || len(a.Beside) != len(many) || len(s.List("")) != 1 {
		t.Errorf("%d names, %v", len(a.Beside), err)
	}
}

// An invalid name restores nothing.
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
