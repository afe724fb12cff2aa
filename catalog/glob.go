package catalog

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// root says where a path glob begins.
type root uint8

const (
	anywhere root = iota // «**/name»
	atHome               // «~/name»
	absolute             // «/name»
)

// glob is a path pattern, cut into segments once so that matching is cheap.
type glob struct {
	root root
	segs Segments // in the case they were written
	low  Segments // in lower case
}

// maxGlobSegments bounds the segments of one pattern. A longer pattern is an error.
const maxGlobSegments = 32

var (
	errGlobRoot = errors.New("a path pattern begins with /, ~/ or **/")
	errGlobLong = errors.New("a part is empty, «.» or «..», or there are too many")
)

func parseGlob(text string) (glob, error) {
	g := glob{}
	rest := text
	switch {
	case strings.HasPrefix(text, "**/"):
	case strings.HasPrefix(text, "~/"):
		g.root, rest = atHome, text[2:]
	case strings.HasPrefix(text, "/"):
		g.root, rest = absolute, text[1:]
	default:
		return glob{}, errGlobRoot
	}
	g.segs = strings.Split(rest, "/")
	if len(g.segs) > maxGlobSegments {
		return glob{}, errGlobLong
	}
	for _, s := range g.segs {
		if s == "" || s == "." || s == ".." {
			return glob{}, errGlobLong
		}
		g.low = append(g.low, strings.ToLower(s))
	}
	return g, nil
}

// String returns the pattern as it was written.
func (g *glob) String() string {
	return [...]string{anywhere: "", atHome: "~/", absolute: "/"}[g.root] + strings.Join(g.segs, "/")
}

// Segments is a path pattern, cut at «/». In each, «*» stands for any run of
// characters and «?» for one; «**» alone stands for any number of segments,
// also none, so «/a/**» matches /a itself.
type Segments []string

// Match reports whether the pattern matches the whole path, split likewise. It backtracks only to
// the newest «**», which bounds its cost.
func (pat Segments) Match(segs []string) bool {
	var p, s, star, mark int // star is behind the newest «**», 0 without one
	for s < len(segs) {
		switch {
		case p < len(pat) && pat[p] == "**":
			p++
			star, mark = p, s
		case p < len(pat) && matchSegment(pat[p], segs[s]):
			p++
			s++
		case star > 0:
			mark++
			p, s = star, mark
		default:
			return false
		}
	}
	for p < len(pat) && pat[p] == "**" {
		p++
	}
	return p == len(pat)
}

// matchSegment matches one name.
func matchSegment(pat, s string) bool {
	var p, i, star, mark int // star is behind the newest «*», 0 without one
	for i < len(s) {
		switch {
		case p < len(pat) && pat[p] == '*':
			p++
			star, mark = p, i
		case p < len(pat) && pat[p] == '?':
			_, size := utf8.DecodeRuneInString(s[i:])
			p++
			i += size
		case p < len(pat) && pat[p] == s[i]:
			p++
			i++
		case star > 0:
			mark++
			p, i = star, mark
		default:
			return false
		}
	}
	for p < len(pat) && pat[p] == '*' {
		p++
	}
	return p == len(pat)
}

// holds reports whether segs is a folder in which something could match pat.
func holds(pat Segments, segs []string) bool {
	if len(segs) == 0 {
		return false
	}
	if pat[0] != "**" {
		return len(segs) < len(pat) && pat[:len(segs)].Match(segs)
	}
	inner := pat[1:]
	for n := 1; n < len(inner) && n <= len(segs); n++ {
		if inner[:n].Match(segs[len(segs)-n:]) {
			return true
		}
	}
	return false
}

// literal returns the longest segment without wildcards, or "".
func (g glob) literal() string {
	best := ""
	for _, s := range g.low {
		if len(s) > len(best) && !strings.ContainsAny(s, "*?") {
			best = s
		}
	}
	return best
}
