package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/internal/cli"
)

// TestGuides runs every command of every guide and of the
// language of stories. In a guide,
//
//	```yaml NAME     a fence with a name is a file the reader saves
//	```console       a line after «$ » is run; what follows must come out,
//	                 where «...» stands for anything; «&» at the end of a
//	                 monitor's command leaves it running until the page ends
//
// and nothing else is run. A guide with no console is a mistake.
func TestGuides(t *testing.T) {
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no guides: %v", err)
	}
	pages = append(pages, "../../docs/reference/stories.md")
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			commands := 0
			dir := t.TempDir()
			for _, program := range []string{cli.HookName, "floodmark"} {
				save(t, filepath.Join(dir, "bin", program), "#!/bin/sh\n")
				if err := os.Chmod(filepath.Join(dir, "bin", program), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range fences(string(text)) {
				kind, name, _ := strings.Cut(f.info, " ")
				switch {
				case f.info == startFence, f.info == newcomerFence: // TestFiveMinutes and TestNewcomer run these
				case kind == "console":
					commands += followGuide(t, dir, f)
				case name != "":
					save(t, filepath.Join(dir, name), f.text)
				}
			}
			if commands == 0 {
				t.Error("no command was run")
			}
		})
	}
}

// startFence is the info of fences whose commands run in one shell at a terminal.
const startFence = "console start"

// newcomerFence is the info of fences whose commands a newcomer types on a fresh machine.
const newcomerFence = "console newcomer"

// A fence is a block of code on a page.
type fence struct {
	info, text string
	line       int
}

func fences(page string) []fence {
	var list []fence
	open := false
	n := 0
	for line := range strings.Lines(page) {
		n++
		info, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && !open:
			list, open = append(list, fence{info: strings.TrimSpace(info), line: n}), true
		case ok:
			open = false
		case open:
			list[len(list)-1].text += line
		}
	}
	return list
}

func save(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// followGuide runs the commands of one console and returns how many.
func followGuide(t *testing.T, dir string, f fence) int {
	t.Helper()
	parts := strings.Split("\n"+strings.ReplaceAll(f.text, "\\\n", ""), "\n$ ")[1:]
	for _, p := range parts {
		command, want, _ := strings.Cut(p, "\n")
		words := split(command)
		if len(words) == 0 || words[0] != "floodmark" {
			t.Fatalf("line %d: not a command of ours: %s", f.line, command)
		}
		var out lockedBuffer
		c := &cli.Console{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Dir: dir,
			Getenv: guideEnvironment(dir), Build: testBuild(), Shipped: shippedOnce,
		}
		if words[len(words)-1] == "&" {
			runBeside(t, c, &out, words[1:len(words)-1])
			continue
		}
		run(t.Context(), c, words[1:])
		if err := sameOutput(strings.TrimSpace(want), strings.TrimSpace(out.String())); err != nil {
			t.Errorf("line %d: %s\n%v", f.line, command, err)
		}
	}
	return len(parts)
}

// guideEnvironment returns an environment with a home in dir and the programs of the guide on PATH.
func guideEnvironment(dir string) func(string) string {
	return func(name string) string {
		return map[string]string{"HOME": filepath.Join(dir, "home"), "PATH": filepath.Join(dir, "bin")}[name]
	}
}

// runBeside runs a monitor until the page ends, and waits until it answers.
func runBeside(t *testing.T, c *cli.Console, out *lockedBuffer, args []string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	over, ended := context.WithCancel(context.Background())
	go func() {
		defer ended()
		run(ctx, c, args)
	}()
	t.Cleanup(func() { stop(); <-over.Done() })
	if !out.until(over, func(text string) bool { return strings.Contains(text, "answers on") }) {
		t.Fatalf("%v does not answer: %s", args, out.String())
	}
}

// split splits a command line into words as a shell does, as far as guides need it. It knows quotes
// of both kinds, without escapes in them.
func split(command string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(command, -1) {
		words = append(words, m[1]+m[2]+m[3])
	}
	return words
}

func sameOutput(want, got string) error {
	pieces := strings.Split(want, "...")
	for i, p := range pieces {
		pieces[i] = regexp.QuoteMeta(p)
	}
	if regexp.MustCompile(`(?s)\A` + strings.Join(pieces, ".*") + `\z`).MatchString(got) {
		return nil
	}
	return fmt.Errorf("want\n%s\ngot\n%s", want, got)
}

func TestGuideNamesOnlyWhatExists(t *testing.T) {
	known := []string{"yaml", "txtar", "console"}
	text, err := os.ReadFile("../../docs/guide/test-your-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fences(string(text)) {
		if kind, _, _ := strings.Cut(f.info, " "); !slices.Contains(known, kind) {
			t.Errorf("line %d: a fence of kind %q is not tested", f.line, kind)
		}
	}
}
