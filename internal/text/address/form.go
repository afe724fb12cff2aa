package address

import (
	"net/netip"
	"strings"
)

// Forms returns an address as it is, without its scheme, and with the schemes https and http.
func Forms(raw string) []string {
	bare := strings.TrimPrefix(strings.TrimPrefix(raw, "https://"), "http://")
	return []string{raw, bare, "https://" + bare, "http://" + bare}
}

// OfOneHost reports whether all programs agree on the host of a web address, because it has no
// user, no port, no backslash and no invisible character.
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

// OnlyHost reports whether an address consists of the host only, apart from a scheme and a slash.
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

// HostOfPath returns the host, in lower case, of an address without a scheme, such as
// «evil.example/login», «//evil.example», «evil.example:8443», «git@evil.example:a/b» or a shell's
// «/dev/tcp/evil.example/80». It is empty if there is none. A path to a file of such a name looks
// the same.
func HostOfPath(path string) string {
	path = connected(path)
	rest := strings.TrimLeft(path, "/\\")
	first, _, _ := strings.Cut(rest, "/")
	_, host, login := strings.Cut(first, "@")
	if !login {
		host = first
	}
	host, port, _ := strings.Cut(host, ":")
	host = strings.TrimSuffix(host, ".") // a host may be written with a final dot
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 || len(host)-dot <= 2 || len(path) == len(host) || !login && strings.Trim(port, "0123456789") != "" || strings.ContainsAny(host, " \\") {
		return ""
	}
	return strings.ToLower(host)
}

// IPOf returns the IPv4 address of another machine with which an address without a scheme begins,
// such as «203.0.113.9:8080» or «git@203.0.113.9:a/b». It is empty if there is none. Network masks
// are not addresses of machines.
func IPOf(word string) string {
	host, _, _ := strings.Cut(strings.TrimLeft(connected(word), "/\\"), "/")
	host, _, _ = strings.Cut(host[strings.LastIndexByte(host, '@')+1:], ":")
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Is4() || ip.IsUnspecified() || ip.IsLoopback() || ip.As4()[0] >= firstNoMachine {
		return ""
	}
	return host
}

// connected returns «evil.example/80» for «/dev/tcp/evil.example/80», a path with which shells
// connect to a host. Other paths are returned as they are.
func connected(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, "/dev/tcp/"), "/dev/udp/")
}

// firstNoMachine is the first byte from which on IPv4 addresses are multicast, reserved or masks.
const firstNoMachine = 224
