package provenance

import (
	"slices"
	"strings"
	"unicode"
)

// Clauses parts a message into pieces that each ask for one thing, so that a
// verb licenses only what it stands with: in «find out who A is and write to
// B», writing is licensed to B. A phrase without a verb belongs to the one
// before it («write to B and C»). Where the language is not understood, pieces
// are larger or smaller than they should be; what is licensed then is decided
// by the words that are there.
func Clauses(text string) []string {
	var clauses []string
	from := 0
	for _, p := range phrases(text) {
		if len(clauses) > 0 && !p.sentence && !Asks(text[p.start:p.end]) {
			clauses[len(clauses)-1] = text[from:p.end]
			continue
		}
		from = p.start
		clauses = append(clauses, text[p.start:p.end])
	}
	return clauses
}

// A phrase is a part of a text.
type phrase struct {
	start, end int
	sentence   bool // a sentence with a verb of its own begins here
}

// phrases cuts a text at the ends of sentences and at words that join clauses,
// never inside quotes: what is quoted is one value.
func phrases(text string) []phrase {
	var list []phrase
	from, sentence := 0, true
	cut := func(end, next int, newSentence bool) {
		if part := text[from:end]; strings.TrimSpace(part) != "" {
			list = append(list, phrase{start: from, end: end, sentence: sentence && Asks(part)})
		}
		from, sentence = next, newSentence
	}
	quote := rune(0)
	for i, r := range text {
		switch {
		case quote != 0:
			if r == quote || r == '\n' {
				quote = 0
			}
		case opens(text, i, r) != 0:
			quote = opens(text, i, r)
		case r == '\n' || r == ';':
			cut(i, i+1, true)
		case (r == '.' || r == '!' || r == '?') && (i+1 == len(text) || unicode.IsSpace(rune(text[i+1]))):
			cut(i+1, i+1, true)
		case r == ',' && i+1 < len(text) && text[i+1] == ' ':
			cut(i, i+1, false)
		case r == ' ':
			if n := joint(text[i:]); n > 0 && i >= from {
				cut(i, i+n, false)
			}
		}
	}
	cut(len(text), len(text), true)
	return list
}

// opens returns the closing mark if a quoted string begins here.
func opens(text string, i int, r rune) rune {
	if i > 0 && !unicode.IsSpace(rune(text[i-1])) && text[i-1] != '(' {
		return 0
	}
	switch r {
	case '"', '\'', '`':
		return r
	case '“':
		return '”'
	case '«':
		return '»'
	}
	return 0
}

// joint returns the length of a word that joins clauses, with its blanks.
func joint(text string) int {
	for _, w := range []string{" and then ", " and ", " then ", " but ", " before ", " after "} {
		if len(text) >= len(w) && strings.EqualFold(text[:len(w)], w) {
			return len(w) - 1
		}
	}
	return 0
}

// Asks reports whether a text has a verb of its own among its words.
func Asks(phrase string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(phrase), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' }) {
		if slices.Contains(verbsOfAsking(), w) {
			return true
		}
	}
	return false
}

// verbsOfAsking are the verbs people ask agents with. A verb that is missing
// makes two clauses one, so the list is long.
func verbsOfAsking() []string {
	return []string{
		"accept", "add", "analyse", "analyze", "answer", "append", "approve", "archive", "ask", "assign", "attach", "block", "book",
		"browse", "build", "buy", "calculate", "call", "cancel", "change", "check", "clean", "clear", "click", "clone", "close", "collect",
		"comment", "commit", "compare", "compile", "complete", "compute", "confirm", "copy", "count", "create", "decide", "decline",
		"delete", "deploy", "describe", "download", "draft", "drop", "edit", "email", "e-mail", "enter", "erase", "execute", "explain",
		"export", "extract", "fetch", "fill", "find", "finish", "fix", "follow", "forward", "generate", "get", "give", "go", "help",
		"import", "include", "inform", "insert", "install", "invite", "join", "kick", "leave", "list", "log", "look", "mail", "make",
		"mark", "merge", "message", "modify", "monitor", "move", "notify", "open", "order", "organise", "organize", "pay", "plan", "post",
		"prepare", "print", "publish", "pull", "purchase", "push", "put", "query", "read", "recommend", "record", "refund", "register",
		"reject", "release", "remind", "remove", "rename", "repeat", "replace", "reply", "report", "research", "reschedule", "reserve",
		"respond", "restart", "retrieve", "return", "review", "rewrite", "run", "save", "say", "scan", "schedule", "search", "see",
		"select", "send", "set", "share", "show", "sign", "sort", "start", "stop", "store", "submit", "subscribe", "suggest", "summarise",
		"summarize", "take", "tell", "test", "transfer", "translate", "try", "turn", "unsubscribe", "update", "upgrade", "upload", "use",
		"verify", "view", "visit", "watch", "withdraw", "write",
	}
}
