//go:build unix

package witness

import (
	"os"
	"path/filepath"
	"testing"
)

func TestApart(t *testing.T) {
	stranger := os.Getuid() + 12345
	top := t.TempDir()
	chmod := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	chmod(top, 0o755)
	if apart, err := Apart(top, stranger); err != nil {
		t.Fatal(err)
	} else if !apart {
		t.Skip("SKIPPED: the folder for temporary files is open to others")
	}
	dir := filepath.Join(top, "witness")
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	check := func(name string, uid int, want bool) {
		t.Helper()
		if got, err := Apart(dir, uid); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	check("a stranger", stranger, true)
	check("whose it is", os.Getuid(), false)
	check("root", 0, false)
	for _, path := range []string{dir, filepath.Join(dir, "heads"), top} {
		for _, open := range []os.FileMode{0o020, 0o002} {
			chmod(path, 0o755|open)
			check("open "+filepath.Base(path), stranger, false)
		}
		chmod(path, 0o755)
	}
	chmod(top, 0o777|os.ModeSticky)
	check("within a sticky folder", stranger, true)
	chmod(dir, 0o777|os.ModeSticky)
	check("itself sticky", stranger, false)
	if _, err := Apart(filepath.Join(top, "nowhere"), stranger); err == nil {
		t.Error("no such folder")
	}
}
