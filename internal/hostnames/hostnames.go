// Package hostnames finds the hosts that a text names.
package hostnames

import (
	"iter"
	"strings"

	"github.com/floodmark/floodmark/internal/address"
	"github.com/floodmark/floodmark/internal/tokens"
)

// MaxTokens bounds the words of a text that are looked at.
const MaxTokens = 1 << 16

// TooLong stands for the hosts of a text that was not looked at to its end. It is no host.
const TooLong = "a text that is too long to look through"

// In returns the hosts that a text names, and the addresses of people in it, each once and in
// lower case.
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

// named is what one word names; empty if that is no host, or looks like a chain of names in code.
func named(tok tokens.Token, text string) string {
	if tok.Kind != tokens.URL && tok.Kind != tokens.Address && !strings.Contains(tok.Text, ".") {
		return "" // as most
	}
	word := strings.ToLower(tok.Text)
	if tok.Kind == tokens.Path && len(word) > 1 && strings.IndexByte(".$", word[0]) >= 0 && strings.IndexByte("./", word[1]) < 0 {
		word = word[1:] // a program puts something before it: «$X.evil.example»
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
		if host := address.HostOfPath(word); strings.ContainsAny(strings.TrimLeft(word, "/\\"), "/@") || tokens.BareHost(host) { // else a line of a file
			return host
		}
		return ""
	case tokens.BareHost(word):
		return word
	}
	return ""
}

// Above is the host one label above another; empty if that is no name of a host, and of a mail address.
func Above(host string) string {
	if _, above, _ := strings.Cut(host, "."); tokens.BareHost(above) && !strings.Contains(host, "@") {
		return above
	}
	return ""
}

// Count counts how often a text names the host it came from.
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
