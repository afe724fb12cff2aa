// Package instructions says where an agent finds instructions by itself: files that it
// loads without a call, so without a question. What decides is where a file lies, seen
// from the folders that the agent works in; which names instruct is the catalog's to say.
//
// In the project and above it the names of all agents count for each, because agents read
// one another's files. At home only an agent's own folders count; an agent that is not on
// the list reads all of them.
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

// A Reader is an agent at work. Paths are clean; those that it is asked about are also
// folded, as by catalog.FoldPath.
type Reader struct {
	home    string
	begins  []string // the folders that it begins in
	paths   []string // what it works on, these folders among it
	roots   []string // of the repositories that these lie in
	looked  bool     // those were looked for
	own     []string // its folders at home
	all     []string // those of all agents
	commits bool     // it shows its model the last commits

	homeAt string   // the home, and
	at     []string // what it works on, as they are spelled
}

// New is a program such as «pi». One that is not known reads what any does. Guarded are
// patterns that the owner lists as instructions: if one names a folder below the home, that
// of some agent was moved there.
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

// Begin says that the agent begins in folders.
func (r *Reader) Begin(folders ...string) { r.begins = folded(r.begins, folders) }

// Pass says that the agent works on paths: it passes the folders above them.
func (r *Reader) Pass(paths ...string) {
	r.paths, r.at = folded(r.paths, paths), append(r.at, paths...)
}

// In says whose files the agent works on: the roots of repositories, or of none.
// Without it, the agent may work on any around its folders.
func (r *Reader) In(roots ...string) { r.looked, r.roots = true, folded(r.roots, roots) }

func folded(list, more []string) []string {
	for _, p := range more {
		if p = catalog.FoldPath(p); p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// A World is what sessions left behind, and how it lies.
type World struct {
	// Below is what was left below a folder.
	Below func(folder string) []floodmark.ArtifactRef
	// Instructs reports whether a file at a path is called as instructions are.
	Instructs func(path string) bool
	// Disk tells where links lead; nil where the disk is out of reach.
	Disk interface {
		Links(folder string, deep bool) map[string]string
	}
}

// Loads are what was left where the agent comes across it by itself.
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

// linked are what was left where links lead that the agent follows to instructions.
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

// unique leaves the first of each.
func unique(refs []floodmark.ArtifactRef) (list []floodmark.ArtifactRef) {
	for _, ref := range refs {
		if !slices.Contains(list, ref) {
			list = append(list, ref)
		}
	}
	return list
}

// looks are the folders in which something may lie that the agent comes across by itself.
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

// links are the folders in which a link may lead the agent elsewhere, and whether it goes
// into the folders in them.
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

// shows reports a path that stands for commits which the agent shows its model when it
// starts: those of the repositories it works in.
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

// reads reports whether the agent loads a file at a path by itself if that is called as
// instructions are. It looks below the folders that it begins in, in the parents of what it
// works on, and in its own folders at home. What git keeps for itself, git obeys, and no
// agent does.
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

// passes reports whether a path lies in a folder above another one, and not in another folder
// of that, which is another project, unless it is an agent's.
func (r *Reader) passes(name, p string) bool {
	for up := path.Dir(p); up != "/" && up != "."; up = path.Dir(up) {
		if rest, ok := below(name, up); ok {
			return !strings.Contains(rest, "/") || up != r.home && (strings.HasPrefix(rest, ".github/") || leads(r.all, rest))
		}
	}
	return false
}

// leads reports whether a path leads into one of some folders. What lies in their working
// trees is other projects.
func leads(folders []string, rest string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		start, open := strings.CutSuffix(f, "*")
		in := under(rest, f) || open && strings.HasPrefix(rest, start)
		return in && !strings.HasPrefix(rest, f+"/worktrees/")
	})
}

// under reports whether a path is a folder, or lies in it.
func under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// below is what of a path lies below a folder.
func below(p, folder string) (string, bool) {
	if folder == "" || p == folder || !under(p, folder) {
		return "", false
	}
	return p[len(strings.TrimSuffix(folder, "/"))+1:], true
}
