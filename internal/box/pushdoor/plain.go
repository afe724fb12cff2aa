package pushdoor

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/shell/gitwords"
)

// Plain reports whether a command line is one plain push and nothing else, to the default remote.
// branch is the branch that the line names, or empty for the checked-out one. Nothing in the line
// may be special to a shell, except a pipe at the end by which models shorten git's output. That
// pipe can be ignored, because the monitor does the push itself and returns one line.
func Plain(line string) (branch string, ok bool) {
	line = strings.TrimSuffix(withoutPipe(strings.TrimRight(strings.Trim(line, " \t\n"), "; ")), " 2>&1")
	words := strings.Fields(line)
	fit := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r)
	}
	if strings.ContainsAny(line, "\n\r\v\f") || len(words) < 2 || words[0] != "git" || words[1] != "push" {
		return "", false
	}
	for _, w := range words[2:] {
		if strings.ContainsFunc(w, func(r rune) bool { return !fit(r) }) {
			return "", false
		}
	}
	return gitwords.PlainPush(words[2:])
}

// withoutPipe returns a line without a last command that only shows a part of the output, such as
// tail.
func withoutPipe(line string) string {
	at := strings.LastIndex(line, " | ")
	if at < 0 {
		return line
	}
	words := strings.Fields(line[at+3:])
	number := func(w string) bool { return w != "" && len(w) <= 4 && strings.Trim(w, "0123456789") == "" }
	switch {
	case len(words) == 1 && slices.Contains([]string{"cat", "tail", "head"}, words[0]):
	case len(words) < 2 || words[0] != "tail" && words[0] != "head":
		return line
	case len(words) == 2 && number(strings.TrimPrefix(strings.TrimPrefix(words[1], "-"), "n")) && words[1][0] == '-':
	case len(words) == 3 && words[1] == "-n" && number(words[2]):
	default:
		return line
	}
	return line[:at]
}
