package undo

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder that a call outside of a box made is not removed together with files that the owner has
// put into it since.
func TestAFolderThatACallMade(t *testing.T) {
	for name, was := range map[string]string{"nothing was there": "", "a file was there": "text"} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			s := &Store{Folder: filepath.Join(t.TempDir(), "undo"), Quota: Quota, Now: func() time.Time { return time.Unix(1e9, 0) }}
			s.Lock = func(string) (io.Closer, error) { return io.NopCloser(nil), nil }
			out := filepath.Join(project, "out")
			if was != "" {
				put(t, out, was)
			}
			room, err := s.Before(About{Session: "s", Call: "c", Project: project}, []string{"out"})
			if err != nil {
				t.Skip(err)
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(out, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := s.After(room, Said{}); err != nil {
				t.Fatal(err)
			}
			id, mine := s.List("")[0].ID, filepath.Join(out, "mine.txt")
			put(t, mine, "mine")
			if r, err := s.Back(id, How{Only: true}); err != nil || r.Done || len(r.Refused) != 1 {
				t.Errorf("%+v, %v", r, err)
			}
			if data, err := os.ReadFile(mine); string(data) != "mine" {
				t.Errorf("%q, %v", data, err)
			}
			if err := os.Remove(mine); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Back(id, How{}); err != nil || !r.Done {
				t.Errorf("empty: %+v, %v", r, err)
			}
		})
	}
}

// Folders that a call made for its files are removed with them, unless something else is in them.
func TestFoldersForFiles(t *testing.T) {
	for name, used := range map[string]bool{"nobody uses them": false, "the owner does": true} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			s := &Store{Folder: filepath.Join(t.TempDir(), "undo"), Quota: Quota, Now: func() time.Time { return time.Unix(1e9, 0) }}
			s.Lock = func(string) (io.Closer, error) { return io.NopCloser(nil), nil }
			put(t, filepath.Join(project, "pages/a"), "a")
			room, err := s.Before(About{Session: "s", Call: "c", Project: project}, []string{"pages/de/x/b", "pages/de/c", "pages/a"})
			if err != nil {
				t.Skip(err)
			}
			for _, p := range []string{"pages/de/x/b", "pages/de/c", "pages/a"} {
				put(t, filepath.Join(project, p), "new")
			}
			if err := s.After(room, Said{}); err != nil {
				t.Fatal(err)
			}
			list := s.List("")
			if len(list) != 1 || list[0].Files != 3 {
				t.Fatalf("%+v", list)
			}
			mine := filepath.Join(project, "pages/de/mine")
			if used {
				put(t, mine, "mine")
			}
			if r, err := s.Back(list[0].ID, How{}); err != nil || !r.Done || len(r.Refused) > 0 {
				t.Errorf("%+v, %v", r, err)
			}
			if data, _ := os.ReadFile(filepath.Join(project, "pages/a")); string(data) != "a" || len(s.List("")) > 0 {
				t.Errorf("%q, %+v", data, s.List(""))
			}
			if _, err := os.Lstat(mine); (err == nil) != used {
				t.Errorf("what the owner put there: %v", err)
			}
			for _, p := range []string{"pages/de/x", "pages/de/c"} {
				if _, err := os.Lstat(filepath.Join(project, p)); err == nil {
					t.Errorf("%s is left", p)
				}
			}
			if _, err := os.Lstat(filepath.Join(project, "pages/de")); (err == nil) != used {
				t.Errorf("its folder: %v", err)
			}
		})
	}
}
