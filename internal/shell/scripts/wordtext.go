package scripts

import "strings"

// NamesFile reports whether a value begins like a path or is a file URL.
func NamesFile(v string) bool {
	return strings.HasPrefix(strings.ToLower(v), "file:") || v != "" && strings.IndexByte("/~.\\", v[0]) >= 0
}

// FilePath returns the path of a file URL. Other values are returned as they are.
func FilePath(v string) string {
	if len(v) < 5 || !strings.EqualFold(v[:5], "file:") {
		return v
	}
	rest := v[5:]
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		rest = after
		if i := strings.IndexByte(after, '/'); i >= 0 {
			rest = after[i:]
		}
	}
	return rest
}

// Repository reports whether a word is an address or a folder, not a remote or «branch:branch».
func Repository(t string) bool {
	host, file, ok := strings.Cut(t, ":")
	return NamesFile(t) || strings.Contains(t, "://") || strings.Contains(t, "::") || ok && (strings.ContainsAny(host, "@.") || strings.ContainsAny(file, "/~.") && !strings.HasPrefix(file, "refs/") && !strings.Contains(host, "/"))
}

// Descriptor reports whether a text is the number of an open file, or empty. It may end with «-».
func Descriptor(text string) bool {
	text = strings.TrimSuffix(text, "-")
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// Below reports whether p is a folder or is inside it.
func Below(p, folder string) bool {
	return p == folder || folder != "" && strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// HasLetter reports whether a group of short options contains one of these letters.
func HasLetter(option, letters string) bool {
	for i := 1; i < len(option); i++ {
		for k := range len(letters) {
			if option[i] == letters[k] {
				return true
			}
		}
	}
	return false
}

// Nesting returns roughly the greatest number of open brackets.
func Nesting(line string) int {
	most, open := 0, 0
	for i := range len(line) {
		switch line[i] {
		case '(', '{', '[':
			open++
			most = max(most, open)
		case ')', '}', ']':
			open = max(0, open-1)
		}
	}
	return most
}
