package story_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// What the red team's stories achieve today. The first two numbers may only fall, the last may only
// rise.
const (
	holesOpen    = 0   // stories of holes whose last call is allowed without a condition
	holesAllowed = 223 // calls that are allowed in them, with those that prepare the last one
	heldStopped  = 934 // calls in stories of attacks that were stopped, that are not simply allowed
)

// TestRedTeam counts what attackers who had read the source achieved. TestStories plays each of
// these stories; this test compares their answers with the numbers reached before, so that a new
// «allow» in one is noticed.
func TestRedTeam(t *testing.T) {
	t.Parallel()
	answer := regexp.MustCompile(`(?m)^(?:call .* -> ([a-z]+)|expect (no text$|text))`) // no text: the reply goes out as it is
	answers := func(folder string) (lists [][]string) {
		files, err := filepath.Glob(filepath.Join(stories, "redteam", folder, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, m := range answer.FindAllStringSubmatch(string(data), -1) {
				list = append(list, m[1]+m[2])
			}
			if len(list) == 0 {
				t.Errorf("%s: no call in it expects an answer", file)
				continue
			}
			lists = append(lists, list)
		}
		return lists
	}
	free := func(a string) bool { return a == "allow" || a == "no text" }
	open, allowed, stopped := 0, 0, 0
	for i, list := range answers("second") { // none of a later attacker's ends in a yes
		if free(list[len(list)-1]) {
			t.Errorf("second: the last call of story %d is allowed", i)
		}
	}
	holes, held := answers("holes"), answers("held")
	if len(holes) != 147 || len(held) != 854 {
		t.Errorf("%d holes and %d held; there were 147 and 854", len(holes), len(held))
	}
	for _, list := range holes {
		if free(list[len(list)-1]) {
			open++
		}
		for _, a := range list {
			if free(a) {
				allowed++
			}
		}
	}
	for _, list := range held {
		for _, a := range list {
			if !free(a) {
				stopped++
			}
		}
	}
	if open != holesOpen || allowed != holesAllowed || stopped != heldStopped {
		t.Errorf("holes open %d (written down: %d), calls allowed in them %d (%d), calls stopped in those held %d (%d): write down what is better, mend what is worse",
			open, holesOpen, allowed, holesAllowed, stopped, heldStopped)
	}
}
