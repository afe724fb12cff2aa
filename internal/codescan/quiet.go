package codescan

import "strings"

// What a string or a comment says can become code: by an edit that takes the
// quotes away, or where the text is put into a string. So it is held to the
// rules of code. Only notes, which never become code, may have a dangerous word
// beside another plain word: that is no Python.

// pyQuiet reports whether what a string or a comment says would do nothing as
// code, and holds no address and nothing encoded.
func pyQuiet(s string) bool {
	return !pyLoud(s, false) && !suspicious(s)
}

// pyLoud finds what would do more than compute as code.
func pyLoud(s string, notes bool) bool {
	alone := strings.TrimSpace(s) // a quote stands beside it, whatever is edited
	for i, w := range wordsOf(s) {
		j := i + len(w)
		attr := i > 0 && s[i-1] == '.'
		var loud bool
		switch {
		case attr:
			loud = pyAttribute(w) || strings.HasPrefix(w, "__") || w == "format"
		case w == "import":
			loud = !sentence(s, i, j) || strings.HasPrefix(strings.TrimLeft(lineOf(s, i), " \t"), "from ")
		default:
			loud = pyDanger(w) || strings.HasPrefix(w, "__") && w != "__init__" && w != "__name__" && w != "__main__"
		}
		if loud && alone != w && (w == "import" || !notes || !beside(s, i, j)) {
			return true
		}
	}
	return false
}

func lineOf(s string, i int) string {
	line, _, _ := strings.Cut(s[strings.LastIndexByte(s[:i], '\n')+1:], "\n")
	return line
}

// beside reports whether the word s[i:j] stands directly beside another plain
// word on its line.
func beside(s string, i, j int) bool {
	return plainWord(wordBefore(s, i)) || plainWord(wordAfter(s, j))
}

// sentence reports whether the word «import» stands among so many words that
// it is no statement.
func sentence(s string, i, j int) bool {
	if plainWord(wordBefore(s, i)) {
		return true
	}
	next := wordAfter(s, j)
	if next == "" {
		return wordBefore(s, i) == "" && strings.TrimSpace(s) != "import" && !strings.ContainsAny(s[j:min(j+2, len(s))], " \t\\(*.")
	}
	at := j + strings.Index(s[j:], next) + len(next)
	return plainWord(wordAfter(s, at))
}

func plainWord(w string) bool {
	switch w {
	case "", "match", "case", "type", "print", "exec", "r", "b", "u", "f", "rb", "br", "fr", "rf", "t":
		return false
	}
	return !pyKeyword(w)
}

func wordBefore(s string, i int) string {
	k := i
	for k > 0 && (s[k-1] == ' ' || s[k-1] == '\t') {
		k--
	}
	if k == i {
		return ""
	}
	from := k
	for from > 0 && isWord(s[from-1]) {
		from--
	}
	if from < k && !isLetter(s[from]) || from > 0 && s[from-1] >= 0x80 {
		return ""
	}
	return s[from:k]
}

func wordAfter(s string, j int) string {
	k := j
	for k < len(s) && (s[k] == ' ' || s[k] == '\t') {
		k++
	}
	if k == j {
		return ""
	}
	to := k
	for to < len(s) && isWord(s[to]) {
		to++
	}
	if to < len(s) && (s[to] == '"' || s[to] == '\'') || to < len(s) && s[to] >= 0x80 || to > k && !isLetter(s[k]) {
		return ""
	}
	return s[k:to]
}

// plainProse reports whether notes hold no example that does more than compute:
// pytest runs those of test*.txt without being asked, other tools those of a
// README.
func plainProse(s string) bool {
	for _, w := range []string{">>>", "std::", "Command::", "require(", "exec(", "#!["} {
		if strings.Contains(s, w) {
			return false
		}
	}
	return !pyLoud(s, true)
}

// jsQuiet is the same for JavaScript.
func jsQuiet(s string) bool {
	if suspicious(s) {
		return false
	}
	for i, w := range wordsOf(s) {
		j := i + len(w)
		attr := i > 0 && s[i-1] == '.'
		loud := jsDanger(w) || attr && jsAttribute(w) || strings.HasPrefix(w, "__")
		switch w {
		case "import":
			loud = wordBefore(s, i) == "" || jsKeyword(wordBefore(s, i))
		case "from":
			next := strings.TrimLeft(s[j:], " \t")
			loud = next != "" && strings.IndexByte("\"'\\", next[0]) >= 0
		}
		if loud {
			return false
		}
	}
	return true
}
