package catalog

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/secret/redact"
	"github.com/floodmark/floodmark/internal/shell/commandbook"
	"github.com/floodmark/floodmark/internal/shell/shellscan"
	"github.com/floodmark/floodmark/internal/text/address"
	"github.com/floodmark/floodmark/internal/text/filenames"
)

// Clean returns the path a value stands for, absolute as far as possible without a disk, and
// without detours. Relative ones are taken from base, or from the project.
func (at Places) Clean(value, base string) string {
	if base == "" {
		base = at.Project
	}
	return clean(value, base, at.Home)
}

// FoldPath maps all names that one file can have on the most forgiving file system to one.
func FoldPath(path string) string { return foldPath(path) }

// Where returns where a clean path is (InProject, Elsewhere or Foreign), and whether a file there
// instructs an agent or is run without being named.
func (c *Catalog) Where(path string, at Places) (kind PathKind, instructs bool) {
	var buf [24]string
	s := c.paths.look(path, "", at, buf[:])
	return s.kind, s.guard&(isInstructs|isHidden) != 0
}

// Guards reports whether a file at a clean path instructs an agent or is run without being named,
// and whether the file makes agents ask the monitor. For a tree, it reports whether it has such a
// file. Placed are the effects of writing there below Local.
func (c *Catalog) Guards(path string, tree bool, at Places) (instructs, protected bool, placed []floodmark.Effect) {
	var buf [24]string
	s := c.paths.look(path, "", at, buf[:])
	found := s.guard
	if tree {
		found |= c.paths.holdsGuarded(&s)
	}
	return found&(isInstructs|isHidden) != 0, found&isProtected != 0, found.placed()
}

// Arg returns what is known about a top-level argument. An undescribed one is judged as critical.
func (u Use) Arg(top string) Arg {
	if u.Profile != nil {
		if a, ok := u.Profile.args[top]; ok {
			return a
		}
	}
	return Arg{Needs: floodmark.Owner}
}

// Commands reports whether an argument of the tool is a command line.
func (u Use) Commands() bool { return u.Profile != nil && u.Profile.command }

// Fresh reports whether, according to its profile and arguments, a call is one command line in a
// new shell that no other call uses. Arguments that are empty or false are ignored.
func (u Use) Fresh(leaves []hook.Leaf) bool {
	if u.Profile == nil || u.Found.Has(floodmark.TakesCommands) {
		return false
	}
	lines := 0
	for _, l := range leaves {
		if u.Profile.args[l.Top].Is == IsCommand {
			lines++
		}
		said := l.Kind != hook.Null && l.Value != "" && (l.Kind != hook.Bool || l.Value != "false")
		if said && !slices.Contains(u.Profile.fresh, l.Top) && !slices.Contains(u.Profile.fresh, l.Top+"="+l.Value) {
			return false
		}
	}
	return lines == 1
}

// SystemFolders returns where the operating system keeps its programs.
func SystemFolders() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/System", "/Library/Developer", "/opt/homebrew", "/nix/store"}
}

// OfSystem reports whether a clean path belongs to the operating system: files there come from the
// machine's installation.
func OfSystem(path string) bool {
	return slices.ContainsFunc(SystemFolders(), func(root string) bool { return within(path, root) })
}

// Remembers reports whether a call writes to or reads from a place shared by sessions, by the
// catalog or by the trust of its result.
func (u Use) Remembers(writes bool) (puts, gets bool) {
	if u.Profile == nil || u.ByPath || u.Profile.command {
		return false, false
	}
	if u.Profile.store != "" {
		return u.Profile.store == "puts", u.Profile.store == "gets"
	}
	shared := u.Returns.Trust == floodmark.Shared
	return shared && writes, shared && !writes
}

