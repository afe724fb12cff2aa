package agents

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Quote returns arguments as one command line that the shells of all supported agents (sh, bash,
// dash, zsh, fish) split into the same arguments. Nothing in them is expanded, and the first is
// taken neither for an alias nor for a shell keyword.
func Quote(argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("there is no command to quote")
	}
	words := make([]string, len(argv))
	for i, arg := range argv {
		if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) {
			return "", errors.New("no shell takes an argument with a NUL in it, and no agent one that is not UTF-8")
		}
		// Backslashes stay outside the quotes: inside quotes only fish interprets them.
		words[i] = "'" + strings.NewReplacer(`'`, `'\''`, `\`, `'\\'`).Replace(arg) + "'"
	}
	return strings.Join(words, " "), nil
}
