package policy

import (
	"path"
	"strings"
)

// A pathPattern is a path whose segments may hold * and ?, and ** for any
// number of segments.
type pathPattern struct {
	home bool
	segs []string
}

func parsePath(s string) (pathPattern, bool) {
	var p pathPattern
	rest, atHome := strings.CutPrefix(s, "~/")
	if p.home = atHome; !atHome {
		var rooted bool
		if rest, rooted = strings.CutPrefix(s, "/"); !rooted {
			return p, false
		}
	}
	p.segs = strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for _, seg := range p.segs {
		if seg == "" || seg == ".." || seg == "." {
			return p, false
		}
	}
	return p, true
}

// tooWide is true for /** and ~/**: no first segment is fixed.
func (p pathPattern) tooWide() bool { return strings.ContainsAny(p.segs[0], "*?") }

// matches compares case-sensitively: a pattern here can raise trust.
func (p pathPattern) matches(segs, home []string) bool {
	if !p.home {
		return matchPath(p.segs, segs)
	}
	if len(segs) > 0 && segs[0] == "~" {
		return matchPath(p.segs, segs[1:])
	}
	for _, h := range home {
		base := splitPath(h)
		if len(base) > 0 && len(segs) > len(base) && strings.Join(segs[:len(base)], "/") == strings.Join(base, "/") {
			return matchPath(p.segs, segs[len(base):])
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

// matchPath compares segment by segment. «/a/**» also matches /a itself. It
// remembers only the newest **, so that its cost stays small.
func matchPath(pattern, segs []string) bool {
	p, s, star, mark := 0, 0, -1, 0
	for s < len(segs) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, mark = p, s
			p++
		case p < len(pattern) && matchName(pattern[p], segs[s]):
			p++
			s++
		case star >= 0:
			mark++
			p, s = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(pattern), name)
	return err == nil && ok
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
			return h, false
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
	for _, s := range openHosts() {
		under := h.domain == s || strings.HasSuffix(h.domain, "."+s)
		if under || h.below && strings.HasSuffix(s, "."+h.domain) {
			return s, true
		}
	}
	return "", false
}
