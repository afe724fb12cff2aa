package language

import (
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
)

// unglue adds the blank that was forgotten between two sentences: «on their
// sites.Note that …». It does so only before a word that often begins a sentence,
// but never an order: «don't use config.Send» stays one sentence.
func unglue(text string) string {
	var b strings.Builder
	from := 0
	for i := 1; i+1 < len(text); i++ {
		if (text[i] == '.' || text[i] == '!' || text[i] == '?') && tokens.IsLetter(text[i-1]) && beginsSentence(text[i+1:]) {
			b.WriteString(text[from : i+1])
			b.WriteByte(' ')
			from = i + 1
		}
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// beginsSentence reports whether a text begins with a blank behind a word that often
// begins a sentence and asks for nothing.
func beginsSentence(text string) bool {
	word, _, ok := strings.Cut(text[:min(len(text), maxBeginning)], " ")
	return ok && tokens.InGroup("begins-sentence", word)
}

// maxBeginning is the length of the longest such word with its blank.
const maxBeginning = len("However ")
