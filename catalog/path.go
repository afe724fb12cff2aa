package catalog

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// Places says what «~» and a relative path mean. Either may be empty: then
// such a path belongs to no project.
type Places struct {
	Project string
	Home    string
}

// A PathKind says what sort of place a path is. Later kinds are guarded more.
type PathKind uint8

// The kinds of paths. The first four say where a path lies, the last three
// what lies there.
const (
	NoPath        PathKind = iota // the call names no path
	InProject                     // inside the project the agent works on
	Elsewhere                     // somewhere else on this machine
	Foreign                       // where other people's content is put: downloads, dependencies, /tmp
	Secret                        // keys and credentials
	Instructs                     // files that instruct an agent or run by themselves, about to be written
	SelfProtected                 // the monitor, its store, or an agent's hook settings
)

func (k PathKind) String() string {
	words := [...]string{"no-path", "in-project", "elsewhere", "foreign", "secret", "instructs", "self-protected"}
	if int(k) < len(words) {
		return words[k]
	}
	return "invalid"
}

// guard is a set of lists a path is on.
type guard uint8

const (
	isForeign guard = 1 << iota
	isSecret
	isInstructs
	isProtected
	isPass   // opens the monitor's doors to whoever reads it
	isShared // what is written there reaches others, or another machine
)

// guardLists are the lists by their names in a file.
func guardLists() map[string]guard {
	return map[string]guard{"secret": isSecret, "instructs": isInstructs, "selfProtected": isProtected, "foreign": isForeign, "passes": isPass | isProtected | isSecret, "shared": isShared | isForeign}
}

// pathGlob is one line of one list of paths.
type pathGlob struct {
	glob
	guard guard
}

// paths finds the lists a path is on. Every list only tightens, so matching
// ignores case: on some machines it does not matter.
type paths struct {
	globs     []pathGlob
	byWord    map[string][]int // by the longest literal segment
	rest      []int            // without one
	protected []int
	passes    []int
}

func newPaths(globs []pathGlob) paths {
	p := paths{globs: globs, byWord: map[string][]int{}}
	for i, g := range globs {
		if word := g.literal(); word != "" {
			p.byWord[word] = append(p.byWord[word], i)
		} else {
			p.rest = append(p.rest, i)
		}
		if g.guard&isProtected != 0 {
			p.protected = append(p.protected, i)
		}
		if g.guard&isPass != 0 {
			p.passes = append(p.passes, i)
		}
	}
	return p
}

// MaxPathBytes is the longest path looked at; Linux opens none that is longer.
// A longer one counts as foreign.
const MaxPathBytes = 4096

// spot is a path made absolute as far as that is possible without a disk.
type spot struct {
	text     string   // as shown to people
	segs     []string // folded
	home     int      // index of the first segment inside a home, or -1
	absolute bool
	kind     PathKind // InProject, Elsewhere or Foreign
	guard    guard
}

