package provenance

import (
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
	text = typed(text)
	for _, parts := range together(readParts(text)) {
		clauses = append(clauses, text[parts[0].start:parts[len(parts)-1].end])
	}
	return clauses
}

// A phrase is a part of a text.
type phrase struct {
	start, end int
	sentence   bool   // a sentence begins here
	joint      string // what joins it to the phrase before: «and», «,»
}

// phrases cuts a text at the ends of sentences and at words that join clauses,
// never inside quotes: what is quoted is one value.
func phrases(text string) []phrase {
	var list []phrase
	next := phrase{sentence: true}
	// Without a joint a new sentence begins.
	cut := func(end, begin int, joint string) {
		if strings.TrimSpace(text[next.start:end]) != "" {
			next.end = end
			list = append(list, next)
			next.sentence = false
		}
		next.start, next.sentence, next.joint = begin, next.sentence || joint == "", joint
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
			cut(i, i+1, "")
		case (r == '.' || r == '!' || r == '?') && (i+1 == len(text) || unicode.IsSpace(rune(text[i+1]))):
			cut(i+1, i+1, "")
		case r == ',' && i+1 < len(text) && text[i+1] == ' ':
			cut(i, i+1, ",")
		case r == ' ' && i >= next.start:
			if w := joint(text[i:]); w != "" {
				cut(i, i+len(w)-1, strings.TrimSpace(w))
			}
		}
	}
	cut(len(text), len(text), "")
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

// joint returns a word that joins clauses, with its blanks.
func joint(text string) string {
	for _, w := range []string{" and then ", " and ", " then ", " but ", " so ", " before ", " after "} {
		if len(text) >= len(w) && strings.EqualFold(text[:len(w)], w) {
			return w
		}
	}
	return ""
}

// asksWith reports whether people ask agents with this verb. A verb that is
// missing makes two clauses one, so the list is long.
func asksWith(word string) bool {
	switch word {
	case "accept", "add", "adjust", "analyse", "analyze", "announce", "answer", "append", "apply", "approve", "archive", "arrange",
		"ask", "assign", "attach", "block", "book", "browse", "build", "buy", "calculate", "call", "cancel", "cc", "change", "charge",
		"check", "choose", "clean", "clear", "click", "clone", "close", "collect", "comment", "commit", "compare", "compile", "complete",
		"compose", "compute", "confirm", "contact", "copy", "count", "create", "decide", "decline", "delegate", "delete", "deploy",
		"describe", "donate", "download", "draft", "drop", "edit", "email", "e-mail", "enter", "erase", "execute", "explain", "export",
		"extract", "fetch", "fill", "find", "finish", "fix", "follow", "forward", "generate", "get", "give", "go", "grant", "help",
		"hire", "implement", "import", "include", "inform", "insert", "install", "invite", "join", "keep", "kick", "leave", "list", "log",
		"look", "mail", "make", "mark", "merge", "message", "modify", "monitor", "move", "notify", "open", "order", "organise", "organize",
		"pay", "ping", "plan", "post", "postpone", "prepare", "print", "publish", "pull", "purchase", "push", "put", "query", "read",
		"recommend", "record", "refactor", "refund", "register", "reimburse", "reject", "release", "remind", "remit", "remove", "rename",
		"rent", "repay", "repeat", "replace", "reply", "report", "research", "reschedule", "reserve", "reset", "resolve", "respond",
		"restart", "retrieve", "return", "review", "revoke", "rewrite", "run", "save", "say", "scan", "schedule", "search", "see",
		"select", "send", "set", "settle", "share", "show", "sign", "sort", "spawn", "start", "stop", "store", "submit", "subscribe",
		"suggest", "summarise", "summarize", "sync", "take", "tell", "test", "transfer", "translate", "trash", "try", "turn", "unshare",
		"unsubscribe", "update", "upgrade", "upload", "use", "verify", "view", "visit", "watch", "wire", "withdraw", "write":
		return true
	}
	return false
}
