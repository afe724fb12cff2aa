package floodmark_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Pages are checked like code: a broken link is a bug.

func TestPagesLinkToSomething(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for page, text := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(withoutCode(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			to := page
			if target != "" {
				to = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: nothing at %s", page, m[1])
				continue
			}
			if anchor != "" && !slices.Contains(anchors(t, to), anchor) {
				t.Errorf("%s: no heading for %s", page, m[1])
			}
		}
	}
}

func TestPagesHaveOneTitle(t *testing.T) {
	for page, text := range pages(t) {
		titles := 0
		for line := range strings.Lines(withoutCode(text)) {
			if strings.HasPrefix(line, "# ") {
				titles++
			}
		}
		// A comment that the page is generated may come first.
		first := strings.TrimSpace(regexp.MustCompile(`(?s)^<!--.*?-->`).ReplaceAllString(text, ""))
		if titles != 1 || !strings.HasPrefix(first, "# ") {
			t.Errorf("%s: %d titles, want one, at the top", page, titles)
		}
	}
}

// maxDecisionWords is the most words of a page of decisions, which is read without a break.
const maxDecisionWords = 1500

func TestPagesListEveryDecision(t *testing.T) {
	const dir = "docs/decisions"
	index, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "README.md" {
			continue
		}
		if !strings.Contains(string(index), "]("+e.Name()+")") {
			t.Errorf("%s/README.md does not list %s", dir, e.Name())
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Fields(string(text))); n > maxDecisionWords {
			t.Errorf("%s/%s has %d words, at most %d: drop what is history or plain in code", dir, e.Name(), n, maxDecisionWords)
		}
		for _, part := range []string{"## Context", "## Choice", "## Tried instead", "## Price", "## What would change our mind"} {
			if !strings.Contains(string(text), "\n"+part+"\n") {
				t.Errorf("%s/%s has no %q", dir, e.Name(), part)
			}
		}
	}
}

// pages returns every Markdown page of the tree.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(path) == ".md":
			text, err := os.ReadFile(path)
			found[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// withoutCode blanks fenced code, where brackets are not links.
func withoutCode(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		} else if !fenced {
			b.WriteString(line)
		}
	}
	return b.String()
}

// anchors returns what the headings of a page can be linked by.
func anchors(t *testing.T, page string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	drop := regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	for line := range strings.Lines(withoutCode(string(text))) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			slug := drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			found = append(found, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return found
}
