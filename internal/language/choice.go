package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/tokens"
)

// HasChoice reports whether the owner chose a setting by name: the value is the
// word right before what is set, or one letter for it («read
// permission» for permission «r» or «read»).
func (s *Stated) HasChoice(setting, value string) bool {
	value = strings.ToLower(value)
	for _, word := range s.beside[singular(strings.ToLower(setting))] {
		if value == word || len(value) == 1 && strings.HasPrefix(word, value) {
			return true
		}
	}
	return false
}

// addBeside notes which words stand right before each word: common ones choose
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
