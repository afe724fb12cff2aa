package filenames

import (
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Respelled returns other paths that an agent may open if its model names a path: agents take one
// «@» away, with the slashes behind it, decode «%2E» before or after they take «..» out, read every
// space of Unicode as a plain one, and take «~» and «file:» for names of folders. Some do so only if
// no file has the name as it is written, so both names count.
func Respelled(name string) (others []string) {
	bare := strings.TrimPrefix(strings.TrimSpace(name), "@")
	spellings := []string{name, bare}
	if strings.HasPrefix(strings.TrimSpace(name), "@") {
		spellings = append(spellings, strings.TrimLeft(bare, `/\`))
	}
	if low := strings.ToLower(bare); strings.HasPrefix(low, "~") || strings.HasPrefix(low, "file:") {
		spellings = append(spellings, "./"+bare)
	}
	for _, as := range spellings {
		for _, other := range []string{as, decoded(as), decodedLate(as)} {
			if other = plainSpaces(other); other != name && other != "" && !slices.Contains(others, other) {
				others = append(others, other)
			}
		}
	}
	return others
}

// Odd reports whether agents may open different files for a name: it is not its own clean path, or
// the end of that, or its folded form differs by more than small letters.
func Odd(name, clean, folded string) bool {
	return !strings.HasSuffix("/"+clean, "/"+name) || folded != strings.ToLower(name)
}

// decodedLate returns a path that is decoded after «..» was taken out.
func decodedLate(name string) string {
	if strings.Contains(name, "%") && !strings.Contains(name, "://") {
		return decoded(path.Clean(name))
	}
	return name
}

// decoded returns a path with «%2E» and the like decoded. What cannot be decoded stays.
func decoded(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
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