// Keeps reports whether secrets are kept at a clean path, by its name.
func (c *Catalog) Keeps(path string, at Places) redact.Keeper {
	var buf [24]string
	switch s := c.paths.look(path, "", at, buf[:]); {
	case s.guard&isSecret != 0:
		return redact.KeepsSecrets
	case s.guard&isSuspect != 0:
		return redact.MayKeep
	default:
		return redact.KeepsNone
	}
}

// MayReach reports whether a pattern may match a path where secrets are kept.
func (c *Catalog) MayReach(pattern string, at Places) bool {
	var buf [24]string
	s := c.paths.look(pattern, "", at, buf[:])
	return slices.ContainsFunc(c.paths.globs, func(g pathGlob) bool {
		segs, ok := g.from(&s)
		return ok && g.guard&(isSecret|isSuspect) != 0 && meets(g.low, segs)
	})
}

// Reaches reports whether a path of [Use.Contents] covers a file: the path is the file, a folder
// around it, or a pattern for it.
func Reaches(path, file string) bool {
	path, file = foldPath(path), foldPath(file)
	if !strings.ContainsAny(path, "*?[") {
		return path == file || path == "/" || within(file, path)
	}
	return meets(splitPath(file, nil), splitPath(path, nil))
}

// Listed returns the patterns of lists of paths («secret», «plain» …), as written.
func (c *Catalog) Listed(lists ...string) (patterns []string) {
	var want guard
	for _, name := range lists {
		want |= guardLists()[name]
	}
	for _, g := range slices.Concat(c.paths.globs, c.paths.open) {
		if g.guard&want != 0 {
			patterns = append(patterns, g.String())
		}
	}
	return patterns
}

// HomeKeeps returns the files and folders of a home that hold secrets.
func (c *Catalog) HomeKeeps() (list []string) {
	for _, pattern := range c.Listed("secret") {
		p, home := strings.CutPrefix(pattern, "~/")
		if n := strings.IndexAny(p, "*?"); n >= 0 {
			p = p[:max(0, strings.LastIndexByte(p[:n], '/'))]
		}
		if home && p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// contents records what a tool reads at a path, unless it only lists names or writes there.
func (j *judge) contents(path string) {
	r := &j.returns
	if j.use.Profile == nil || j.use.Profile.command || !r.secrecyByPath || r.sight == commandbook.Names || j.alters() {
		return
	}
	if r.sight == commandbook.Trees {
		path = strings.TrimSuffix(path, "/") + "/**"
	}
	j.use.Contents = append(j.use.Contents, path)
}

// shown records what a command line shows of a file or folder that it reads.
func (j *judge) shown(e *shellscan.Effect) {
	switch {
	case e.Sight == commandbook.Names:
	case e.Sight == commandbook.History:
		j.use.Contents = list(j.use.Contents, &shellscan.Effect{Path: e.Path + "/.git/objects", Tree: true})
	case e.Tree && e.Only != "":
		for name := range strings.SplitSeq(e.Only, "|") {
			j.use.Contents = list(j.use.Contents, &shellscan.Effect{Path: strings.TrimSuffix(e.Path, "/") + "/**/" + name})
		}
	default:
		j.use.Contents = list(j.use.Contents, e)
	}
}

// clean makes value absolute and removes every detour from it.
func clean(value, base, home string) string {
	return cleanSlashes(strings.ReplaceAll(value, `\`, "/"), base, home)
}

// cleanSlashes is clean with «/» as the only separator.
func cleanSlashes(value, base, home string) string {
	v := strings.TrimSpace(value)
	if _, rest, ok := address.FileURL(v); ok {
		v = rest
	}
	if len(v) > 1 && v[0] == '@' && (v[1] == '/' || v[1] == '~' || v[1] == '.') {
		v = v[1:]
	}
	v = expandHome(v, home)
	if !filenames.Absolute(v) && base != "" {
		v = base + "/" + v
	}
	return path.Clean(v)
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

func splitPath(p string, buf []string) []string {
	segs := slices.Grow(buf[:0], strings.Count(p, "/")+1)
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
