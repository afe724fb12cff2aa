package policy

import (
	_ "embed" // for the list of hosts
	"path"
	"strings"

	"github.com/floodmark/floodmark/catalog"
)

// A pathPattern is a path whose segments may hold * and ?, and ** for any
// number of segments.
type pathPattern struct {
	home bool
	segs catalog.Segments
}

func parsePath(s string) (pathPattern, bool) {
	var p pathPattern
	rest, atHome := strings.CutPrefix(s, "~/")
	if p.home = atHome; !atHome {
		var rooted bool
		if rest, rooted = strings.CutPrefix(s, "/"); !rooted {
			return pathPattern{}, false
		}
	}
	p.segs = strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for _, seg := range p.segs {
		if seg == "" || seg == ".." || seg == "." {
			return pathPattern{}, false
		}
	}
	return p, true
}

// tooWide is true for /** and ~/**: no first segment is fixed.
func (p pathPattern) tooWide() bool { return strings.ContainsAny(p.segs[0], "*?") }

// matches compares case-sensitively: a pattern here can raise trust.
func (p pathPattern) matches(segs, home []string) bool {
	if !p.home {
		return p.segs.Match(segs)
	}
	if len(segs) > 0 && segs[0] == "~" {
		return p.segs.Match(segs[1:])
	}
	for _, h := range home {
		base := splitPath(h)
		if len(base) > 0 && len(segs) > len(base) && strings.Join(segs[:len(base)], "/") == strings.Join(base, "/") {
			return p.segs.Match(segs[len(base):])
		}
	}
	return false
}

// splitPath cuts a path into its names, after removing detours.
func splitPath(s string) []string {
	s = strings.Trim(path.Clean(s), "/")
	if s == "" || s == "." {
		return nil
	}
	return strings.Split(s, "/")
}

// A hostPattern is a host, or «*.» and a domain for everything below it.
type hostPattern struct {
	domain string
	below  bool
}

func parseHost(s string) (hostPattern, bool) {
	h := hostPattern{domain: strings.ToLower(s)}
	if rest, ok := strings.CutPrefix(h.domain, "*."); ok {
		h.domain, h.below = rest, true
	}
	labels := strings.Split(h.domain, ".")
	for _, l := range labels {
		if l == "" || strings.Trim(l, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return hostPattern{}, false
		}
	}
	// «*.com» would be half the world. A single name such as a machine in the
	// owner's own network is fine.
	return h, !h.below || len(labels) > 1
}

func (h hostPattern) matches(host string) bool {
	if h.below {
		return strings.HasSuffix(host, "."+h.domain)
	}
	return host == h.domain
}

// open returns the place where strangers write that the pattern covers.
func (h hostPattern) open() (string, bool) {
	for s := range strings.Lines(openHosts) {
		s = strings.TrimSpace(s)
		under := h.domain == s || strings.HasSuffix(h.domain, "."+s)
		if under || h.below && strings.HasSuffix(s, "."+h.domain) {
			return s, true
		}
	}
	return "", false
}

// OpenHost reports whether anybody can publish on a host, so that a link which it
// gives may be anybody's. Of others nobody knows.
func OpenHost(host string) bool {
	_, open := hostPattern{domain: host}.open()
	return open
}

// openHosts lists hosts on which anybody can publish, one in a line.
//
//go:embed open-hosts.txt
var openHosts string
