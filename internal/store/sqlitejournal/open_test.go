package sqlitejournal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/journal/journaltest"
)

func newPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "journal.db")
}

// refused opens a store that must not open, and returns the error.
func refused(t *testing.T, path string, opts Options) error {
	t.Helper()
	j, err := Open(t.Context(), path, opts)
	if err == nil {
		j.Close()
		t.Fatalf("%s was opened", path)
	}
	return err
}

func says(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not say %q", err, w)
		}
	}
}

func TestOneProcessOnly(t *testing.T) {
	path := newPath(t)
	j := open(t, path, Options{})
	link := filepath.Join(t.TempDir(), "other.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		says(t, refused(t, name, Options{Volatile: true}), "in use by process "+fmt.Sprint(os.Getpid()), "stop it first")
	}
	c := journaltest.NewChain("", "s1")
	if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{c.Next(t, "still works")}}); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	c.Verify(t, open(t, path, Options{}))
}

func TestRefusesWhatIsNotAFile(t *testing.T) {
	for _, path := range []string{"", ":memory:", "file::memory:", "file:x.db?mode=memory"} {
		if err := refused(t, path, Options{Volatile: true}); !errors.Is(err, journal.ErrNotDurable) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if kind, err := fileSystem("/dev/shm"); err != nil || kind != inMemory {
		t.Skipf("/dev/shm is not in memory here: %v", err)
	}
	if err := refused(t, "/dev/shm/journal.db", Options{}); !errors.Is(err, journal.ErrNotDurable) {
		t.Error(err)
	}
}

func TestRefusesWhatIsNotAJournal(t *testing.T) {
	for name, prepare := range map[string]func(c *conn) error{
		"not a journal": func(c *conn) error { return c.exec("CREATE TABLE cats (name TEXT)") },
		fmt.Sprint("of form ", formVersion+1): func(c *conn) error {
			return errors.Join(c.exec(fmt.Sprint("PRAGMA application_id=", applicationID)), c.exec(fmt.Sprint("PRAGMA user_version=", formVersion+1)))
		},
	} {
		path := newPath(t)
		c, err := connect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(prepare(c), c.close()); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		says(t, refused(t, path, Options{Volatile: true}), name)
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	path := newPath(t)
	if err := os.WriteFile(path, []byte(strings.Repeat("no database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := refused(t, path, Options{Volatile: true}); !errors.Is(err, journal.ErrBroken) {
		t.Error(err)
	}
}

func TestRefusesADirectoryItCannotWrite(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	if os.Geteuid() == 0 {
		dir = "/proc/self" // read-only for root too
	}
	says(t, refused(t, filepath.Join(dir, "journal.db"), Options{Volatile: true}), "journal")
	says(t, refused(t, filepath.Join(dir, "new", "journal.db"), Options{Volatile: true}), "directory of the journal")
}

func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "journal.db")
	j := open(t, path, Options{})
	c := journaltest.NewChain("", "s1")
	if err := j.Append(t.Context(), journal.Batch{Records: []journal.Record{c.Next(t, "x")}}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		"": 0o600, "-wal": 0o600, "-shm": 0o600, ".lock": 0o600, "/..": 0o700 | fs.ModeDir, "/../..": 0o700 | fs.ModeDir,
	} {
		info, err := os.Stat(filepath.Clean(path + name))
		if err != nil || info.Mode() != want {
			t.Errorf("%q: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if size, err := j.Size(); err != nil || size < 4096 {
		t.Errorf("size %d, %v", size, err)
	}
	if err := j.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestDurable reads the settings from SQLite, and checks that Open fails if a setting cannot be
// made.
func TestDurable(t *testing.T) {
	c, err := connect(t.Context(), newPath(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := durable(c); err != nil {
		t.Fatal(err)
	}
	// In a transaction the log cannot be changed, so the store stays as it was.
	other, err := connect(t.Context(), newPath(t))
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if err := errors.Join(other.exec("CREATE TABLE x (y)"), other.exec("BEGIN IMMEDIATE")); err != nil {
		t.Fatal(err)
	}
	if err := durable(other); err == nil {
		t.Error("a store without a log passed")
	}
}
