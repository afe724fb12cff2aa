package address

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
)

// Openness returns the least guarded secrecy that the answers of a host can have. Answers of this
// machine, its local network and local names are private, because others cannot get them. Answers
// of the metadata services of clouds are secret, because they contain keys.
func Openness(host string) floodmark.Secrecy {
	host = strings.Trim(host, "[]")
	host, _, _ = strings.Cut(host, "%") // fe80::1%eth0
	switch {
	case host == "":
		return floodmark.Public
	case slices.Contains([]string{"169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "fd00:ec2::254", "metadata", "metadata.google.internal", "metadata.goog"}, host):
		return floodmark.Secret
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if inner(ip) || embedsInner(ip) {
			return floodmark.Private
		}
		return floodmark.Public
	}
	if strings.IndexByte(host, '.') < 0 || numeric(host) {
		return floodmark.Private
	}
	for _, tail := range [...]string{".localhost", ".local", ".localdomain", ".internal", ".intranet", ".lan", ".home", ".corp", ".home.arpa"} {
		if strings.HasSuffix(host, tail) {
			return floodmark.Private
		}
	}
	return floodmark.Public
}

// inner reports whether an address is that of this machine or of its local network.
func inner(ip netip.Addr) bool {
	return ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsPrivate() || ip.IsUnspecified()
}

// embedsInner reports whether an IPv6 address contains an IPv4 address of this machine or of its
// local network.
func embedsInner(ip netip.Addr) bool {
	b := ip.As16()
	if b[0] != 0 || b[1] != 0 && b[1] != 0x64 { // neither ::a.b.c.d nor 64:ff9b::a.b.c.d
		return false
	}
	return inner(netip.AddrFrom4([4]byte{b[12], b[13], b[14], b[15]}))
}

// numeric reports whether a host has a form that some programs read as an IP address: 127.1,
// 0x7f.0.0.1, 017700000001.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if strings.HasPrefix(last, "0x") {
		return true
	}
	return last != "" && digits(last)
}
