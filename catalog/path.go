package catalog

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// Places says what «~» and a relative path mean. Either may be empty: then
// such a path belongs to no project.
type Places struct {
	Project string
	Home    string
}

// A PathKind says what sort of place a path is. Later kinds are more guarded.
type PathKind uint8

// The kinds of paths. The first four say where a path lies, the last three what is there.
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

// guard is the set of lists that a path is on, and of flags for its location.
type guard uint32

const (
	isForeign guard = 1 << iota
	isSecret
	isInstructs
	isProtected
	isPass   // a credential for the monitor's doors
	isShared // what is written there reaches others, or another machine
	isLoaded // programs load it from there, unless it belongs to the project
	isMemory // what an agent is told in later sessions
	isTyped  // what runs when a developer types a command
	isScratch
	isPlain
	isSuspect // may hold credentials: look inside if possible
	isExample // shows how a secret file is written
	isDotted  // in the project or scratch, with a dot, unless nothing obeys the name
	isHidden  // elsewhere, with a dot
	isOmits   // says what is left out of commits and releases
	isOutside // neither in the project nor scratch
	isHere    // on the disks of this machine
	isAway    // elsewhere, for all that is known: its name may be one of another machine
)

// whereWritten are the guards that matter only for writes.
const whereWritten = isInstructs | isShared | isLoaded | isMemory | isTyped | isDotted | isHidden | isOmits | isOutside

// guarded are the guards that are searched for inside a folder or pattern.
const guarded = isInstructs | isTyped | isProtected

// guardLists returns the guards by the names of their lists in a file.
func guardLists() map[string]guard {
	return map[string]guard{
		"secret": isSecret, "instructs": isInstructs, "selfProtected": isProtected, "foreign": isForeign, "passes": isPass | isProtected | isSecret,
		"shared": isShared | isForeign, "served": isShared, "loaded": isLoaded, "memory": isMemory, "typed": isTyped, "scratch": isScratch, "plain": isPlain,
		"maybeSecret": isSuspect, "examples": isExample, "here": isHere, "leavesOut": isOmits,
	}
}

// pathGlob is one line of one list of paths.
type pathGlob struct {
	glob
	guard guard
}

// paths finds the lists a path is on. Lists that tighten are matched without regard to case, which
// some machines ignore. Scratch and plain names are what may be written below Local; they are
// matched exactly.
type paths struct {
	globs     []pathGlob
	open      []pathGlob       // scratch and plain names
	byWord    map[string][]int // by the longest literal segment
	rest      []int            // without one
	protected []int
	passes    []int
}

