package filenames

import (
	"slices"
	"strconv"
	"strings"
)

// OfPatch returns the paths that a patch names, as written in the patch.
func OfPatch(text string) []string {
	ofAgents := []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}
	ofGit := []string{"+++ ", "--- ", "rename from ", "rename to ", "copy from ", "copy to "}
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line) // as programs that apply patches do
		for _, head := range slices.Concat(ofAgents, ofGit) {
			name, ok := strings.CutPrefix(line, head)
			if !ok || name == "/dev/null" {
				continue
			}
			if head == "+++ " || head == "--- " {
				name, _, _ = strings.Cut(name, "\t")
			}
			if plain, err := strconv.Unquote(name); err == nil { // "b/\303\244.txt"
				name = plain
			}
			if head == "+++ " || head == "--- " {
				if len(name) > 2 && (name[:2] == "a/" || name[:2] == "b/") {
					name = name[2:]
				}
			}
			names = append(names, name)
		}
	}
	return names
}
