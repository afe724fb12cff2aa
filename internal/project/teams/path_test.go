package teams

import (
	"os"
	"path/filepath"
	"testing"
)

// A program named git in the first folder of PATH is not run.
func TestPathHasNoSay(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\necho theirs\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if said, err := (git{home: dir}).run(t.Context(), "", "version"); err != nil || said == "theirs\n" {
		t.Errorf("%q, %v", said, err)
	}
}
