package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
)

// TestPagesNameCommands checks that every command of ours that a page names exists, with the flags
// it has there. Pages of the reference are generated from the commands themselves.
func TestPagesNameCommands(t *testing.T) {
	root := newRoot(&cli.Console{})
	named := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "cli" || d.Name() != ".." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, line := range commandsOn(string(text)) {
			named++
			if why := misnamed(root, strings.Fields(line)); why != "" {
				t.Errorf("%s: floodmark %s: %s", path, line, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if named < 300 {
		t.Errorf("%d commands were found", named)
	}
}

// A page that names a command or flag that does not exist is reported.
func TestPagesNameCommandsBites(t *testing.T) {
	root := newRoot(&cli.Console{})
	for page, want := range map[string]string{
		"say `floodmark forget`":                            "there is no such command",
		"say `floodmark\n  journal eat`":                    "there is no such command",
		"```sh\n$ sudo floodmark journal verify --all\n```": "there is no --all",
		"    floodmark status --every 2s":                   "there is no --every",
		"`floodmark journal forget S`, `floodmark mcp wrap -- npx --any`, `floodmark COMMAND`": "",
	} {
		got := ""
		for _, line := range commandsOn(page) {
			got += misnamed(root, strings.Fields(line))
		}
		if got != want {
			t.Errorf("%q: %q, want %q", page, got, want)
		}
	}
}

// commandsOn returns the text after «floodmark» in all code on a page.
func commandsOn(page string) (found []string) {
	inLine := regexp.MustCompile("`(?:sudo )?floodmark ([^`]+)`")
	begins := regexp.MustCompile(`^(?:\$ )?(?:sudo )?floodmark (.+)`)
	var prose strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(line, "    "):
			if m := begins.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
				found = append(found, m[1])
			}
		default:
			prose.WriteString(line)
		}
	}
	for _, m := range inLine.FindAllStringSubmatch(strings.Join(strings.Fields(prose.String()), " "), -1) {
		found = append(found, m[1])
	}
	return found
}

// misnamed returns what is wrong with the words of a command, or the empty string. The first words
// are names of commands. After the first other word it checks only flags.
func misnamed(cmd *cobra.Command, words []string) string {
	name := regexp.MustCompile(`^[a-z][a-z-]*$`)
	names := true
	for i, w := range words {
		if strings.ContainsAny(w[:1], "#|<>&;") || w == "--" {
			return ""
		}
		if flag, ok := strings.CutPrefix(w, "--"); ok {
			names = false
			flag, _, _ = strings.Cut(flag, "=")
			flag = strings.TrimRight(flag, ".,;:)…")
			if cmd.Flags().Lookup(flag) == nil && cmd.InheritedFlags().Lookup(flag) == nil {
				return "there is no --" + flag
			}
		}
		if !names {
			continue
		}
		if sub, _, err := cmd.Find([]string{w}); err == nil && sub != cmd {
			cmd = sub
			continue
		}
		if name.MatchString(w) && (i == 0 || cmd.HasAvailableSubCommands() && cmd.Annotations[cli.BothKey] == "") {
			return "there is no such command"
		}
		names = false
	}
	return ""
}
