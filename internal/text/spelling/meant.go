package spelling

import (
	"slices"
	"strings"
)

// Word returns the word that a person most likely meant: the policies' word for a word of other
// tools, or else the most similar one. It returns false if no word is similar.
func Word(got string, words []string) (string, bool) {
	folded := Fold(got)
	if meant, ok := meant(folded); ok && slices.Contains(words, meant) {
		return meant, true
	}
	best, least := "", 1+max(2, len(folded)/3)
	for _, w := range words {
		if d := Edits(folded, Fold(w)); d < least {
			best, least = w, d
		}
	}
	return best, best != "" && least < len(folded)
}

// Fold returns s in lower case and without the signs between words.
func Fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// meant returns the word that policies use for a word of other tools, which must be folded.
func meant(s string) (string, bool) {
	switch s {
	case "deny", "block", "forbid", "reject", "never", "refuse":
		return "restrict", true
	case "ask", "prompt", "approve", "approval", "question":
		return "confirm", true
	case "permit", "accept", "pass", "yes", "always":
		return "allow", true
	case "review", "check":
		return "audit", true
	case "user", "me":
		return "owner", true
	case "internet", "web", "public":
		return "untrusted", true
	case "policies":
		return "rules", true
	case "read":
		return "observe", true
	case "exec", "execute", "shell":
		return "run", true
	case "delete":
		return "change", true
	case "http", "network":
		return "fetch", true
	}
	return "", false
}

// Either joins words with commas and «or».
func Either(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}
