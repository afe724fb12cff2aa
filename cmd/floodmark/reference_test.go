package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
)

//go:generate go test . -run ^TestReference$ -update

// referenceDir is the folder with the pages of the reference.
const referenceDir = "../../docs/reference/cli"

// TestReference compares the pages with the commands. With -update it writes the pages.
func TestReference(t *testing.T) {
	want := map[string]string{}
	walk(newRoot(&cli.Console{}), func(cmd *cobra.Command) { want[pageName(cmd)] = page(cmd) })
	if *update {
		writePages(t, want)
	}
	entries, err := os.ReadDir(referenceDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := want[e.Name()]; !ok {
			t.Errorf("%s is about no command; run go generate", e.Name())
		}
	}
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(referenceDir, name))
		if err != nil || !bytes.Equal(got, []byte(text)) {
			t.Errorf("%s is not what the command says; run go generate", name)
		}
	}
}

func writePages(t *testing.T, pages map[string]string) {
	t.Helper()
	if err := os.RemoveAll(referenceDir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(referenceDir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(referenceDir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEveryCommandHelps checks that the help of each command has all its parts.
func TestEveryCommandHelps(t *testing.T) {
	walk(newRoot(&cli.Console{}), func(cmd *cobra.Command) {
		text := helpText(cmd, cli.Style{})
		for _, part := range []string{"Usage\n", "Examples\n", "Exit codes\n", "--help"} {
			if !strings.Contains(text, part) {
				t.Errorf("the help of %q has no part %q", cmd.CommandPath(), part)
			}
		}
		for line := range strings.Lines(text) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 {
				t.Errorf("the help of %q has a line of %d characters: %s", cmd.CommandPath(), n, line)
			}
		}
		if strings.HasSuffix(cmd.Short, ".") || cmd.Short == "" {
			t.Errorf("the short help of %q is empty or ends with a full stop", cmd.CommandPath())
		}
	})
}

// TestFewCommands keeps the number of top commands small. Other commands are nested. Commands that
// are not listed are for programs, for people's habits, or to name the new place of an old command.
func TestFewCommands(t *testing.T) {
	var listed, hidden []string
	for _, cmd := range newRoot(&cli.Console{}).Commands() {
		switch {
		case cmd.IsAvailableCommand():
			listed = append(listed, cmd.Name())
		case !cmd.DisableFlagParsing:
			hidden = append(hidden, cmd.Name())
		}
	}
	if len(listed) > 20 {
		t.Errorf("%d commands, at most 20: %v", len(listed), listed)
	}
	if want := []string{"help", "serve", "version"}; !slices.Equal(hidden, want) {
		t.Errorf("not listed are %v, want %v", hidden, want)
	}
}

// TestOldNames checks that the command which each old name points to exists.
func TestOldNames(t *testing.T) {
	root, old := newRoot(&cli.Console{}), 0
	for _, cmd := range root.Commands() {
		if !cmd.DisableFlagParsing {
			continue
		}
		old++
		_, now, _ := strings.Cut(cmd.RunE(cmd, nil).Error(), "called «floodmark ")
		now, _, _ = strings.Cut(now, "»")
		found, rest, err := root.Find(strings.Fields(now))
		if err != nil || len(rest) > 0 || found.DisableFlagParsing || found == root {
			t.Errorf("%s leads to %q: %v %v", cmd.Name(), now, rest, err)
		}
	}
	if old == 0 {
		t.Error("no old name is known")
	}
}

// walk visits every command a person can see.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			walk(sub, visit)
		}
	}
}

func pageName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".md"
}

// page returns the reference page of a command, made of the same parts as its help.
func page(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- Written by go generate from cmd/floodmark. Change the command, not this page. -->\n\n# %s\n\n%s.\n", cmd.CommandPath(), cmd.Short)
	if cmd.Long != "" {
		b.WriteString("\n## Description\n\n" + paragraphs(cmd.Long) + "\n")
	}
	for _, s := range sections(cmd) {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		switch s.title {
		case "Commands":
			b.WriteString(commandTable(cmd))
		case "Exit codes":
			b.WriteString("| Code | Meaning |\n|---|---|\n")
			for line := range strings.SplitSeq(s.text, "\n") {
				code, meaning, _ := strings.Cut(line, "  ")
				fmt.Fprintf(&b, "| %s | %s |\n", code, meaning)
			}
		default:
			b.WriteString("```text\n" + s.text + "\n```\n")
		}
	}
	if cmd.HasParent() {
		fmt.Fprintf(&b, "\n## See also\n\n- [%s](%s): %s\n", cmd.Parent().CommandPath(), pageName(cmd.Parent()), lowerFirst(cmd.Parent().Short))
	}
	return b.String()
}

// paragraphs returns a text as Markdown. Indented paragraphs become blocks of code.
func paragraphs(long string) string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(long), "\n\n") {
		if strings.HasPrefix(p, "\t") || strings.HasPrefix(p, "  ") {
			p = "```sh\n" + strings.TrimSpace(p) + "\n```"
		}
		out = append(out, escapeCell(p))
	}
	return strings.Join(out, "\n\n")
}

// escapeCell returns a text with Markdown's special characters escaped, unless it is a block of
// code.
func escapeCell(text string) string {
	if strings.HasPrefix(text, "```") {
		return text
	}
	return strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(text)
}

func commandTable(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString("| Command | What it does |\n|---|---|\n")
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(&b, "| [%s](%s) | %s |\n", sub.CommandPath(), pageName(sub), sub.Short)
		}
	}
	return b.String()
}
