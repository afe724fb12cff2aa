package mirror

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A shelf has what its set names and the store still has, and nothing else.
func TestShelf(t *testing.T) {
	s := Store{Folder: t.TempDir(), Quota: Quota}
	item, err := s.Put("/a", "text/plain", []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put("/b", "text/plain", []byte("other")); err != nil {
		t.Fatal(err)
	}
	set, err := s.PutSet([]Item{item, item})
	if err != nil {
		t.Fatal(err)
	}
	shelf, err := Open(s.Folder, set)
	if err != nil {
		t.Fatal(err)
	}
	kind, size, content, ok := shelf.Get("/a")
	if !ok || kind != "text/plain" || size != 7 {
		t.Fatalf("%s %d %v", kind, size, ok)
	}
	defer content.Close()
	if data, err := io.ReadAll(content); err != nil || string(data) != "content" {
		t.Errorf("%q %v", data, err)
	}
	for _, at := range []string{"/b", "a", "", "/", "/a/", "/a\x00", "../" + item.SHA256} {
		if _, _, _, ok := shelf.Get(at); ok {
			t.Errorf("%q is there", at)
		}
	}
	if err := os.WriteFile(s.content(item.SHA256), []byte("longer than it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, ok := shelf.Get("/a"); ok || s.Has(item, time.Unix(0, 0)) {
		t.Error("something else is given")
	}
}

func TestNotes(t *testing.T) {
	s := Store{Folder: t.TempDir(), Quota: Quota}
	item, err := s.Put("/a", "text/plain", []byte("content"))
	if err != nil || s.Note("name", []Item{item}) != nil {
		t.Fatal(err)
	}
	if got := s.Known("name", time.Unix(0, 0)); len(got) != 1 || got[0] != item || s.Known("other", time.Unix(0, 0)) != nil {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(s.content(item.SHA256)); err != nil {
		t.Fatal(err)
	}
	if got := s.Known("name", time.Unix(0, 0)); got != nil {
		t.Errorf("%+v", got)
	}
	if err := s.Note("name", []Item{{Path: "/a", SHA256: "../../x"}}); err != nil {
		t.Fatal(err)
	}
	if got := s.Known("name", time.Unix(0, 0)); got != nil {
		t.Errorf("%+v", got)
	}
}

// The mirror keeps no more than its quota, and keeps what was used last.
func TestQuota(t *testing.T) {
	s := Store{Folder: t.TempDir(), Quota: 10}
	at := time.Unix(1000, 0)
	var items []Item
	for i := range 3 {
		item, err := s.Put(fmt.Sprint("/", i), "text/plain", []byte(fmt.Sprint("12345", i)))
		if err != nil || !s.Has(item, at.Add(time.Duration(i)*time.Second)) {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	s.Sweep(at.Add(2 * time.Second))
	for i, item := range items {
		if s.Has(item, at.Add(time.Minute)) != (i == 2) {
			t.Errorf("%d is kept or not", i)
		}
	}
	if _, err := s.PutSet([]Item{{Path: "x", SHA256: strings.Repeat("0", 64)}}); err == nil {
		t.Error("what is no path is taken")
	}
	if _, err := Open(s.Folder, "../x"); err == nil {
		t.Error("what is no name is opened")
	}
	set, err := s.PutSet(items[2:])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Folder, "sets", set), []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(s.Folder, set); err == nil {
		t.Error("a set that was changed is opened")
	}
}
