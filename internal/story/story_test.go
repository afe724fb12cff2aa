package story_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/story"
)

var update = flag.Bool("update", false, "rewrite the journal of every story")

const stories = "../../stories"

// TestStories plays every story and compares both the answers and the journal.
func TestStories(t *testing.T) {
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(stories, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".txtar" {
			return err
		}
		if n++; testing.Short() && n%8 != 0 {
			return nil // the race detector has nothing new to see in others
		}
		t.Run(strings.TrimPrefix(path, stories+"/"), func(t *testing.T) {
			t.Parallel()
			playFile(t, path, shipped)
		})
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d stories, %v", n, err)
	}
}

func playFile(t *testing.T, path string, shipped *catalog.Catalog) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	res, err := story.Play(path, data, shipped)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range res.Mistakes {
		t.Errorf("line %d: %s", m.Line, m)
	}
	switch {
	case res.Journal == "": // the rules were refused
	case *update:
		if err := os.WriteFile(path, story.WithJournal(data, res.Journal), 0o644); err != nil {
			t.Fatal(err)
		}
	case !res.HasJournal:
		t.Error("the story has no journal; run with -update and read what was added")
	case res.Differs:
		t.Errorf("the journal is not as written down; run with -update and read the diff. got:\n%s", res.Journal)
	}
	if res.Checks == 0 {
		t.Error("the story expects nothing, so it cannot fail")
	}
	if story.Title(data) == "" {
		t.Error("the story does not say what it shows")
	}
}
