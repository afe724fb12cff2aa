package provenance

import (
	"strings"
	"unicode"
)

// A statedWord is one word the owner typed.
type statedWord struct {
	text    string // in lower case
	negated bool
}

// addNames takes in the names of a message: every run of words with a capital
// letter, and every run of words that are not common, each as long as it goes.
func (s *Stated) addNames(items []item) {
	var run []item
	flush := func() {
		s.addRun(run)
		run = nil
	}
	for i, it := range items {
		word := strings.ToLower(it.folded)
		switch {
		case !isWordItem(it) || !it.clean:
			flush()
			continue
		case it.apart:
			flush()
		}
		if !common(word) || (len(run) > 0 && connects(word) && joinsNames(items, i)) {
			run = append(run, it)
		} else {
			flush()
		}
	}
	flush()
}

// joinsNames reports whether the word at i stands between two names.
func joinsNames(items []item, i int) bool {
	return i > 0 && i+1 < len(items) && items[i-1].kind == Name && items[i+1].kind == Name && !items[i+1].apart
}

// addRun takes in one run as a whole, and the runs of names in it.
func (s *Stated) addRun(run []item) {
	if len(run) >= 2 {
		s.addName(run)
	}
	from := 0
	for i := 0; i <= len(run); i++ {
		if i < len(run) && (run[i].kind == Name || connects(strings.ToLower(run[i].folded))) {
			continue
		}
		names := run[from:i]
		if len(names) > 0 && names[0].kind == Name && names[len(names)-1].kind == Name {
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

// addWords takes in the words of a message for [Stated.Licenses].
func (s *Stated) addWords(items []item) {
	begin := len(s.words)
	for _, it := range items {
		if it.apart && begin < len(s.words) && !it.inner && it.sentence {
			s.words = append(s.words, statedWord{}) // what follows is not negated by what went before
		}
		if !isWordItem(it) {
			continue
		}
		text := strings.ToLower(it.folded)
		s.at[text] = append(s.at[text], len(s.words))
		s.words = append(s.words, statedWord{text: text, negated: s.negates(begin)})
	}
	s.words = append(s.words, statedWord{})
}

// negates reports whether the words before the next one negate it: «don't»,
// «do not ever», and «or» behind a negated word.
func (s *Stated) negates(begin int) bool {
	for i := len(s.words) - 1; i >= begin; i-- {
		switch word := s.words[i].text; word {
		case "to", "ever", "please", "just", "yet", "also", "even", "really", "you", "actually", "from", "any":
			continue
		case "not", "never", "without", "dont", "cannot", "avoid", "stop", "refrain":
			return true
		case "or", "nor":
			return i > begin && s.words[i-1].negated
		default:
			return strings.HasSuffix(word, "n't")
		}
	}
	return false
}

// Licenses reports whether the owner used one of these verbs, in any form, and
// did not forbid it in the same breath.
func (s *Stated) Licenses(verbs []string) bool {
	for _, verb := range verbs {
		first, rest := strings.ToLower(verb), []string(nil)
		if strings.IndexFunc(first, unicode.IsSpace) >= 0 {
			words := strings.Fields(first)
			first, rest = strings.Join(words[:min(1, len(words))], ""), words[min(1, len(words)):]
		}
		if first == "" {
			continue
		}
		var room [32]byte
		for _, form := range inflections(first) {
			word := append(append(append(room[:0], form.stem...), form.doubled...), form.ending...)
			for _, at := range s.at[string(word)] {
				if !s.words[at].negated && s.follows(at+1, rest) {
					return true
				}
			}
		}
	}
	return false
}

func (s *Stated) follows(at int, words []string) bool {
	for i, w := range words {
		if at+i >= len(s.words) || s.words[at+i].text != w {
			return false
		}
	}
	return true
}

// An inflection is one form of a verb, in parts, so that looking one up needs
// no new string.
type inflection struct{ stem, doubled, ending string }

// inflections returns the forms of a regular English verb. The verb itself
// stands for those there are not.
func inflections(verb string) [7]inflection {
	forms := [7]inflection{{stem: verb}, {verb, "", "s"}, {verb, "", "es"}, {verb, "", "ed"}, {verb, "", "ing"}, {stem: verb}, {stem: verb}}
	stem, last := verb[:len(verb)-1], verb[len(verb)-1:]
	switch {
	case last == "e":
		forms[5], forms[6] = inflection{verb, "", "d"}, inflection{stem, "", "ing"}
	case last == "y":
		forms[5], forms[6] = inflection{stem, "", "ies"}, inflection{stem, "", "ied"}
	case !strings.Contains("aiouwx", last):
		forms[5], forms[6] = inflection{verb, last, "ed"}, inflection{verb, last, "ing"}
	}
	return forms
}
