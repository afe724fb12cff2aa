package address

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/floodmark/floodmark"
)

// maxLabel is how long one part of a name may be, by RFC 1035.
const maxLabel = 63

// Place reports whether a text is a host and port that a box may be allowed to reach, such as
// «api.example:443», and returns the host. The host must be a public name in lower case. IP
// addresses, local names, the metadata services of clouds, patterns and encoded names («xn--») are
// refused.
func Place(text string) (host string, ok bool) {
	host, port, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 1<<16-1 || strconv.Itoa(n) != port {
		return "", false
	}
	if !PlainHost(host) || strings.Contains(host, "_") || numeric(host) || Openness(host) != floodmark.Public {
		return "", false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' || strings.HasPrefix(label, "xn--") {
			return "", false
		}
	}
	return host, true
}

// Public reports whether an address is public, according to the registries of special addresses
// (RFC 6890 and later).
func Public(ip netip.Addr) bool {
	ip = ip.Unmap()
	if ip.Zone() != "" || !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	within := []string{"2000::/3", "0.0.0.0/0"}
	without := []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"168.63.129.16/32", // machines in Azure get their settings from it
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	}
	return in(ip, within) && !in(ip, without)
}

func in(ip netip.Addr, prefixes []string) bool {
	for _, text := range prefixes {
		if netip.MustParsePrefix(text).Contains(ip) {
			return true
		}
	}
	return false
}
