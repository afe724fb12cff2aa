package pushdoor

import (
	"slices"
	"strings"
)

// Plain reports a command line that is one plain push and nothing else: of the branch that
// is checked out, or of one that it names, to the usual remote. Nothing in it means
// anything to a shell.
func Plain(line string) (branch string, ok bool) {
	line = strings.TrimSuffix(strings.Trim(line, " \t\n"), " 2>&1")
	words := strings.Fields(line)
	fit := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r)
	}
	if strings.ContainsAny(line, "\n\r\v\f") || len(words) < 2 || words[0] != "git" || words[1] != "push" {
		return "", false
	}
	var operands []string
	for _, w := range words[2:] {
		switch {
		case strings.ContainsFunc(w, func(r rune) bool { return !fit(r) }):
			return "", false
		case slices.Contains([]string{"-q", "-u", "-v", "--quiet", "--set-upstream", "--verbose", "--porcelain", "--progress"}, w):
		case w[0] == '-':
			return "", false
		default:
			operands = append(operands, w)
		}
	}
	if len(operands) > 2 || len(operands) > 0 && operands[0] != "origin" {
		return "", false
	}
	if len(operands) < 2 || operands[1] == "HEAD" {
		return "", true
	}
	return operands[1], true
}
