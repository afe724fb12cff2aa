package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/policy"
)

// A suggestion is printed with its evidence, as a patch that other programs can apply. The patched
// policy asks less.
func TestSuggest(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "version: 1", "version: 1\n# mine\nsources:\n- {host: other.example, trust: shared}\n\nrelax: true\n"} {
		p := newPast(t, text)
		p.approved(newsPage, "s1", "s2", "s3")
		got := p.suggests(0)
		if len(got.Suggestions) != 1 || got.Suggestions[0].Line != "- {host: docs.news.example, trust: shared}" || got.Suggestions[0].Yes != 3 || len(got.Suggestions[0].Sessions) != 3 ||
			len(got.Suggestions[0].Behind) != 1 || !strings.Contains(got.Suggestions[0].Behind[0], "docs.news.example (untrusted)") {
			t.Fatalf("%+v", got)
		}
		printed, after := p.run(0, "policy", "suggest"), ""
		for _, with := range [][]string{{"git", "apply"}, {"patch", "-p1", "-i"}} {
			if _, err := exec.LookPath(with[0]); err != nil {
				continue
			}
			dir := t.TempDir()
			for name, data := range map[string]string{"policy.yaml": text, "lines.patch": printed} {
				if data == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), with[0], append(with[1:], "lines.patch")...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v %s\n%s", with, err, out, printed)
			}
			data, err := os.ReadFile(filepath.Join(dir, "policy.yaml"))
			loaded, problems := policy.Load(policy.Layer{Name: "policy.yaml", Data: data})
			if err != nil || problems.Failed() || !loaded.ListsHost("docs.news.example") {
				t.Errorf("%v: %v %v\n%s", with, err, problems, data)
			}
			after = string(data)
		}
		if p.text = after; after != "" {
			if got := p.suggests(1); len(got.Suggestions) != 0 {
				t.Errorf("suggested twice: %+v", got)
			}
		}
	}
}