func newPaths(globs []pathGlob) paths {
	p := paths{byWord: map[string][]int{}}
	for _, g := range globs {
		if g.guard&(isScratch|isPlain) != 0 {
			p.open = append(p.open, g)
			continue
		}
		i := len(p.globs)
		p.globs = append(p.globs, g)
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

// MaxPathBytes is the longest path examined, as on Linux. A longer path is taken for foreign.
const MaxPathBytes = 4096

// spot is a path made absolute as far as possible without a disk.
type spot struct {
	text     string   // as shown to people
	segs     []string // folded
	home     int      // index of the first segment inside a home, or -1
	absolute bool
	kind     PathKind // InProject, Elsewhere or Foreign
	guard    guard
}

// look resolves a path. Relative ones are taken from base. The segments are kept in buf if they
// fit.
func (ps *paths) look(value, base string, at Places, buf []string) spot {
	if len(value) > MaxPathBytes {
		return spot{text: value[:64], home: -1, kind: Foreign, guard: isForeign | isOutside | isHidden}
	}
	s := spotAt(clean(value, base, at.Home), at, buf)
	if within(s.text, at.Project) {
		s.kind = InProject
	}
	s.guard = ps.placed(&s, at)
	if s.kind == InProject {
		s.guard &^= isAway
	}
	if strings.Contains(value, `\`) { // if this is no separator, «..» leads elsewhere
		other := spotAt(cleanSlashes(value, base, at.Home), at, nil)
		s.guard |= ps.placed(&other, at)
	}
	if host, file, _ := address.FileURL(strings.TrimSpace(value)); host != "" { // some parsers ignore the host
		other := spotAt(clean(host+file, base, at.Home), at, nil)
		s.guard |= ps.placed(&other, at)
	}
	if s.kind == InProject && s.guard&isShared != 0 { // a shared project is shared already
		project := spotAt(clean(at.Project, "", at.Home), at, nil)
		s.guard &^= ps.guards(&project) & isShared
	}
	if s.guard&isForeign != 0 {
		s.kind = Foreign
	}
	if s.guard&(isExample|isSecret|isPass) == isExample|isSecret {
		s.guard ^= isSecret | isSuspect
	}
	return s
}

// placed returns the lists s is on, and the flags for its location. In a session below Local only
// the project and scratch may be written, and no name with a dot, unless nothing obeys such a file.
func (ps *paths) placed(s *spot, at Places) guard {
	found := ps.guards(s)
	names := splitPath(s.text, make([]string, 0, 24))
	inside, from := at.Project == "" && !s.absolute && names[0] != "..", 0
	if within(s.text, at.Project) {
		inside, from = true, len(splitPath(path.Clean(at.Project), make([]string, 0, 24)))
	}
	own := inside && s.home < max(from, 1) // and does not hold a home
	if !inside {
		from, inside = ps.scratch(s, names, at)
		own = inside
	}
	if own {
		found &^= isLoaded
	}
	switch {
	case !inside:
		found |= isOutside
		fallthrough
	case !own:
		if ps.dotted(names[max(0, from):]) && found&isMemory == 0 {
			found |= isHidden
		}
	case ps.dotted(names[from:]):
		found |= isDotted
	}
	return found
}

// scratch reports whether s is in a world-writable folder, and how many of its names are that
// folder's. A folder that contains the project is none, because programs look for their settings
// there.
func (ps *paths) scratch(s *spot, names []string, at Places) (from int, ok bool) {
	project := spotAt(clean(at.Project, "", at.Home), at, nil)
	for i := range ps.open {
		g := &ps.open[i]
		from := 0
		if g.root == atHome {
			from = s.home
		}
		if g.guard&isScratch == 0 || from < 0 || from > len(names) || g.root == absolute && !s.absolute || !g.segs.Match(names[from:]) {
			continue
		}
		if segs, ok := g.from(&project); ok && g.low.Match(segs) {
			continue
		}
		return min(from+len(g.segs)-1, len(names)), true
	}
	return 0, false
}

// dotted reports whether one of the names begins with a dot, except names of files that nothing
// runs or obeys.
func (ps *paths) dotted(names []string) bool {
	for i, name := range names {
		plain := func(g pathGlob) bool { return g.guard&isPlain != 0 && g.segs[1:].Match(names[i:]) }
		if name != "." && name != ".." && strings.HasPrefix(foldPath(name), ".") && !slices.ContainsFunc(ps.open, plain) {
			return true
		}
	}
	return false
}

// spotAt splits a clean path.
func spotAt(text string, at Places, buf []string) spot {
	s := spot{text: text, kind: Elsewhere}
	low := foldPath(text)
	s.absolute = filenames.Absolute(low)
	s.segs = splitPath(low, buf)
	s.home = homeOf(low, s.segs, at.Home)
	return s
}

// guards returns the lists s is on, also by its path inside a system mounted there.
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
		more := ps.listed(&inner)
		if s.segs[0] != "proc" { // /proc/1/root leads everywhere, a disk only to itself
			more &^= isAway
		}
		found |= more
	}
	return found &^ isHere
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
	if s.absolute && len(s.segs) > 1 && s.home < 0 && found&isHere == 0 && !strings.HasSuffix(s.segs[0], ":") {
		found |= isAway
	}
	return found
}

// holdsProtected reports whether the folder s has something protected inside, so that removing or
// moving it, or going there, touches that. System folders count only if system is set: too many
// commands mention them.
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

// holdsGuarded returns the lists that a file in the folder s could be on, because putting a folder
// there may create such a file.
func (ps *paths) holdsGuarded(s *spot) (found guard) {
	for i := range ps.globs {
		g := &ps.globs[i]
		if g.guard&guarded&^found == 0 {
			continue
		}
		if segs, ok := g.from(s); ok && (holds(g.low, segs) || len(segs) == 0 && g.root != anywhere) {
			found |= g.guard & guarded
		}
	}
	return found
}

// mayBeSecret reports whether a pattern may match the name of a key.
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

// passesIn reports whether reading a pattern or a tree inside the monitor's own folders reads a
// pass. A wider tree is only secret, because it contains keys of all sorts.
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

// mayBe returns the lists that a path matching the pattern could be on, or, with folders, a file in
// a folder that matches.
func (ps *paths) mayBe(s *spot, folders bool) (found guard) {
	for i := range ps.globs {
		g := &ps.globs[i]
		if g.guard&guarded&^found == 0 {
			continue
		}
		segs, ok := g.from(s)
		if !ok || g.low[len(g.low)-1] == "**" && slices.Contains(segs, "**") { // a whole tree has everything in it
			continue
		}
		if meets(g.low, segs) {
			found |= g.guard & guarded
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

// from returns the segments to match g against.
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
