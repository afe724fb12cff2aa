package linetext

import "strings"

// WithLine inserts a line, and a comment above it, below a key of a policy's text. Everything else
// stays as it is, byte for byte. It returns false if the value of the key is on the key's own line;
// a person has to change that. A blank text becomes a new policy.
func WithLine(text, key, line, comment string) (string, bool) {
	if strings.TrimSpace(text) == "" {
		text = "version: 1\n"
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // the part behind the last line break is empty
	at := -1
	for i, l := range lines {
		if strings.HasPrefix(l, key+":") {
			at = i
		}
	}
	put := func(indent string) []string {
		var list []string
		for _, l := range []string{comment, line} {
			if l != "" {
				list = append(list, indent+l+"\n")
			}
		}
		return list
	}
	if at < 0 {
		return text + key + ":\n" + strings.Join(put("  "), ""), true
	}
	if rest, _, _ := strings.Cut(lines[at][len(key)+1:], "#"); strings.TrimSpace(rest) != "" {
		return text, false
	}
	last, indent := at, ""
	for i := at + 1; i < len(lines); i++ {
		body := strings.TrimLeft(lines[i], " ")
		own := strings.TrimSpace(body) != "" && body[0] != '#'
		if own && len(body) == len(lines[i]) && !strings.HasPrefix(body, "- ") {
			break // the next key
		}
		if own {
			if last == at {
				indent = lines[i][:len(lines[i])-len(body)]
			}
			last = i
		}
	}
	if last == at {
		indent = "  "
	}
	return strings.Join(lines[:last+1], "") + strings.Join(put(indent), "") + strings.Join(lines[last+1:], ""), true
}
