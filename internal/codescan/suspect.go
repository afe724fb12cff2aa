package codescan

import "strings"

const (
	// maxRun is how long a row of letters and digits without a break may be.
	// Names of people and programs are shorter, encoded content is longer.
	maxRun = 48
	// maxHex is the same for digits of base 16.
	maxHex = 32
)

// suspicious reports whether a text names a place outside of the project, reads
// like a line for a shell, or holds something encoded.
func suspicious(s string) bool {
	return shellLine(s) || strings.Contains(s, "://") || outside(s) || addresses(s) || encoded(s) || escapes(s)
}

// shellLine finds an option behind another word, as in «tool -x y»: a text that
// code of the project may hand to a shell.
func shellLine(s string) bool {
	for i := 1; i+2 < len(s); i++ {
		if s[i] != ' ' || s[i+1] != '-' || s[i-1] == ' ' {
			continue
		}
		if rest := strings.TrimPrefix(s[i+2:], "-"); rest != "" && isLetter(rest[0]) {
			return true
		}
	}
	return false
}

// outside finds absolute paths and those that begin at somebody's home.
func outside(s string) bool {
	for i := range len(s) {
		var before, after byte = ' ', ' '
		if i > 0 {
			before = s[i-1]
		}
		if i+1 < len(s) {
			after = s[i+1]
		}
		switch {
		case s[i] == '/' && !isWord(before) && before != '<' && before != '.' && before != '*' && before != ')' && before != ']' && before != '}' && (isLetter(after) || after == '.'):
			return true
		case s[i] == '~' && !isWord(before) && (after == '/' || isLetter(after)):
			return true
		case s[i] == ':' && after == '\\' && isLetter(before) && (i < 2 || !isWord(s[i-2])):
			return true
		}
	}
	return false
}

// addresses finds names of hosts, numbers of hosts and mail addresses.
func addresses(s string) bool {
	low := strings.ToLower(s)
	if strings.Contains(low, "localhost") || strings.Contains(low, "www.") {
		return true
	}
	for i := 0; i < len(low); {
		if !isWord(low[i]) {
			i++
			continue
		}
		j := i
		for j < len(low) && (isWord(low[j]) || low[j] == '-' || low[j] == '.' || low[j] == '@') {
			j++
		}
		if address(strings.TrimRight(low[i:j], ".-@")) {
			return true
		}
		i = j
	}
	return false
}

func address(run string) bool {
	if at := strings.IndexByte(run, '@'); at > 0 && strings.Contains(run[at:], ".") {
		return true
	}
	parts := strings.Split(run, ".")
	if len(parts) < 2 {
		return false
	}
	digits := 0
	for _, p := range parts {
		if p != "" && strings.Trim(p, "0123456789") == "" {
			digits++
		}
	}
	if digits == len(parts) {
		return digits == 4
	}
	switch parts[len(parts)-1] {
	case "com", "net", "org", "io", "dev", "ai", "co", "ru", "cn", "de", "uk", "eu", "us", "xyz", "info", "biz", "onion", "cloud", "site", "online", "top", "example",
		"invalid", "test", "local", "internal", "me", "sh", "app", "tk", "cc", "fr", "nl", "in", "jp", "br", "gov", "edu", "pw", "su", "link", "live", "shop", "club":
		return true
	}
	return false
}

// encoded finds long rows without a break.
func encoded(s string) bool {
	run, hex, digits := 0, 0, 0
	for i := range len(s) {
		c := s[i]
		if isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' {
			hex++
		} else {
			hex = 0
		}
		if isWord(c) && c != '_' || c == '+' || c == '/' || c == '=' {
			run++
		} else {
			run, digits = 0, 0
		}
		if isDigit(c) {
			digits++
		}
		if hex >= maxHex && digits > 0 || run >= maxRun && strings.Trim(s[i-run+1:i+1], "=+/") != "" {
			return true
		}
	}
	return false
}

// escapes finds escape sequences that stand for letters, digits or signs that
// could as well be typed.
func escapes(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		i++
		switch s[i] {
		case 'x':
			if i+2 < len(s) && '2' <= s[i+1] && s[i+1] <= '7' {
				return true
			}
		case 'u', 'U', 'N':
			if rest := s[i+1:]; strings.HasPrefix(rest, "00") || strings.HasPrefix(rest, "{") {
				return true
			}
		case '1', '2', '3', '4', '5', '6', '7':
			if i+2 < len(s) && isDigit(s[i+1]) && isDigit(s[i+2]) {
				return true
			}
		case '0':
			if i+2 < len(s) && isDigit(s[i+1]) && isDigit(s[i+2]) && s[i+1] != '0' {
				return true
			}
		}
	}
	return false
}
