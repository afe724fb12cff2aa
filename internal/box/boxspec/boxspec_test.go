package boxspec_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/project/workspace"
	"github.com/floodmark/floodmark/kernel/artifact"
)

func shipped(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A box keeps the files that no program obeys, as the catalog says.
func TestKeep(t *testing.T) {
	c, k := shipped(t), boxspec.Keep(shipped(t))
	for p, want := range map[string]bool{
		"main.go": true, "src/a_test.py": true, "docs/notes.md": true, ".gitignore": false, "sub/.npmignore": false, ".ignore": true, "sub/.editorconfig": true, ".env.example": false, // also a secret name
		"AGENTS.md": false, "sub/claude.md": false, "package.json": true, "sub/Makefile": true, "Dockerfile": true, ".opencode/package.json": false,
		"eslint.config.mjs": false, "web/prettier.config.js": false, "a.code-workspace": false, "flake.nix": false, "web/tailwind.config.ts": false, "mise.local.toml": false, "QWEN.md": false, "lint-staged.config.cjs": false,
		"appveyor.yml": false, "ci/azure-pipelines.yaml": false, "Jenkinsfile": false, "action.yml": false, "rust-toolchain.toml": false, "git-hooks/pre-commit": false, "sitecustomize.py": false,
		"go.mod": true, "Cargo.toml": true, "tsconfig.json": true, "vite.config.ts": true, "src/hooks/use.ts": true, ".github/workflows/a.yml": false, ".github/ISSUE_TEMPLATE/bug.md": true,
		".vscode/tasks.json": false, ".mcp.json": false, "mcp.json": false, "memory/a.md": false, "USER.md": false, ".env": false, "deploy/prod.pem": false, "config/secrets.yaml": false,
		"node_modules/.bin/tsc": true, "web/node_modules/.package-lock.json": true, ".bin/x": false, ".venv/lib/a.py": false, ".mypy_cache/x/a.json": true, ".next/server/a.js": true, ".next": false,
		".npmrc": false, ".newtool/x": false, "build.rs": false, "tools/lefthook.yml": false,
		".git/index": true, ".git/hooks/pre-commit": false, ".git/config": false,
	} {
		if why := k.Refuses(p, false); (why == "") != want {
			t.Errorf("%s: %q", p, why)
		}
		instructs, protected, _ := c.Guards("/p/"+p, false, catalog.Places{Project: "/p", Home: "/h"})
		if want && (instructs && !slices.Contains([]string{"package.json", "sub/Makefile", "Dockerfile"}, p) || protected) && p != ".git/index" {
			t.Errorf("%s is kept, and the catalog guards it", p)
		}
	}
}

func TestHidden(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "home", "p")
	for _, name := range []string{".env", ".env.local", "deploy/prod/.env.production", "certs/server.key", "main.go", ".env.example", "real/env.txt"} {
		at := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("K=v"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"sub.env": "real/env.txt", "out.env": "/etc/hostname"} {
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	at := catalog.Places{Project: project, Home: filepath.Join(root, "home")}
	s, err := boxspec.For(shipped(t), at, workspace.New(workspace.Options{}), filepath.Join(root, "box"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".env", ".env.local", "certs/server.key", "deploy/prod/.env.production", "real/env.txt"}
	for _, name := range []string{"**/.env*", "**/*.key", "**/id_ed25519"} {
		if !slices.Contains(s.Secret, name) {
			t.Errorf("a box does not look for %s", name)
		}
	}
	if !slices.Equal(s.Hidden, want) || s.Project != project || s.Home != at.Home {
		t.Errorf("%q", s.Hidden)
	}
}

type disk artifact.Hoard

func (d disk) Secrets(artifact.Search) artifact.Hoard { return artifact.Hoard(d) }

// A project that could not be searched completely gets no box.
func TestUnseen(t *testing.T) {
	at := catalog.Places{Project: "/p", Home: "/h"}
	if _, err := boxspec.For(shipped(t), at, disk{}, "/b"); !errors.Is(err, boxspec.ErrUnseen) {
		t.Errorf("%v", err)
	}
	many := disk{Whole: true, Files: make([]artifact.Keeper, 1001)}
	if _, err := boxspec.For(shipped(t), at, many, "/b"); err == nil {
		t.Error("more files are hidden than a box can")
	}
}
