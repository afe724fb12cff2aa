// Package address says what an address on the network tells of whom it reaches.
package address

import (
	"net/netip"
	"slices"
	"strings"
)

// HostOf returns the host of a URL, in lower case, and whether the URL is
// written so plainly that every reader agrees on it. Only plain ones may
// match a host in a case: «https://good.example@evil.example» may not.
func HostOf(raw string) (host string, plain bool) {
	rest, web := CutFold(raw, "https://")
	if !web {
		rest, web = CutFold(raw, "http://")
	}
	if !web {
		if _, after, ok := strings.Cut(raw, "://"); ok {
			rest = after
		}
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if plain = web; strings.ContainsRune(rest, '\\') {
		return "", false // some readers end the host there, others take it for a login
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest, plain = rest[i+1:], false
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && digits(rest[i+1:]) {
		rest = rest[:i]
	}
	host = strings.ToLower(strings.TrimSuffix(rest, "."))
	return host, plain && PlainHost(host)
}

// PlainHost reports a host in lower case, without anything that is read in two ways.
func PlainHost(h string) bool {
	if h == "" || len(h) > 253 {
		return false
	}
	for i := range len(h) {
		c := h[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '.' && c != '_' {
			return false
		}
	}
	return true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// MatchHost matches a host against «example.com» or «*.example.com». The
// second stands for names below it, not for itself.
func MatchHost(pattern, host string) bool {
	if tail, ok := strings.CutPrefix(pattern, "*."); ok {
		return len(host) > len(tail)+1 && strings.HasSuffix(host, tail) && host[len(host)-len(tail)-1] == '.'
	}
	return pattern == host
}

// Plain reports an address of which every reader sees the same host: a
// scheme of the web or none, no user, no backslash, nothing unseen.
func Plain(raw string) bool {
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return false
		}
	}
	rest := raw
	if scheme, after, ok := strings.Cut(raw, "://"); ok {
		if !slices.Contains([]string{"http", "https", "ws", "wss", "ftp", "ftps", "git", "ssh"}, strings.ToLower(scheme)) {
			return false
		}
		rest = after
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host, _ := HostOf(raw)
	return !strings.Contains(rest, "@") && PlainHost(host)
}

// CutFold is [strings.CutPrefix] for a beginning in any letters.
func CutFold(s, head string) (string, bool) {
	if len(s) >= len(head) && strings.EqualFold(s[:len(head)], head) {
		return s[len(head):], true
	}
	return s, false
}

// Parts returns the host of an address, and whether the address holds nothing
// else but a path: no user, port, query or fragment, and no letter that readers
// could take for another. «*» is what a shell has yet to find out.
func Parts(raw string) (host string, path bool) {
	rest, ok := CutFold(raw, "https://")
	if !ok {
		rest, _ = CutFold(raw, "http://")
	}
	host, _, _ = strings.Cut(rest, "/")
	host = strings.ToLower(host)
	return host, PlainHost(host) && !strings.ContainsAny(rest, "@?#*") && Plain(raw)
}

// Loopback reports a host that is this very machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
