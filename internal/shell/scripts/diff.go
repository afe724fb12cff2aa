package scripts

import (
	"strconv"
	"strings"
)

// DiffNames returns the names in the headings of a diff as written, in order. A line of a file's
// text that looks like a heading is read as a heading too.
func DiffNames(text string) (names []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, head := range [...]string{"+++ ", "--- ", "*** ", "Index: ", "rename to ", "rename from ", "copy to "} {
			name, ok := strings.CutPrefix(line, head)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(name, "\t")
			if plain, err := strconv.Unquote(name); err == nil { // "b/\303\244.txt"
				name = plain
			}
			if name != "" && name != "/dev/null" {
				names = append(names, name)
			}
		}
	}
	return names
}
