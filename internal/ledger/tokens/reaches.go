package tokens

import "strings"

// Reaches reports whether a value is by itself a way to reach a person or a
// machine outside: a URL, a mail address, an account, the name of a host.
func Reaches(value string) bool {
	p, ok := WholePiece(value)
	if ok && (p.Kind == URL || p.Kind == Address || p.Kind == Account) {
		return true
	}
	return BareHost(value) || strings.Contains(value, "@")
}

// BareHost reports whether a word is the name of a host and nothing else, as a
// reader or a program may open it: «login.bank.example». The name of a file and
// «e.g.» are none.
func BareHost(word string) bool {
	if word = strings.TrimSuffix(word, "."); !strings.Contains(word, ".") { // as most
		return false
	}
	count, last := 0, ""
	for l := range strings.SplitSeq(strings.ToLower(word), ".") {
		if l == "" || strings.ContainsFunc(l, func(r rune) bool { return r < 0x80 && !IsAlnum(byte(r)) && r != '-' }) {
			return false
		}
		count, last = count+1, l
	}
	if len(last) < 2 || strings.ContainsAny(last, "0123456789-") {
		return false
	}
	return count > 2 || commonEnding(last)
}

// commonEnding reports whether names of hosts often end so and names of files
// do not.
func commonEnding(label string) bool { return InGroup("host-ending", label) }

// URLHost returns the host of a URL in lower case, without user and port; "" if it has none, or readers disagree.
func URLHost(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		rest = url
	}
	end := strings.IndexAny(rest+"/", "/?#")
	if rest = rest[:end]; strings.ContainsRune(rest, '\\') { // some readers end the host there, others take it for a login
		return ""
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if strings.HasPrefix(rest, "[") { // IPv6
		host, _, _ := strings.Cut(rest[1:], "]")
		return strings.ToLower(host)
	}
	host, _, _ := strings.Cut(rest, ":")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