// look says what value means as a path. Relative ones are taken from base.
// The segments are kept in buf if they fit.
func (ps *paths) look(value, base string, at Places, buf []string) spot {
	if len(value) > MaxPathBytes {
		return spot{text: value[:64], home: -1, kind: Foreign, guard: isForeign}
	}
	s := spotAt(clean(value, base, at.Home), at, buf)
	if within(s.text, at.Project) {
		s.kind = InProject
	}
	s.guard = ps.guards(&s)
	if strings.Contains(value, `\`) { // where it separates nothing, «..» leads elsewhere
		other := spotAt(cleanSlashes(value, base, at.Home), at, nil)
		s.guard |= ps.guards(&other)
	}
	if host, file, _ := fileURL(strings.TrimSpace(value)); host != "" { // some readers know no host
		other := spotAt(clean(host+file, base, at.Home), at, nil)
		s.guard |= ps.guards(&other)
	}
	if s.kind == InProject && s.guard&isShared != 0 { // a project that lies there is there anyway
		project := spotAt(clean(at.Project, "", at.Home), at, nil)
		s.guard &^= ps.guards(&project) & isShared
	}
	if s.guard&isForeign != 0 {
		s.kind = Foreign
	}
	return s
}

// spotAt takes a clean path apart.
func spotAt(text string, at Places, buf []string) spot {
	s := spot{text: text, kind: Elsewhere}
	low := foldPath(text)
	s.absolute = isAbsolute(low)
	s.segs = splitPath(low, buf)
	s.home = homeOf(low, s.segs, at.Home)
	return s
}

// guards returns the lists s is on, also as the path it is on the system that
// is mounted there.
func (ps *paths) guards(s *spot) guard {
	found := ps.listed(s)
	inner := *s
	for range maxMounts {
		n := 0
		if s.absolute {
			n = mounted(inner.segs)
		}
		if n == 0 {
			break
		}
		inner.segs = inner.segs[n:]
		inner.home = homeOf("", inner.segs, "")
		found |= ps.listed(&inner)
	}
	return found
}

// maxMounts bounds systems mounted in systems: /proc/1/root/private/etc.
const maxMounts = 4

func (ps *paths) listed(s *spot) (found guard) {
	for _, seg := range s.segs {
		for _, i := range ps.byWord[seg] {
			found |= ps.globs[i].test(s)
		}
	}
	for _, i := range ps.rest {
		found |= ps.globs[i].test(s)
	}
	return found
}

// holdsProtected reports whether the folder s has something protected inside,
// so that removing or moving it, or going there, touches that. Folders of the
// system are too wide to say so of everybody who mentions them.
func (ps *paths) holdsProtected(s *spot, system bool) bool {
	for _, i := range ps.protected {
		g := &ps.globs[i]
		if g.root == absolute && !system {
			continue
		}
		segs, ok := g.from(s)
		if ok && (holds(g.low, segs) || system && len(segs) == 0 && g.root != anywhere) { // a whole home, or all there is
			return true
		}
	}
	return false
}

// holdsGuarded returns the lists something in the folder s could be on, so
// that putting a folder there may put that there.
func (ps *paths) holdsGuarded(s *spot) (found guard) {
	for i := range ps.globs {
		g := &ps.globs[i]
		if g.guard&(isInstructs|isProtected)&^found == 0 {
			continue
		}
		if segs, ok := g.from(s); ok && (holds(g.low, segs) || len(segs) == 0 && g.root != anywhere) {
			found |= g.guard & (isInstructs | isProtected)
		}
	}
	return found
}

// mayBeSecret reports whether a pattern may match a key by its own name.
func (ps *paths) mayBeSecret(s *spot) guard {
	for i := range ps.globs {
		g := &ps.globs[i]
		if last := g.low[len(g.low)-1]; g.guard&isSecret == 0 || last != "**" && strings.ContainsAny(last, "*?") {
			continue
		}
		if segs, ok := g.from(s); ok && meets(g.low, segs) {
			return g.guard & (isSecret | isPass)
		}
	}
	return 0
}

// passesIn reports whether reading a pattern or a tree inside the monitor's own
// folders reads a pass. A wider tree holds keys of all sorts, which is asked about
// when something leaves.
func (ps *paths) passesIn(s *spot) guard {
	if s.guard&isProtected == 0 {
		return 0
	}
	for _, i := range ps.passes {
		g := &ps.globs[i]
		if segs, ok := g.from(s); ok && (meets(g.low, segs) || holds(g.low, segs)) {
			return isPass | isProtected | isSecret
		}
	}
	return 0
}

// mayBe returns the lists something could be on that a pattern matches, or, if
// folders count, something in a folder it matches.
func (ps *paths) mayBe(s *spot, folders bool) (found guard) {
	for i := range ps.globs {
		g := &ps.globs[i]
		if g.guard&(isInstructs|isProtected)&^found == 0 {
			continue
		}
		segs, ok := g.from(s)
		if !ok || g.low[len(g.low)-1] == "**" && slices.Contains(segs, "**") { // a whole tree has everything in it
			continue
		}
		if meets(g.low, segs) {
			found |= g.guard & (isInstructs | isProtected)
		}
		for n := 1; folders && n < len(g.low) && g.guard&isProtected != 0; n++ {
			if g.low[n-1] != "**" && meets(g.low[:n], segs) {
				found |= isProtected
			}
		}
	}
	return found
}

func (g *pathGlob) test(s *spot) guard {
	if g.root == anywhere && len(g.low) == 2 { // «**/name», the most common form
		if n := len(s.segs); n > 0 && matchSegment(g.low[1], s.segs[n-1]) {
			return g.guard
		}
		return 0
	}
	if segs, ok := g.from(s); ok && g.low.Match(segs) {
		return g.guard
	}
	return 0
}

// from returns the segments g is to be matched against.
func (g *glob) from(s *spot) ([]string, bool) {
	switch g.root {
	case atHome:
		if s.home < 0 {
			return nil, false
		}
		return s.segs[s.home:], true
	case absolute:
		return s.segs, s.absolute
	default:
		return s.segs, true
	}
}

// clean makes value absolute and removes every detour from it.
func clean(value, base, home string) string {
	if strings.Contains(value, `\`) {
		value = strings.ReplaceAll(value, `\`, "/")
	}
	return cleanSlashes(value, base, home)
}

// cleanSlashes is clean where only «/» separates.
func cleanSlashes(value, base, home string) string {
	v := strings.TrimSpace(value)
	if _, rest, ok := fileURL(v); ok {
		v = rest
	}
	if len(v) > 1 && v[0] == '@' && (v[1] == '/' || v[1] == '~' || v[1] == '.') {
		v = v[1:]
	}
	v = expandHome(v, home)
	if !isAbsolute(v) && base != "" {
		v = base + "/" + v
	}
	return path.Clean(v)
}

// fileURL takes a file URL apart: the machine it names, if another than this
// one, and the path there.
func fileURL(v string) (host, file string, ok bool) {
	rest, ok := cutFold(v, "file:")
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

func expandHome(v, home string) string {
	for _, name := range [...]string{"~", "$HOME", "${HOME}", "%USERPROFILE%", "$env:USERPROFILE"} {
		rest, ok := strings.CutPrefix(v, name)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if home == "" {
			return "/~" + rest
		}
		return home + rest
	}
	if strings.HasPrefix(v, "~") { // another user's home
		if _, rest, ok := strings.Cut(v, "/"); ok {
			return "/~/" + rest
		}
		return "/~"
	}
	return v
}

func isAbsolute(v string) bool {
	return strings.HasPrefix(v, "/") || len(v) > 2 && v[1] == ':' && v[2] == '/'
}

func cutFold(s, head string) (string, bool) {
	if len(s) >= len(head) && strings.EqualFold(s[:len(head)], head) {
		return s[len(head):], true
	}
	return s, false
}

func splitPath(p string, buf []string) []string {
	segs := buf[:0]
	for p != "" {
		var seg string
		seg, p, _ = strings.Cut(p, "/")
		if seg != "" {
			segs = append(segs, seg)
		}
	}
	return segs
}

// homeOf returns where the inside of a home begins. Any home counts, because
// another person's keys are keys too.
func homeOf(low string, segs []string, home string) int {
	if home != "" {
		if h := foldPath(path.Clean(home)); within(low, h) {
			return strings.Count(strings.Trim(h, "/"), "/") + 1
		}
	}
	switch {
	case len(segs) > 0 && (segs[0] == "~" || segs[0] == "root"):
		return 1
	case len(segs) > 1 && (segs[0] == "home" || segs[0] == "users"):
		return 2
	case len(segs) > 1 && segs[0] == "var" && segs[1] == "root":
		return 2
	case len(segs) > 2 && strings.HasSuffix(segs[0], ":") && segs[1] == "users":
		return 3
	default:
		return -1
	}
}

// within reports whether p is folder or lies in it.
func within(p, folder string) bool {
	if folder == "" || folder == "/" {
		return false
	}
	folder = strings.TrimSuffix(folder, "/")
	return strings.HasPrefix(p, folder) && (len(p) == len(folder) || p[len(folder)] == '/')
}
