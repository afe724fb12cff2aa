package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spaced recognises the tokens that may hold blanks and commas: numbers,
// accounts, telephone numbers.
func (sc *scanner) spaced(from int) (kind TokenKind, to int, ok bool) {
	s := sc.s[from:]
	if IsLetter(s[0]) { // only an account begins with one
		n := ibanLen(s)
		return Account, from + n, n > 0
	}
	if n := max(phoneLen(s), cardLen(s)); n > 0 {
		return Account, from + n, true
	}
	n, bare := numberLen(s)
	if n == 0 {
		return 0, 0, false
	}
	if bare >= 8 {
		return Account, from + n, true
	}
	return Number, from + n, true
}

// classify says what a run of token characters is. Numbers, accounts and URLs
// were recognised before.
func classify(run string) TokenKind {
	var at, slash, dot, sign bool
	digits := 0
	for i := range len(run) {
		switch c := run[i]; c {
		case '@':
			at = true
		case '/':
			slash = true
		case '.':
			dot = true
		case '_', '#', '$', '%', '+', ':':
			sign = true
		default:
			if IsDigit(c) {
				digits++
			}
		}
	}
	switch {
	case at:
		return classifyAt(run)
	case slash:
		if Only(run, "0123456789/") {
			return ID // a date
		}
		return Path
	case run[0] == '~':
		return Path
	case dot:
		return classifyDotted(run)
	case digits == len(run):
		return Number
	case digits > 0 || sign:
		return ID
	}
	return wordKind(run)
}

func classifyAt(run string) TokenKind {
	local, domain, _ := strings.Cut(run, "@")
	switch {
	case local != "" && !strings.ContainsAny(local, "/:~") && isDomain(domain):
		return Address
	case strings.ContainsAny(run, "/:"):
		return Path // git@host:owner/name
	}
	return ID
}

// isDomain reports whether s has the form of a host name with a dot in it.
func isDomain(s string) bool {
	dot := strings.IndexByte(s, '.')
	if dot <= 0 || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}
	return !strings.ContainsAny(s, "@/:_#$%+~'")
}

func classifyDotted(run string) TokenKind {
	last := run[strings.LastIndexByte(run, '.')+1:]
	first, _, _ := strings.Cut(run, ".")
	switch {
	case !strings.ContainsFunc(last, unicode.IsLetter):
		return ID // a version, an IP address
	case len(last) == 1 && len(first) == 1:
		return wordKind(run) // e.g, U.S
	}
	return Path
}

func wordKind(run string) TokenKind {
	if run[0] < utf8.RuneSelf {
		if run[0] >= 'A' && run[0] <= 'Z' {
			return Name
		}
		return Word
	}
	if r, _ := utf8.DecodeRuneInString(run); unicode.IsUpper(r) {
		return Name
	}
	return Word
}

// Only reports whether a text consists only of these characters.
func Only(s, chars string) bool { return strings.Trim(s, chars) == "" }

// trimRun narrows a run by the punctuation at its ends.
func trimRun(s string, from, to int) (int, int) {
	for from < to && trimsLeft(s[from], s[from+1:to]) {
		from++
	}
	for from < to && trimsRight(s[from:to]) {
		to--
	}
	if to-from > 2 && s[to-2:to] == "'s" {
		to -= 2
	}
	return from, to
}

func trimsLeft(c byte, rest string) bool {
	next := byte(0)
	if rest != "" {
		next = rest[0]
	}
	switch c {
	case '-', ':', '%', '\'':
		return true
	case '.':
		return !isWordByte(next) && next != '/' && !strings.HasPrefix(rest, "./")
	case '+':
		return !IsDigit(next)
	case '@', '#', '$':
		return !isWordByte(next)
	case '~':
		return next != '/' && !isWordByte(next)
	}
	return false
}

func trimsRight(run string) bool {
	switch run[len(run)-1] {
	case '.', ':', '-', '\'', '@', '#', '$', '+', '~':
		return true
	case '%':
		return len(run) < 2 || !IsDigit(run[len(run)-2])
	}
	return false
}

// splitAt returns how far the first token of a trimmed run goes. A colon ends
// it («To:a@b.com»), unless it is inside a time, an address with a port, or
// something that begins like a path.
func splitAt(run string) int {
	colon := strings.IndexByte(run, ':')
	if colon < 0 {
		return len(run)
	}
	left, right := run[:colon], run[colon+1:]
	switch {
	case strings.Count(run, ":") >= 2 && isHex(strings.ReplaceAll(run, ":", "")):
		return len(run) // a time, an IPv6 address
	case Only(left, "0123456789"):
		if right != "" && IsDigit(right[0]) {
			return len(run)
		}
	case right != "" && IsDigit(right[0]) && isFile(left):
		return colon // main.go:12
	case strings.ContainsAny(left, "@/"):
		return len(run)
	case right != "" && IsDigit(right[0]) && (left == "localhost" || isDomain(left)):
		return len(run)
	}
	return colon
}

// isFile reports whether s ends like the name of a file that is cited with a line.
func isFile(s string) bool {
	return InGroup("file-ending", s[strings.LastIndexByte(s, '.')+1:])
}

// schemeStart returns where the scheme at the end of s begins.
func schemeStart(s string) int {
	at := len(s)
	for at > 0 && (IsAlnum(s[at-1]) || s[at-1] == '+' || s[at-1] == '-') {
		at--
	}
	for at < len(s) && !IsLetter(s[at]) {
		at++
	}
	return at
}

// urlEnd returns the length of the URL that s begins with. The URL excludes
// punctuation after it, and a bracket that was opened before it.
func urlEnd(s string) int {
	end, depth := 0, 0
	for end < len(s) {
		c := s[end]
		if !byteIs(c, urlByte) {
			end++
			continue
		}
		size := 1
		switch {
		case c <= ' ' || c == 0x7f || strings.IndexByte("\"<>{}|\\^`", c) >= 0:
			return trimURL(s[:end])
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			if depth--; depth < 0 {
				return trimURL(s[:end])
			}
		case c == ',' && strings.HasPrefix(s[end+1:], "http"):
			return trimURL(s[:end])
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRuneInString(s[end:]); !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return trimURL(s[:end])
			}
		}
		end += size
	}
	return trimURL(s[:end])
}

func trimURL(s string) int { return len(strings.TrimRight(s, ".,;:!?'*_~(")) }

// windowsEnd returns the length of the path with backslashes that s begins with.
func windowsEnd(s string) int {
	end := strings.IndexAny(s, " \t\r\n\"<>|*?`',;()")
	if end < 0 {
		end = len(s)
	}
	return max(1, len(strings.TrimRight(s[:end], ".:!")))
}
