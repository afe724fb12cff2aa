package story_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
			return nil // other stories show nothing new to the race detector
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

// ended maps each story that TestStories played to what is wrong with it.
var ended sync.Map

func playFile(t *testing.T, path string, shipped *catalog.Catalog) {
	t.Helper()
	wrong := play(path, shipped)
	ended.Store(filepath.Clean(path), wrong)
	for _, w := range wrong {
		t.Error(w)
	}
}

// play plays a story and returns what is wrong with it.
func play(path string, shipped *catalog.Catalog) []string {
	data, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}
	}
	res, err := story.Play(path, data, shipped)
	if err != nil {
		return []string{err.Error()}
	}
	answersOnly := strings.Contains(path, "/redteam/")
	var wrong []string
	for _, m := range res.Mistakes {
		wrong = append(wrong, fmt.Sprintf("line %d: %s", m.Line, m))
	}
	switch {
	case res.Journal == "": // the rules were refused
	case *update && !answersOnly:
		if err := os.WriteFile(path, story.WithJournal(data, res.Journal), 0o644); err != nil {
			wrong = append(wrong, err.Error())
		}
	case answersOnly && !res.HasJournal:
	case !res.HasJournal:
		wrong = append(wrong, "the story has no journal; run with -update and read what was added")
	case res.Differs:
		wrong = append(wrong, "the journal is not as written down; run with -update and read the diff. got:\n"+res.Journal)
	}
	if res.Checks == 0 {
		wrong = append(wrong, "the story expects nothing, so it cannot fail")
	}
	if story.Title(data) == "" {
		wrong = append(wrong, "the story does not say what it shows")
	}
	return wrong
}
