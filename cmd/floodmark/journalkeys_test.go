package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
)

// A file of keys is checked as a node would, and no key is printed.
func TestJournalKeys(t *testing.T) {
	key := func(b byte) string {
		return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(string(rune(b)), 32)))
	}
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		code int
		says string
	}{
		"two keys":             {"acme 1 " + key('a') + " current\nacme 2 " + key('b'), 0o600, cli.ExitOK, "acme    1   current"},
		"the one that is held": {"acme 1 " + key('a') + " current\nacme 2 " + key('b'), 0o600, cli.ExitOK, "acme    2   held"},
		"a former one":         {"acme d index.key former\nacme 2 " + key('b') + " current", 0o600, cli.ExitOK, "acme    d   former"},
		"none is current":      {"acme 1 " + key('a') + "\nacme 2 " + key('b'), 0o600, cli.ExitNo, "no key is its current one"},
		"no tenant":            {"ac\u200bme 1 " + key('a'), 0o600, cli.ExitNo, "is no name of a tenant"},
		"others read it":       {"acme 1 " + key('a'), 0o644, cli.ExitNo, "others can read it"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "tenants.keys")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		console := &cli.Console{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Dir: dir, Build: testBuild(), Shipped: shippedOnce}
		code := run(t.Context(), console, []string{"journal", "keys", "tenants.keys"})
		if code != c.code || !strings.Contains(out.String(), c.says) || strings.Contains(out.String(), key('a')) || strings.Contains(out.String(), key('b')) {
			t.Errorf("%s: %d %s", name, code, out.String())
		}
	}
}
