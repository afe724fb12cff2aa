package hook

import (
	"net/url"
	"path"
	"strings"
)

// The limits for [Leaf.Tails].
const (
	maxTailed = 4096 // bytes of a value
	maxNamed  = 256  // bytes of an argument's name
	maxTails  = 4    // ends of one value or name
)

// Tails looks for paths in a leaf's value and in its argument's name. It returns each path from its
// first file or folder whose name begins with a dot to its end. Escapes of URLs and backslashes are
// resolved first.
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
