package wholefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/store/wholefile"
)

func TestReadLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := wholefile.Read(path, 4); err != nil || string(got) != "1234" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := wholefile.Read(path, 3); err == nil || !strings.Contains(err.Error(), "larger than 3 bytes") {
		t.Error(err)
	}
}

// A file that a crash left half written is not in the way, and no file is left over.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for name, text := range map[string]string{path: "old", path + wholefile.FreshSuffix: "ha"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := wholefile.Replace(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	info, err2 := os.Stat(path)
	if err != nil || err2 != nil || string(data) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, %v, %v", data, info, err, err2)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
	if err := wholefile.Replace(filepath.Join(dir, "gone", "f"), nil, 0o600); err == nil {
		t.Error("a file was written into a folder that is not there")
	}
}
