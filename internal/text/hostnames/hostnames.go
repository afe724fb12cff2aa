// Package hostnames finds the hosts that a text names.
package hostnames

import (
	"iter"
	"strings"

	"github.com/floodmark/floodmark/internal/ledger/tokens"
	"github.com/floodmark/floodmark/internal/text/address"
)

// MaxTokens bounds the words of a text that are examined.
const MaxTokens = 1 << 16

// TooLong is yielded instead of further hosts if a text has more than [MaxTokens] words. It is not
// a host.
const TooLong = "a text that is too long to look through"

// In yields the hosts and the mail addresses that a text names, each once and in lower case.
func In(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		n, seen := 0, map[string]bool{}
		for tok := range tokens.Tokens(text) {
			if n++; n > MaxTokens {
				yield(TooLong)
				return
			}
			if host := named(tok, text); host != "" && !seen[host] {
				if seen[host] = true; !yield(host) {
					return
				}
			}
		}
	}
}

// Any reports whether a text names a host or a mail address.
func Any(text string) bool {
	for range In(text) {
		return true
	}
	return false
}

// named returns the host or mail address that one word names. It is empty if there is none, or if
// the word looks like a chain of names in code.
func named(tok tokens.Token, text string) string {
	if tok.Kind != tokens.URL && tok.Kind != tokens.Address && !strings.Contains(tok.Text, ".") {
		return "" // as most
	}
	word := strings.ToLower(tok.Text)
	if tok.Kind == tokens.Path && len(word) > 1 && strings.IndexByte(".$", word[0]) >= 0 && strings.IndexByte("./", word[1]) < 0 {
		word = word[1:] // a program may insert something before it: «$X.evil.example»
	}
	switch {
	case tok.Kind == tokens.URL:
		return tokens.URLHost(tok.Text)
	case tok.Kind != tokens.Quoted && address.IPOf(word) != "":
		return address.IPOf(word)
	case tok.Kind == tokens.Address:
		return word
	case strings.HasPrefix(text[tok.End:], "("):
		return ""
	case tok.Kind == tokens.Path && address.HostOfPath(word) != "":
		if host := address.HostOfPath(word); strings.ContainsAny(strings.TrimLeft(word, "/\\"), "/@") || tokens.BareHost(host) { // else it is «file:line»
			return host
		}
		return ""
	case tokens.BareHost(word):
		return word
	}
	return ""
}

// Above returns the host one label above another. It is empty if that is not the name of a host,
// and for a mail address.
func Above(host string) string {
	if _, above, _ := strings.Cut(host, "."); tokens.BareHost(above) && !strings.Contains(host, "@") {
		return above
	}
	return ""
}

// Count returns how many words of a text contain the host that the text came from.
func Count(text, host string) (n int) {
	if host == "" {
		return 0
	}
	for tok := range tokens.Tokens(text) {
		if strings.Contains(tok.Text, host) {
			n++
		}
	}
	return n
}
