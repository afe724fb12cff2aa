package catalog

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// The limits on a command line that is looked at word by word. Anything longer
// is arbitrary code.
const (
	MaxCommandBytes = 4096
	MaxCommandWords = 128
)

// What the operands of a command are.
const (
	operandsText = "text" // words that name nothing on this machine
	operandsPath = "path"
	operandsURL  = "url"
	operandsNone = "none" // with operands it is another command
)

func kindsOfOperands() []string {
	return []string{operandsText, operandsPath, operandsURL, operandsNone}
}

// commandEntry says what a command is that begins with certain words. Options
// that are not listed make it arbitrary code: «find» reads, «find -exec» runs.
type commandEntry struct {
	words     []string
	effects   []floodmark.Effect
	returns   returns
	operands  string
	flags     string   // letters of short options; "*" for any
	options   []string // whole options, up to «=»; "*" for any
	own       bool     // works on the owner's own service, which is not outside for reads
	protected bool     // starts an agent without its hooks, or touches the monitor
}

// commands finds the entries of a simple command: those that name more words
// first, and of equals the user's.
type commands struct {
	entries []*commandEntry
	byWord  map[string][]*commandEntry
}

func newCommands(entries []*commandEntry) commands {
	c := commands{entries: entries, byWord: map[string][]*commandEntry{}}
	for _, e := range entries {
		c.byWord[e.words[0]] = append(c.byWord[e.words[0]], e)
	}
	for _, list := range c.byWord {
		slices.SortStableFunc(list, func(a, b *commandEntry) int { return len(b.words) - len(a.words) })
	}
	return c
}

// fit reports whether a command begins with the words of e.
func (e *commandEntry) fit(words []string) bool {
	return len(words) >= len(e.words) && slices.Equal(e.words, words[:len(e.words)])
}

// protects reports whether a command begins as one that is protected.
func (c *commands) protects(words []string) bool {
	return slices.ContainsFunc(c.byWord[words[0]], func(e *commandEntry) bool { return e.protected && e.fit(words) })
}

// simple cuts a command line into words if no shell would do anything but run
// it as it stands: no quotes, expansions, lists, pipes or redirections.
func simple(line string, buf []string) ([]string, bool) {
	line = strings.Trim(line, " ")
	if line == "" || len(line) > MaxCommandBytes {
		return nil, false
	}
	words := buf[:0]
	for line != "" {
		var word string
		word, line, _ = strings.Cut(line, " ")
		if word == "" {
			continue
		}
		if !plainWord(word) || len(words) == MaxCommandWords {
			return nil, false
		}
		words = append(words, word)
	}
	return words, true
}

// plainWord reports whether a shell takes w literally, «~/» at its head aside.
func plainWord(w string) bool {
	if w[0] == '=' { // zsh looks up the command of that name
		return false
	}
	if w == "~" {
		return true
	}
	w = strings.TrimPrefix(w, "~/")
	for i := range len(w) {
		c := w[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && strings.IndexByte("-_./=:,@+", c) < 0 {
			return false
		}
	}
	return true
}

// accepts reports whether every option among args is one that leaves e what
// it is.
func (e *commandEntry) accepts(args []string) bool {
	options := true
	for _, a := range args {
		switch {
		case options && a == "--":
			options = false
		case options && len(a) > 1 && a[0] == '-':
			if name, _, _ := strings.Cut(a, "="); !e.allows(name) {
				return false
			}
		case e.operands == operandsNone:
			return false
		}
	}
	return true
}

func (e *commandEntry) allows(option string) bool {
	if slices.Contains(e.options, option) {
		return true
	}
	if strings.HasPrefix(option, "--") {
		return slices.Contains(e.options, "*")
	}
	for i := 1; i < len(option); i++ { // letters may stand together: -la
		c := option[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if (c < '0' || c > '9') && (!letter || e.flags != "*" && strings.IndexByte(e.flags, c) < 0) {
			return false
		}
	}
	return true
}

// pieces cuts a command line roughly at everything a shell could begin a new
// command after. It is for finding what is mentioned, never for allowing.
func pieces(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(";|&\n\r(){}`$", r)
	})
}

// mentions cuts a piece roughly into words, without quotes and redirections.
func mentions(piece string) []string {
	return strings.FieldsFunc(piece, func(r rune) bool {
		return strings.ContainsRune(" \t\"'<>=,\\[]*?", r)
	})
}

// isMonitor reports whether word names one of our own programs.
func isMonitor(word string) bool {
	word = strings.TrimSuffix(strings.ToLower(word), ".exe")
	return word == "floodmark" || word == "floodmark-hook"
}
