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

// docs/reference/threats.md has a row for each threat of OpenClaw's model. If a row says that a
// threat is met, fully or in part, stories that are played here show it.
func TestThreats(t *testing.T) {
	t.Parallel() // after TestStories, as TestSeeds
	const page = "docs/reference/threats.md"
	text, err := os.ReadFile(filepath.Join("..", "..", page))
	if err != nil {
		t.Fatal(err)
	}
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`^\| (T-[A-Z]+-\d{3}) \| .+ \| (met|part|not ours) \| (.+) \|$`)
	named := regexp.MustCompile(`story ((?:seeds|design)/[a-z0-9-]+)`)
	states, at := map[string]int{}, 0
	var seen []string
	for line := range strings.Lines(string(text)) {
		at++
		m := row.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			if strings.HasPrefix(line, "| T-") {
				t.Errorf("%s:%d: this is no row: write «| T-NAME-000 | threat | met, part or not ours | shown by |»", page, at)
			}
			continue
		}
		if slices.Contains(seen, m[1]) {
			t.Errorf("%s:%d: %s is there twice", page, at, m[1])
		}
		seen = append(seen, m[1])
		states[m[2]]++
		proofs := named.FindAllStringSubmatch(m[3], -1)
		if (len(proofs) == 0) != (m[2] == "not ours") {
			t.Errorf("%s:%d: %s: what is met, or in part, names stories, and what is not ours names none", page, at, m[1])
		}
		for _, p := range proofs {
			if why := storyShows(p[1], shipped); why != "" {
				t.Errorf("%s:%d: %s: %s", page, at, m[1], why)
			}
		}
	}
	counts := fmt.Sprintf("\n%d threats: %d met, %d part, %d not ours.\n", len(seen), states["met"], states["part"], states["not ours"])
	if len(seen) != 38 || !strings.Contains(string(text), counts) {
		t.Errorf("%s: there are 38 threats; write %q above the table", page, counts)
	}
}
