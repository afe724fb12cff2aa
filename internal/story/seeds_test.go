package story_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/floodmark/floodmark/catalog"
)

const page = "docs/reference/seeds.md"

// mayMiss is how many rows of the page may be part or missing. It may only shrink.
const mayMiss = 0

// docs/reference/seeds.md has a row for each behaviour of the seeds. A row that is called present
// or different names what shows it: a story that is played here, a test that tools/seeds runs, or a
// decision that must exist. The counts above each table are those of its rows.
func TestSeeds(t *testing.T) {
	t.Parallel() // so it continues after TestStories, and plays no story again
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "reference", "seeds.md"))
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| ([0-4]\.\d\d+) \| (.+) \| (\w+) \| (.+) \|$`)
	likeRow := regexp.MustCompile(`^\|\s*\d+\.\d`)
	all, at := map[string]int{}, 0
	var seen []string
	for section := range strings.SplitSeq(string(text), "\n## Seed ") {
		here, rows := map[string]int{}, 0
		for line := range strings.SplitSeq(section, "\n") {
			at++
			m := row.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				if likeRow.MatchString(line) {
					t.Errorf("%s:%d: this is no row, or it names no proof: write «| 0.00 | behaviour | state | proof |»", page, at)
				}
				continue
			}
			id, state, proof := m[1], m[3], m[4]
			if rows++; slices.Contains(seen, id) {
				t.Errorf("%s:%d: row %s is there twice: give this one a number of its own", page, at, id)
			}
			seen = append(seen, id)
			here[state]++
			all[state]++
			if why := shown(root, state, proof, shipped); why != "" {
				t.Errorf("%s:%d: row %s: %s", page, at, id, why)
			}
		}
		if rows == 0 {
			continue
		}
		var parts []string
		for _, state := range []string{"present", "different", "part", "missing"} {
			if here[state] > 0 {
				parts = append(parts, fmt.Sprint(here[state], " ", state))
			}
		}
		if want := fmt.Sprintf("\n%d rows: %s.\n", rows, strings.Join(parts, ", ")); !strings.Contains(section, want) {
			t.Errorf("%s: seed %.1s: write %q above the table", page, section, want)
		}
	}
	if len(seen) < 590 || all["part"]+all["missing"] > mayMiss {
		t.Errorf("%d rows, %v: at least 590, and at most %d part or missing", len(seen), all, mayMiss)
	}
	t.Logf("%d rows: %v", len(seen), all)
}

// shown returns why a row is not shown by what it names, and what to do about it; empty if it is
// shown.
func shown(root, state, proof string, shipped *catalog.Catalog) string {
	switch state {
	case "part", "missing":
		return ""
	case "present", "different":
	default:
		return fmt.Sprintf("there is no state %q: write present, different, part or missing", state)
	}
	plays := false
	for one := range strings.SplitSeq(proof, "; ") {
		f := strings.Fields(one)
		switch {
		case len(f) == 2 && f[0] == "story":
			if why := storyShows(f[1], shipped); why != "" {
				return why
			}
			plays = true
		case len(f) == 2 && f[0] == "decision":
			if found, err := filepath.Glob(filepath.Join(root, "docs", "decisions", f[1]+"-*.md")); err != nil || len(found) != 1 {
				return fmt.Sprintf("there is no decision %s: name one of docs/decisions, or write it", f[1])
			}
		case len(f) == 3 && f[0] == "test":
			if !hasTest(filepath.Join(root, f[1]), f[2]) {
				return fmt.Sprintf("there is no test %s in %s: name one that there is, or write it", f[2], f[1])
			}
			plays = true
		default:
			return fmt.Sprintf("%q is no proof: write «story NAME», «test PACKAGE TestName» or «decision 0000», with «; » between them", one)
		}
	}
	if !plays && state == "present" {
		return "what is present is shown by a story or a test, and a decision is neither: name one, or write it"
	}
	return ""
}

// storyShows returns why a story shows nothing; empty if it does. In short mode the story is not
// played.
func storyShows(name string, shipped *catalog.Catalog) string {
	path := filepath.Join(stories, name+".txtar")
	if _, err := os.Stat(path); err != nil {
		return fmt.Sprintf("there is no story %s: name one that there is, or write it", name)
	}
	var wrong []string
	if before, ok := ended.Load(path); ok {
		wrong = before.([]string)
	} else if !testing.Short() {
		wrong = play(path, shipped)
	}
	if len(wrong) == 0 {
		return ""
	}
	return fmt.Sprintf("story %s fails, so it shows nothing: mend the program or the story, or change the row\n%s", name, strings.Join(wrong, "\n"))
}

func hasTest(folder, name string) bool {
	name, _, _ = strings.Cut(name, "/")
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "\nfunc "+name+"(")
	})
}
