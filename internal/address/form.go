package address

import (
	"net/netip"
	"strings"
)

// Forms are an address with its scheme and without it.
func Forms(raw string) []string {
	bare := strings.TrimPrefix(strings.TrimPrefix(raw, "https://"), "http://")
	return []string{raw, bare, "https://" + bare, "http://" + bare}
}

// OfOneHost reports an address of the web of which every reader sees the same
// host: no user, no port, no backslash, nothing unseen.
func OfOneHost(raw string) bool {
	rest, found := strings.CutPrefix(raw, "https://")
	if !found {
		rest = strings.TrimPrefix(raw, "http://")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return !strings.ContainsAny(rest[:end], "@:%[]") && !strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' })
}

// OnlyHost reports whether an address says nothing but the host.
func OnlyHost(raw, host string) bool {
	_, rest, found := strings.Cut(raw, "://")
	if !found {
		rest = raw
	}
	return strings.EqualFold(strings.TrimSuffix(rest, "/"), host)
}

// LikeHost reports whether a path begins like a host: «evil.example/login».
func LikeHost(path string) bool {
	host, _, _ := strings.Cut(strings.TrimLeft(path, "/\\"), "/")
	dot := strings.LastIndexByte(host, '.')
	return dot > 0 && len(host)-dot > 2 && !strings.ContainsAny(host, " \\:") && len(path) > len(host)
}

// HostOfPath is the host, in lower case, of an address without a scheme: of «evil.example/login», «//evil.example»,
// «evil.example:8443», «git@evil.example:a/b» and what a shell connects to. A path may begin with a file that is called so,
// too. Empty if there is none.
func HostOfPath(path string) string {
	path = connected(path)
	rest := strings.TrimLeft(path, "/\\")
	first, _, _ := strings.Cut(rest, "/")
	_, host, login := strings.Cut(first, "@")
	if !login {
		host = first
	}
	host, port, _ := strings.Cut(host, ":")
	host = strings.TrimSuffix(host, ".") // so it is written, too
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || len(host)-dot <= 2 || len(path) == len(host) || !login && strings.Trim(port, "0123456789") != "" || strings.ContainsAny(host, " \\") {
		return ""
	}
	return strings.ToLower(host)
}

// IPOf is the number of another machine with which an address without a scheme begins: of «203.0.113.9», «203.0.113.9:8080»
// and «git@203.0.113.9:a/b». Empty if there is none. A mask of a network is none.
func IPOf(word string) string {
	host, _, _ := strings.Cut(strings.TrimLeft(connected(word), "/\\"), "/")
	host, _, _ = strings.Cut(host[strings.LastIndexByte(host, '@')+1:], ":")
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Is4() || ip.IsUnspecified() || ip.IsLoopback() || ip.As4()[0] >= firstNoMachine {
		return ""
	}
	return host
}

// connected is what stands behind the folders under which shells connect: «evil.example/80» of «/dev/tcp/evil.example/80».
func connected(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "/dev/tcp/"), "/dev/udp/")
}

// firstNoMachine begins the numbers of groups, and those that are masks.
const firstNoMachine = 224
