package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// date sets the modification time of each committed file to a time computed from its content, and
// that of each folder to a fixed time. The go command caches test results by the times of the files
// that a test read. So results from one clone are found in another, and a file that differs has
// another time.
func date(root string) error {
	modified, err := git(root, "diff", "--name-only", "-z")
	if err != nil {
		return err
	}
	skip := map[string]bool{}
	for file := range strings.SplitSeq(modified, "\x00") {
		skip[file] = true
	}
	listed, err := git(root, "ls-files", "--stage", "-z")
	if err != nil {
		return err
	}
	first, folders := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), map[string]bool{".": true}
	for entry := range strings.SplitSeq(strings.TrimRight(listed, "\x00"), "\x00") {
		// «mode hash stage<tab>name»
		meta, file, ok := strings.Cut(entry, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 || len(f[1]) < 7 {
			return fmt.Errorf("git ls-files printed %q", entry)
		}
		if skip[file] || f[0] != "100644" && f[0] != "100755" {
			continue
		}
		n, err := strconv.ParseInt(f[1][:7], 16, 64)
		if err != nil {
			return err
		}
		at := first.Add(time.Duration(n) * time.Second)
		if err := os.Chtimes(filepath.Join(root, file), at, at); err != nil {
			return err
		}
		for dir := path.Dir(file); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if err := os.Chtimes(filepath.Join(root, dir), first, first); err != nil {
			return err
		}
	}
	return nil
}
