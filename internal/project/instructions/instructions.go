// Package instructions says where an agent finds instructions by itself, in files that it loads
// without a call and therefore without a question. The place of a file decides, as seen from the
// folders that the agent works in. The catalog says which names of files are instructions.
//
// In the project and above it, the folders of all agents apply to each agent, because agents read
// each other's files. At home, only the agent's own folders apply; an agent that is not listed is
// assumed to read the folders of all agents.
package instructions

import (
	_ "embed" // for the folders of agents
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

//go:embed data/agents.txt
var agentList string

// A Reader is an agent and the places in which it works. All paths are clean. Except for homeAt and
// at, they are also folded by catalog.FoldPath.
type Reader struct {
	home    string
	begins  []string // the folders in which the agent starts
	paths   []string // the paths it works on, including these folders
	roots   []string // the roots of the repositories around these paths
	looked  bool     // roots are known
	own     []string // the agent's folders at home
	all     []string // the folders of all agents at home
	commits bool     // the agent shows its model the last commits

	homeAt string   // home, not folded
	at     []string // paths, not folded
}

// New returns a Reader for a program such as «pi». An unknown program is assumed to read what any
// agent reads. Guarded are patterns that the owner lists as instructions. If a pattern names a
// folder below the home, it is treated as one of the agent's own folders that was moved there.
func New(program, home string, guarded []string) *Reader {
	r := &Reader{home: catalog.FoldPath(home), homeAt: home}
	known := false
	for line := range strings.Lines(agentList) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] == "#" {
			continue
		}
		commits := words[1] == "commits"
		folders := slices.DeleteFunc(words[1:], func(w string) bool { return w == "commits" })
		if words[0] == program {
			known, r.own, r.commits = true, folders, commits
		}
		r.all = append(r.all, folders...)
	}
	if !known {
		r.own, r.commits = slices.Clone(r.all), true
	}
	for _, pattern := range guarded {
		if n := strings.IndexAny(pattern, "*?"); n >= 0 {
			pattern = pattern[:strings.LastIndexByte(pattern[:n], '/')+1]
		}
		if rest, ok := below(strings.TrimSuffix(catalog.FoldPath(pattern), "/"), r.home); ok {
			r.own = append(r.own, rest)
		}
	}
	return r
}

// Begin records folders in which the agent starts.
func (r *Reader) Begin(folders ...string) { r.begins = folded(r.begins, folders) }

// Pass records paths that the agent works on. It then also reads instructions in the folders above
// them.
func (r *Reader) Pass(paths ...string) {
	r.paths, r.at = folded(r.paths, paths), append(r.at, paths...)
}

// In records the roots of the repositories in which the agent works; there may be none. Without a
// call of In, any repository around the agent's folders may be one.
func (r *Reader) In(roots ...string) { r.looked, r.roots = true, folded(r.roots, roots) }

