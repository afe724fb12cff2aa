package catalog

import "strings"

// hostOf returns the host of a URL, in lower case, and whether the URL is
// written so plainly that every reader agrees on it. Only plain ones may
// match a host in a case: «https://good.example@evil.example» may not.
func hostOf(raw string) (host string, plain bool) {
	rest, web := cutFold(raw, "https://")
	if !web {
		rest, web = cutFold(raw, "http://")
	}
	if !web {
		if _, after, ok := strings.Cut(raw, "://"); ok {
			rest = after
		}
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	plain = web
	if i := strings.IndexByte(rest, '\\'); i >= 0 {
		rest, plain = rest[:i], false
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest, plain = rest[i+1:], false
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && digits(rest[i+1:]) {
		rest = rest[:i]
	}
	host = strings.ToLower(strings.TrimSuffix(rest, "."))
	return host, plain && plainHost(host)
}

func plainHost(h string) bool {
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

// matchHost matches a host against «example.com» or «*.example.com». The
// second stands for names below it, not for itself.
func matchHost(pattern, host string) bool {
	if tail, ok := strings.CutPrefix(pattern, "*."); ok {
		return len(host) > len(tail)+1 && strings.HasSuffix(host, tail) && host[len(host)-len(tail)-1] == '.'
	}
	return pattern == host
}

// plainURL reports an address of which every reader sees the same host: a
// scheme of the web or none, no user, no backslash, nothing unseen.
func plainURL(raw string) bool {
	for i := range len(raw) {
		if c := raw[i]; c <= ' ' || c >= 0x7f || c == '\\' {
			return false
		}
	}
	rest := raw
	if scheme, after, ok := strings.Cut(raw, "://"); ok {
		if !oneOf(strings.ToLower(scheme), "http", "https", "ws", "wss", "ftp", "ftps", "git", "ssh") {
			return false
		}
		rest = after
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host, _ := hostOf(raw)
	return !strings.Contains(rest, "@") && plainHost(host)
}
