package hook

import (
	"net/url"
	"path"
	"strings"
)

// The limits for [Leaf.Tails]: the bytes of a value and of a name, and folders of each.
const (
	maxTailed = 4096
	maxNamed  = 256
	maxTails  = 4
)

// Tails are the ends of possible paths in a leaf, or in the name of its argument, in any spelling:
// each from a folder or file on whose name begins with a dot.
func (l Leaf) Tails() []string {
	return append(tails(l.Path, maxNamed), tails(l.Value, maxTailed)...)
}

func tails(text string, most int) (list []string) {
	if len(text) > most || !strings.ContainsAny(text, `/\%.`) {
		return nil
	}
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	text = path.Clean("/" + strings.ReplaceAll(text, `\`, "/"))
	for i := strings.LastIndex(text, "/."); i >= 0 && len(list) < maxTails; i = strings.LastIndex(text[:i], "/.") {
		list = append(list, text[i+1:])
	}
	return list
}
