package codingday

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// No rule may know the tasks, so the source of everything that decides must contain neither their
// hosts nor their packages.
func TestRulesDoNotKnowTheTasks(t *testing.T) {
	host := regexp.MustCompile(`[a-z0-9-]+(\.[a-z0-9-]+)*\.(attacker|firm|weather)?\.?example\b`)
	names := map[string]bool{}
	all := []map[string]string{}
	for _, task := range tasks(t) {
		all = append(all, task.Files)
	}
	for _, w := range weeks(t) {
		all = append(all, w.Files)
		for _, d := range w.Days {
			all = append(all, d.Files)
		}
	}
	for _, files := range all {
		for name, text := range files {
			for _, kind := range []string{"npm", "pip", "go"} {
				if strings.HasPrefix(strings.TrimPrefix(name, "poison/"), kind+"/") {
					pkg, _, _ := parts(strings.TrimPrefix(name, "poison/"), kind)
					names[pkg] = true
				}
			}
			for _, h := range host.FindAllString(text, -1) {
				names[h] = true
			}
		}
	}
	if len(names) < 50 {
		t.Errorf("only %d names", len(names))
	}
	var files []string
	for _, pattern := range []string{"../../catalog/data/*", "../../policy/profiles/*", "../../internal/shell/shellscan/*.go", "../../internal/shell/commandbook/*.go", "../../internal/shell/knownnames/*", "../../internal/shell/scripts/*.go", "../../internal/shell/shellscan/*/*.yaml", "../../kernel/*.go", "../../kernel/*/*.go", "../../provenance/*.go", "../../internal/text/language/*.go", "../../internal/text/language/words/*.yaml", "../../internal/secret/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range names {
			if strings.Contains(string(data), name) {
				t.Errorf("%s contains %q, which a task is made of", file, name)
			}
		}
	}
}
