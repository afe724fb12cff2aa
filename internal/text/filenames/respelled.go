package filenames

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Respelled returns other paths that an agent may open if its model names a path: agents take one
// «@» away, decode «%2E», and read every space of Unicode as a plain one. Some do so only if no file
// has the name as it is written, so both names count.
func Respelled(path string) (others []string) {
	bare := strings.TrimPrefix(strings.TrimSpace(path), "@")
	for _, name := range []string{path, bare} {
		decoded, err := url.PathUnescape(name)
		if err != nil {
			decoded = name
		}
		for _, other := range []string{plainSpaces(name), plainSpaces(decoded)} {
			if other != path && other != "" && !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
	}
	return others
}

// Absolute reports whether a path begins at a root: «/», or a drive such as «C:/».
func Absolute(path string) bool {
	return strings.HasPrefix(path, "/") || len(path) > 2 && path[1] == ':' && path[2] == '/'
}

func plainSpaces(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, s)
}
