package policy

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/spelling"
)

// nearest returns the word a person most likely meant, if any is near.
func nearest(got string, words []string) (string, bool) {
	folded := fold(got)
	if meant, ok := synonym(folded); ok && slices.Contains(words, meant) {
		return meant, true
	}
	best, least := "", 1+max(2, len(folded)/3)
	for _, w := range words {
		if d := spelling.Edits(folded, fold(w)); d < least {
			best, least = w, d
		}
	}
	return best, best != "" && least < len(folded)
}

// fold forgets case and the signs between words.
func fold(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(s))
}

// synonym knows words of other tools.
func synonym(s string) (string, bool) {
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

// oneOf lists words for a hint.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
