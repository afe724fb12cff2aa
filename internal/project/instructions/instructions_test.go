package instructions

import (
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// Whether a file instructs an agent depends on its place, as seen from where the agent works.
func TestReads(t *testing.T) {
	const home = "/home/Ann"
	for _, c := range []struct {
		agent, begins, passes, name string
		want                        bool
	}{
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/app/agents.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/app/deep/er/agents.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/agents.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/claude.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/agents.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/.claude/rules/x.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/.github/copilot-instructions.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/.venv/agents.md", false},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/app2/agents.md", false},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/lib/.mcp.json", false},
		{"pi", "/home/Ann/src/app", "", "/home/ben/agents.md", false},
		{"pi", "/home/Ann/src/app", "", "/home/ann/src/app/.git/hooks/pre-commit", false},
		{"pi", "/home/Ann/src/app", "", "/home/ann/.pi/agent/agents.md", true},
		{"pi", "/work", "", "/home/ann/.pi/agent/agents.md", true},
		{"pi", "/work", "", "/home/ann/.codex/agents.md", false},
		{"pi", "/work", "", "/home/ann/.codex/skills/x/skill.md", true},
		{"pi", "/home/Ann/src/app", "", "/home/ann/.codex/agents.md", false},
		{"pi", "/home/Ann/src/app", "", "/home/ann/.config/opencode/agents.md", false},
		{"opencode", "/work", "", "/home/ann/.config/opencode/agents.md", true},
		{"opencode", "/work", "", "/home/ann/.config/other/agents.md", false},
		{"openclaw", "/work", "", "/home/ann/.openclaw-dev/skills/x/skill.md", true},
		{"codex", "/work", "", "/home/ann/.codex/agents.md", true},
		{"codex", "/work", "", "/home/ann/.codexes/agents.md", false},
		{"codex", "/work", "", "/home/ann/.codex/worktrees/1/agents.md", false},
		{"codex", "/home/Ann/.codex/worktrees/1", "", "/home/ann/.codex/worktrees/1/agents.md", true},
		{"codex", "/work", "", "/home/ann/moved/agents.md", true},
		{"codex", "/work", "", "/home/ann/one.md", true},
		{"somebody", "/work", "", "/home/ann/.codex/agents.md", true},
		{"somebody", "/work", "", "/home/ann/.gemini/gemini.md", true},
		{"", "/work", "", "/home/ann/.gemini/gemini.md", true},
		{"somebody", "/work", "", "/home/ann/.bashrc", false},
		{"pi", "", "/other/src/a.go", "/other/src/agents.md", true},
		{"pi", "", "/other/src/a.go", "/other/agents.md", true},
		{"pi", "", "/other/src/a.go", "/other/lib/agents.md", false},
		{"pi", "", "/other", "/other/agents.md", false},
		{"pi", "", "/other/*", "/other/agents.md", true},
		{"pi", "", "/other/*", "/other/deep/agents.md", false},
	} {
		r := New(c.agent, home, []string{"**/AGENTS.md", "~/bin/**", "/etc/**", "/home/Ann/moved/*", "/home/Ann/One.md"})
		r.Begin(c.begins)
		r.Pass(c.begins, c.passes)
		if got := r.reads(c.name); got != c.want {
			t.Errorf("%s in %s%s: %s: %v", c.agent, c.begins, c.passes, c.name, got)
		}
	}
}

// Commits instruct only agents that show them, and only in the repository in which the agent works.
func TestShows(t *testing.T) {
	for _, c := range []struct {
		agent, begins, root, name string
		want                      bool
	}{
		{"claude-code", "/src/app", "/src/app", "/src/app/.git/head", true},
		{"claude-code", "/src/app/web", "/src/app", "/src/app/api/.git/head", true},
		{"claude-code", "/src/app", "/src/app", "/src/app/.git/refs", true},
		{"claude-code", "/src/app", "/src/app", "/src/app/.git/config", false},
		{"claude-code", "/src/app", "/src/app", "/src/lib/.git/head", false},
		{"claude-code", "/src/app", "/src/app", "/src/.git/head", false},
		{"claude-code", "/src/app", "", "/src/app/.git/head", true},
		{"claude-code", "/src/app", "", "/src/.git/head", true},
		{"claude-code", "/src/app", "-", "/src/app/x/.git/head", false},
		{"claude-code", "/src/app", "-", "/src/.git/head", false},
		{"claude-code", "/src/app", "-", "/src/app/.git/head", true},
		{"somebody", "/src/app", "/src/app", "/src/app/.git/head", true},
		{"pi", "/src/app", "/src/app", "/src/app/.git/head", false},
		{"codex", "/src/app", "", "/src/app/.git/head", false},
	} {
		r := New(c.agent, "/home/ann", nil)
		r.Begin(c.begins)
		r.Pass(c.begins)
		switch c.root {
		case "":
		case "-":
			r.In()
		default:
			r.In(c.root)
		}
		if got := r.shows(c.name); got != c.want {
			t.Errorf("%s in %s of %s: %s: %v", c.agent, c.begins, c.root, c.name, got)
		}
	}
}

type links map[string]map[string]string

func (l links) Links(folder string, _ bool) map[string]string { return l[folder] }

// Through a link in a place where the agent looks, it reads a file with any name.
func TestLoads(t *testing.T) {
	left := []string{"/dot/claude.txt", "/dot/skills/x/run.md", "/dot/other.md", "/src/app/agents.md", "/src/app/notes.md"}
	w := World{
		Below: func(folder string) (refs []floodmark.ArtifactRef) {
			for _, name := range left {
				if strings.HasPrefix(name, folder+"/") {
					refs = append(refs, floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: name})
				}
			}
			return refs
		},
		Instructs: func(p string) bool {
			return strings.HasSuffix(catalog.FoldPath(p), "s.md") && !strings.HasSuffix(p, "notes.md") || strings.Contains(p, "/.claude/")
		},
		Disk: links{
			"/home/ann/.claude": {"/home/ann/.claude/CLAUDE.md": "/dot/Claude.txt", "/home/ann/.claude/skills/x": "/dot/skills/x"},
			"/src/app":          {"/src/app/README": "/dot/other.md"},
		},
	}
	r := New("claude-code", "/home/ann", nil)
	r.Begin("/src/app")
	r.Pass("/src/app")
	var names []string
	for _, ref := range r.Loads(w) {
		if slices.Contains(left, ref.Name) && ref.Kind == floodmark.FileArtifact {
			names = append(names, ref.Name)
		}
	}
	if want := []string{"/dot/claude.txt", "/dot/skills/x/run.md", "/src/app/agents.md"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if w.Disk = nil; len(r.Loads(w)) != 1 {
		t.Errorf("%v", r.Loads(w))
	}
}
