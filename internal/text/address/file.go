package address

import (
	"net/url"
	"strings"
)

// FileURL splits a file URL into the host and the path on it. The host is empty for this machine.
func FileURL(v string) (host, file string, ok bool) {
	rest, ok := CutFold(v, "file:")
	if !ok {
		return "", "", false
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	if after, has := strings.CutPrefix(rest, "//"); has {
		host, rest = after, ""
		if i := strings.IndexByte(after, '/'); i >= 0 {
			host, rest = after[:i], after[i:]
		}
		if strings.EqualFold(host, "localhost") {
			host = ""
		}
	}
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return host, rest, true
}

// NamesFile reports whether a value where an address could be is a file instead.
func NamesFile(value string) bool {
	v := strings.TrimSpace(value)
	if _, ok := CutFold(v, "file:"); ok {
		return true
	}
	return v != "" && (strings.IndexByte("/~.\\", v[0]) >= 0 || len(v) > 2 && v[1] == ':' && (v[2] == '/' || v[2] == '\\'))
}
