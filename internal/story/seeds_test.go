package story_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayMiss is how many rows of the page may be part or missing. It may only shrink.
const mayMiss = 132

// docs/reference/seeds.md has a row for each behaviour of the seeds. What it calls
// present or different is shown by stories, tests and decisions that exist, and the
// counts above each table are those of its rows.
func TestSeeds(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "reference", "seeds.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| ([0-4]\.\d\d+) \| (.+) \| (\w+) \| (.+) \|$`)
	all := map[string]int{}
	var seen []string
	for section := range strings.SplitSeq(string(text), "\n## Seed ") {
		here, rows := map[string]int{}, 0
		for line := range strings.Lines(section) {
			m := row.FindStringSubmatch(strings.TrimSpace(line))
			if m == nil {
				continue
			}
			id, state, proof := m[1], m[3], m[4]
			if rows++; slices.Contains(seen, id) {
				t.Errorf("%s: two rows", id)
			}
			seen = append(seen, id)
			here[state]++
			all[state]++
			if why := shown(root, state, proof); why != "" {
				t.Errorf("%s: %s", id, why)
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
			t.Errorf("seed %.1s: want %q above the table", section, want)
		}
	}
	if len(seen) < 590 || all["part"]+all["missing"] > mayMiss {
		t.Errorf("%d rows, %v: at least 590, and at most %d part or missing", len(seen), all, mayMiss)
	}
	t.Logf("%d rows: %v", len(seen), all)
}

// shown says why a row is not shown by what it names, or nothing.
func shown(root, state, proof string) string {
	switch state {
	case "part", "missing":
		return ""
	case "present", "different":
	default:
		return "unknown state " + state
	}
	proofs := 0
	for one := range strings.SplitSeq(proof, "; ") {
		f := strings.Fields(one)
		switch {
		case len(f) == 2 && f[0] == "story":
			if _, err := os.Stat(filepath.Join(root, "stories", f[1]+".txtar")); err != nil {
				return "there is no story " + f[1]
			}
		case len(f) == 2 && f[0] == "decision":
			if found, err := filepath.Glob(filepath.Join(root, "docs", "decisions", f[1]+"-*.md")); err != nil || len(found) != 1 {
				return "there is no decision " + f[1]
			}
		case len(f) == 3 && f[0] == "test":
			if !hasTest(filepath.Join(root, f[1]), f[2]) {
				return fmt.Sprintf("there is no test %s in %s", f[2], f[1])
			}
		default:
			return "this is no proof: " + one
		}
		proofs++
	}
	if proofs == 0 {
		return "it names no proof"
	}
	return ""
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
