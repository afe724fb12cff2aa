package boxwrites

import (
	"strings"
	"testing"
)

func TestKeep(t *testing.T) {
	k := Keep{Guarded: []string{"**/AGENTS.md", "Makefile", "scripts/*.sh", "ci/**", "[bad"}, Dots: []string{"**/.gitignore", "**/.changeset/*.md", "**/node_modules/.bin/*", "**/.venv/*/**"}}
	for p, want := range map[string]bool{
		".changeset/a.md": true, "sub/.changeset/a.md": true, ".changeset/a.js": false, ".changeset/a/b.md": false, ".changeset": false, ".GitIgnore": false, ".gitignore/x": false,
		"node_modules/.bin/tsc": true, "web/node_modules/.bin/tsc": true, ".bin/tsc": false, "x/.bin/tsc": false, "node_modules/.bin": false, "node_modules/.bin/a/b": false, "node_modules/.binx": false, "node_modules/a/.bin/x": false,
		".venv/bin/python": true, "api/.venv/lib/a/b.py": true, ".venv": false, ".venv/.lock": false, ".venv/.gitignore": true, ".venv/AGENTS.md": false, ".venv/.git/config": false, ".x/.venv/a": false, ".venvs/a": false, ".x/node_modules/.bin/a": false,
		"main.go": true, "src/deep/a.txt": true, ".gitignore": true, "sub/.gitignore": true, "agents.txt": true, "sub/Makefile": true, "scripts/x/y.sh": true,
		"AGENTS.md": false, "src/agents.MD": false, "makefile": false, "scripts/a.sh": false, "ci/x/y": false, "ci": false,
		".env": false, ".claude/settings.json": false, "a/.b/c": false, "sub/.git": false, "sub/.git/config": false,
		".git/HEAD": true, ".git/objects/ab/cd": false, ".git/objects/ab/0123456789abcdef0123456789abcdef012345": true, ".git/refs/heads/x": true, ".git/index": true, ".git/refs/replace/x": false, ".git/rebase-merge/done": false, ".git/MERGE_HEAD": true, ".git/merge_head": false,
		".git/config": false, ".git/hooks/pre-commit": false, ".git/info/attributes": false, ".git/objects/info/alternates": false,
		".git/commondir": false, ".git/modules/m/config": false, ".git/worktrees/w": false, ".git": false, ".GIT/hooks/x": false, ".git/headx": false, "sub/HEAD": false, "head": false, "sub/HEAD/x": true, ".git/index.lock": false,
	} {
		k := k
		if !strings.HasPrefix(p, "[") {
			k.Guarded = k.Guarded[:4]
		}
		if why := k.Refuses(p, false); (why == "") != want {
			t.Errorf("%s: %q", p, why)
		}
	}
	k.Guarded = k.Guarded[:4]
	if k.Refuses(".changeset", true) != "" || k.Refuses(".changes", true) == "" || k.Refuses(".changeset/x", true) == "" ||
		k.Refuses("node_modules/.bin", true) != "" || k.Refuses("x/.bin", true) == "" || k.Refuses(".venv", true) != "" || k.Refuses(".venv/bin", true) != "" {
		t.Error("a folder is kept only where a plain name may lie in it")
	}
	k.Guarded = []string{"[bad"}
	if k.Refuses("main.go", false) == "" {
		t.Error("a pattern that cannot be read lets something pass")
	}
	k.Guarded = []string{"**/AGENTS.md", "**/memory/*.md"}
	for p, want := range map[string]bool{"docs": false, "docs/a.md": false, "AGENTS.md": true, ".git": true, ".Git/hooks": true, "a/memory": true, "a/memory/x.txt": false, ".github": true} {
		if k.Leads(p) != want {
			t.Errorf("a link to %s: %v", p, !want)
		}
	}
	if (&Keep{}).Refuses(".gitignore", false) == "" {
		t.Error("the zero value keeps a dot file")
	}
}

func FuzzKeep(f *testing.F) {
	f.Add("**/a", "x/.git/a")
	f.Fuzz(func(t *testing.T, pattern, p string) {
		k := Keep{Guarded: []string{pattern}}
		for part := range strings.SplitSeq(p, "/") {
			if strings.EqualFold(part, ".git") && !strings.HasPrefix(strings.ToLower(p), ".git/") && k.Refuses(p, false) == "" {
				t.Errorf("%q is kept", p)
			}
		}
	})
}
