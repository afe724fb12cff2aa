package redact_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/secret/redact"
)

// realKeys returns the parts of Go's own sources that contain keys: test vectors of cryptography,
// and the example key in a comment of the checksum database.
func realKeys() []string { return []string{"crypto/", "cmd/vendor/golang.org/x/mod/sumdb/note/"} }

// How much ordinary source must be searched, and after how much a short run stops.
const (
	leastSource = 5 << 20
	shortSource = 8 << 20
)

func TestOrdinarySourceHoldsNoSecret(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	d, size, files := redact.New(), 0, 0
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || testing.Short() && size > shortSource {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, part := range realKeys() {
			if strings.HasPrefix(filepath.ToSlash(name), part) {
				return nil
			}
		}
		switch filepath.Ext(path) {
		case ".go", ".s", ".c", ".h", ".md", ".txt", ".json", ".py", ".js", ".html", ".pl", ".bash", ".yaml":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size += len(text)
		files++
		for _, s := range d.Find(string(text)) {
			t.Errorf("%s at %d: %s: %.40q", name, s.Start, s.Rule, text[s.Start:s.End])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %.1f MB", files, float64(size)/(1<<20))
	if size < leastSource {
		t.Errorf("only %d bytes of source here", size)
	}
}