func folded(list, more []string) []string {
	for _, p := range more {
		if p = catalog.FoldPath(p); p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// A World says what sessions left behind, and where.
type World struct {
	// Below returns the artifacts below a folder.
	Below func(folder string) []floodmark.ArtifactRef
	// Instructs reports whether the name of a file is a name of instructions.
	Instructs func(path string) bool
	// Disk returns where links in a folder point to; nil if that cannot be examined.
	Disk interface {
		Links(folder string, deep bool) map[string]string
	}
}

// Loads returns the artifacts that the agent loads by itself.
func (r *Reader) Loads(w World) []floodmark.ArtifactRef {
	refs := r.linked(w)
	for _, dir := range r.looks() {
		for _, ref := range w.Below(dir) {
			if w.Instructs(ref.Name) && r.reads(ref.Name) || r.shows(ref.Name) {
				refs = append(refs, ref)
			}
		}
	}
	return unique(refs)
}

// linked returns the artifacts at the targets of links that the agent reads as instructions.
func (r *Reader) linked(w World) (refs []floodmark.ArtifactRef) {
	folders := r.links()
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if w.Disk == nil {
			break
		}
		links := w.Disk.Links(folder, folders[folder])
		for _, link := range slices.Sorted(maps.Keys(links)) {
			if to := catalog.FoldPath(links[link]); w.Instructs(link) && r.reads(catalog.FoldPath(link)) {
				refs = append(refs, floodmark.ArtifactRef{Kind: floodmark.FileArtifact, Name: to}, floodmark.ArtifactRef{Kind: floodmark.TreeArtifact, Name: to})
				refs = append(refs, w.Below(to)...)
			}
		}
	}
	return refs
}

// unique removes duplicates from a list.
func unique(refs []floodmark.ArtifactRef) (list []floodmark.ArtifactRef) {
	for _, ref := range refs {
		if !slices.Contains(list, ref) {
			list = append(list, ref)
		}
	}
	return list
}

// looks returns the folders in which the agent may load something by itself.
func (r *Reader) looks() (list []string) {
	for _, dir := range slices.Concat(r.begins, r.paths, r.roots) {
		for ; dir != "/" && dir != "." && dir != ""; dir = path.Dir(dir) {
			list = append(list, dir)
		}
	}
	if r.home != "" {
		list = append(list, r.home)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// links returns the folders in which the agent may follow a link. The value says whether it also
// looks into the folders inside.
func (r *Reader) links() map[string]bool {
	list := map[string]bool{}
	into := func(dir, folder string) { list[dir+"/"+strings.TrimSuffix(folder, "*")] = true }
	for _, f := range r.own {
		if r.homeAt != "" {
			into(r.homeAt, f)
		}
	}
	for _, p := range r.at {
		for ; p != "/" && p != "." && p != ""; p = path.Dir(p) {
			if _, known := list[p]; !known {
				list[p] = false
			}
			into(p, ".github")
			for _, f := range r.all {
				if p != r.homeAt && strings.HasPrefix(f, ".") {
					into(p, f)
				}
			}
		}
	}
	return list
}

// shows reports whether a path represents commits that the agent shows its model when it starts,
// which are those of the repositories it works in.
func (r *Reader) shows(name string) bool {
	root, rest, git := strings.Cut(name, "/.git/")
	if !git || !r.commits || rest != "head" && rest != "refs" {
		return false
	}
	for _, dir := range r.begins {
		if root == dir || !r.looked && (under(root, dir) || under(dir, root)) {
			return true
		}
	}
	return slices.ContainsFunc(r.roots, func(dir string) bool { return under(root, dir) })
}

// reads reports whether the agent loads a file at a path by itself if the file has a name of
// instructions. It looks below the folders in which it starts, in the parents of the paths it works
// on, and in its own folders at home. It does not read git's own files.
func (r *Reader) reads(name string) bool {
	if strings.Contains(name+"/", "/.git/") {
		return false
	}
	if rest, ok := below(name, r.home); ok && leads(r.own, rest) {
		return true
	}
	return slices.ContainsFunc(r.begins, func(dir string) bool { return under(name, dir) }) ||
		slices.ContainsFunc(r.paths, func(p string) bool { return r.passes(name, p) })
}

// passes reports whether a file is directly in a folder above p, or in an agent's folder there.
// Other folders there are other projects.
func (r *Reader) passes(name, p string) bool {
	for up := path.Dir(p); up != "/" && up != "."; up = path.Dir(up) {
		if rest, ok := below(name, up); ok {
			return !strings.Contains(rest, "/") || up != r.home && (strings.HasPrefix(rest, ".github/") || leads(r.all, rest))
		}
	}
	return false
}

// leads reports whether a path is inside one of the folders, but not in its worktrees, which are
// other projects. A folder may end with «*».
func leads(folders []string, rest string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		start, open := strings.CutSuffix(f, "*")
		in := under(rest, f) || open && strings.HasPrefix(rest, start)
		return in && !strings.HasPrefix(rest, f+"/worktrees/")
	})
}

// under reports whether a path is a folder or is inside it.
func under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// below returns the part of a path below a folder, and whether the path is below it.
func below(p, folder string) (string, bool) {
	if folder == "" || p == folder || !under(p, folder) {
		return "", false
	}
	return p[len(strings.TrimSuffix(folder, "/"))+1:], true
}
