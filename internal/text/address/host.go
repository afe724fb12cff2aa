// Package address parses network addresses and says which host they reach.
package address

import (
	"net/netip"
	"slices"
	"strings"
)

// HostOf returns the host of a URL in lower case. Plain says that the URL is a web address on whose
// host all programs agree; «https://good.example@evil.example» is not plain. Only the host of a
// plain URL may match the host in a rule.
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
		return "", false // for some programs a backslash ends the host, for others it is part of a login
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

// PlainHost reports whether a host is in lower case and has only characters that all programs read
// in the same way.
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

// MatchHost matches a host against a pattern such as «example.com» or «*.example.com». The latter
// matches names below example.com, but not example.com itself.
func MatchHost(pattern, host string) bool {
	if tail, ok := strings.CutPrefix(pattern, "*."); ok {
		return len(host) > len(tail)+1 && strings.HasSuffix(host, tail) && host[len(host)-len(tail)-1] == '.'
	}
	return pattern == host
}

// Plain reports whether all programs agree on the host of an address, because it has a known scheme
// or none, no user, no backslash and no invisible character.
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

// CutFold is [strings.CutPrefix] without regard to case.
func CutFold(s, head string) (string, bool) {
	if len(s) >= len(head) && strings.EqualFold(s[:len(head)], head) {
		return s[len(head):], true
	}
	return s, false
}

// Parts returns the host of an address. Path says that, apart from the host, the address has only a
// path: no user, port, query or fragment, no unusual character, and no «*», which is a part that is
// not known yet.
func Parts(raw string) (host string, path bool) {
	rest, ok := CutFold(raw, "https://")
	if !ok {
		rest, _ = CutFold(raw, "http://")
	}
	host, _, _ = strings.Cut(rest, "/")
	host = strings.ToLower(host)
	return host, PlainHost(host) && !strings.ContainsAny(rest, "@?#*") && Plain(raw)
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
