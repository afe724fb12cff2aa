package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// HasChoice reports whether the owner chose a value for a setting: the value is the word right
// before the setting, or the first letter of that word («read permission» for permission «r» or
// «read»).
func (s *Stated) HasChoice(setting, value string) bool {
	value = strings.ToLower(value)
	for _, word := range s.beside[singular(strings.ToLower(setting))] {
		if value == word || len(value) == 1 && strings.HasPrefix(word, value) {
			return true
		}
	}
	return false
}

// addBeside notes for each word which words are right before it, except common ones, which choose
// nothing.
func (s *Stated) addBeside(items []item) {
	for i := 1; i < len(items); i++ {
		word, before := items[i], items[i-1]
		if !isWordItem(word) || !isWordItem(before) || word.apart || !word.clean || !before.clean {
			continue
		}
		chosen := strings.ToLower(before.Folded)
		if !tokens.InGroup("chooses-nothing", chosen) && len(s.beside) < maxWords {
			key := singular(strings.ToLower(word.Folded))
			s.beside[key] = append(s.beside[key], chosen)
		}
	}
}
