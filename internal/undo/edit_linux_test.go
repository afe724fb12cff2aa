package undo

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A folder that a call outside of a box made is not taken away with what the owner has put
// into it since.
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
