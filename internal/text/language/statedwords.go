package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// addNames adds the names of a message: every longest run of words with a capital
// letter, and every longest run of words that are not common.
func (s *Stated) addNames(items []item) {
	var run []item
	flush := func() {
		s.addRun(run)
		run = nil
	}
	for i, it := range items {
		word := strings.ToLower(it.Folded)
		switch {
		case !isWordItem(it) || !it.clean:
			flush()
			continue
		case it.apart:
			flush()
		}
		if !tokens.Common(word) || (len(run) > 0 && tokens.Connects(word) && joinsNames(items, i)) {
			run = append(run, it)
		} else {
			flush()
		}
	}
	flush()
}

// joinsNames reports whether the word at i is between two names.
func joinsNames(items []item, i int) bool {
	return i > 0 && i+1 < len(items) && items[i-1].Kind == tokens.Name && items[i+1].Kind == tokens.Name && !items[i+1].apart
}

// addRun adds one run as a whole, and the runs of words with a capital letter in it.
func (s *Stated) addRun(run []item) {
	if len(run) >= 2 {
		s.addName(run)
	}
	from := 0
	for i := 0; i <= len(run); i++ {
		if i < len(run) && (run[i].Kind == tokens.Name || tokens.Connects(strings.ToLower(run[i].Folded))) {
			continue
		}
		names := run[from:i]
		if len(names) > 0 && names[0].Kind == tokens.Name && names[len(names)-1].Kind == tokens.Name {
			s.addName(names)
		}
		from = i + 1
	}
}

func (s *Stated) addName(run []item) {
	if len(run) > maxNameWords {
		return
	}
	words := make([]string, len(run))
	for i, it := range run {
		words[i] = it.raw
	}
	if name := strings.Join(words, " "); len(name) > 1 {
		s.names[name] = struct{}{}
	}
}
