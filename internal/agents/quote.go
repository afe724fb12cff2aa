package agents

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Quote writes arguments as one command line, which the shell of every agent we know
// (sh, bash, dash, zsh, fish) takes apart into the same arguments. Nothing in them
// is expanded, and the first is neither an alias nor a word of the shell's own.
func Quote(argv []string) (string, error) {
	if len(argv) == 0 {
		return "", errors.New("there is no command to quote")
	}
	words := make([]string, len(argv))
	for i, arg := range argv {
		if strings.ContainsRune(arg, 0) || !utf8.ValidString(arg) {
			return "", errors.New("no shell takes an argument with a NUL in it, and no agent one that is not UTF-8")
		}
		// Backslashes stand outside the quotes: inside of them fish reads them and
		// the others do not.
		words[i] = "'" + strings.NewReplacer(`'`, `'\''`, `\`, `'\\'`).Replace(arg) + "'"
	}
	return strings.Join(words, " "), nil
}
