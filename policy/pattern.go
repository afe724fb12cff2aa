package policy

import (
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

// tooWide reports whether the first segment is not fixed, as in /** and ~/**.
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
