package floodmark_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// skipFolder skips foreign folders and folders without tests.
func skipFolder(path string, d fs.DirEntry) bool {
	return d.Name() == "testdata" || d.Name() == "node_modules" || (path != "." && strings.HasPrefix(d.Name(), "."))
}

// eachTestFile parses every test file, also of modules beside this one.
func eachTestFile(t *testing.T, do func(path string, s source)) {
	t.Helper()
	eachFile(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			do(path, parse(t, path))
		}
	})
}

// lines reads a list of the gate, without comments.
func lines(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// compareSystem compares .ci/system with the files of system tests. Suites leave these tests out by
// name, so no other test of this module and of lab may have the same name.
func compareSystem(t *testing.T, pkgs map[string]pkg) (complaints []string) {
	t.Helper()
	listed := lines(t, ".ci/system") // «package Test»
	var found, others []string
	eachTestFile(t, func(path string, s source) {
		for _, name := range s.tests() {
			switch folder := filepath.ToSlash(filepath.Dir(path)); {
			case systemFile.MatchString(filepath.Base(path)):
				found = append(found, folder+" "+name)
			case pkgs[folder].Name != "" || folder == "." || strings.HasPrefix(folder, "lab/"):
				others = append(others, name)
			}
		}
	})
	for _, f := range found {
		if !slices.Contains(listed, f) {
			complaints = append(complaints, ".ci/system does not list «"+f+"»")
		}
		if _, name, _ := strings.Cut(f, " "); slices.Contains(others, name) {
			complaints = append(complaints, fmt.Sprintf("%s is also the name of a test that needs no program: it would never run", name))
		}
	}
	for _, l := range listed {
		if !slices.Contains(found, l) {
			complaints = append(complaints, ".ci/system lists «"+l+"», which is in no file called …system_test.go")
		}
	}
	return complaints
}
