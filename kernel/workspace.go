package kernel

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// resolved returns paths with their links followed.
func (st *step) resolved(paths []string) []string {
	if st.in.Disk == nil {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		if at := strings.IndexAny(p, "*?["); at < 0 {
			out[i] = st.in.Disk.Resolve(p)
		} else if end := strings.LastIndexByte(p[:at], '/'); end > 0 { // a link may stand before what a shell matches
			out[i] = strings.TrimSuffix(st.in.Disk.Resolve(p[:end]), "/") + p[end:]
		}
	}
	return out
}

// foreign returns the checkout of others a path is in, unless the policy lists the path as the
// owner's own.
func (st *step) foreign(p string) (Checkout, bool) {
	if st.in.Disk == nil || p == "" {
		return Checkout{}, false
	}
	p = strings.TrimSuffix(p, "/**")
	c, ok := st.in.Disk.Around(p)
	return c, ok && !c.Own && c.Commit != "" && !st.listed(p)
}

// listed reports whether the policy lists a place as the owner's own.
func (st *step) listed(p string) bool {
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	return st.r.Policy.PlaceLabel(l, p, catalog.Elsewhere, false, st.s.Home).Trust >= floodmark.Local
}

// revisions returns the revisions of others from which git shows or writes something that is not
// part of what is checked out.
func (st *step) revisions(use *catalog.Use) (list []Checkout) {
	if st.in.Disk == nil || len(use.Revisions.Words) == 0 {
		return nil
	}
	for _, dir := range st.resolved(addNew(slices.Clip(use.Repositories), st.s.Project)) {
		if dir != "" && !st.listed(dir) {
			list = append(list, st.in.Disk.Revisions(dir, use.Revisions.Words)...)
		}
	}
	return list
}

// checkout brings the repository of others that a path is read from into the
// session, once, and returns its node.
func (st *step) checkout(p string) []floodmark.NodeID {
	c, ok := st.foreign(p)
	if !ok {
		return nil
	}
	return st.take(c)
}

func (st *step) take(c Checkout) []floodmark.NodeID {
	src := c.Source()
	if n, ok := st.s.Ledger.Find(src.Digest); ok {
		return []floodmark.NodeID{n}
	}
	for _, f := range st.out.Facts {
		if seen, ok := f.(floodmark.ContentSeen); ok && seen.Digest == src.Digest {
			return []floodmark.NodeID{seen.Node}
		}
	}
	for _, f := range st.heard(st.words([]floodmark.Digest{src.Digest}), st.endorsements()) {
		st.keep(f)
	}
	n := st.node
	label := src.Label
	for _, e := range st.endorsements() {
		if e.Digest == src.Digest {
			label.Trust = max(label.Trust, min(e.Trust, floodmark.Local))
		}
	}
	src.Node = n
	st.bringSeen(src, label)
	return []floodmark.NodeID{n}
}

// bringSeen keeps a source whose label the owner may have raised already.
func (st *step) bringSeen(src floodmark.Source, worth floodmark.Label) {
	if st.brought == nil {
		st.brought = map[floodmark.NodeID]floodmark.Label{}
	}
	st.brought[src.Node] = worth
	st.node++
	st.mark, st.more = st.mark.Join(worth), st.more|provenance.LevelsOf(worth.Trust)
	st.keep(floodmark.ContentSeen{Source: src})
}

// A worthy is a source with the trust it has now.
type worthy struct {
	source floodmark.Source
	worth  floodmark.Trust
}

// repository returns the repository of others that code would be loaded from, unless the owner
// vouched for it at this commit.
func (st *step) repository(p string) []worthy {
	c, ok := st.foreign(p)
	if !ok {
		return nil
	}
	return st.unvouched(c)
}

func (st *step) unvouched(c Checkout) []worthy {
	src := c.Source()
	if c.Team {
		return nil
	}
	if st.vouched([]floodmark.Digest{src.Digest})[src.Digest].Trust > floodmark.External {
		return nil
	}
	if slices.ContainsFunc(st.endorsements(), func(e floodmark.Endorsed) bool { return e.Digest == src.Digest }) {
		return nil
	}
	return []worthy{{src, floodmark.External}}
}

// Git obeys the settings of the repository it works in, and these may name programs: a folder that
// an archive, a clone or a pull brought may be such a repository. The project's own settings are
// the owner's, unless something less trusted was put there. In any other repository a git command
// runs what the settings say, and is judged by the label of their folder.

// Some shells stay in the folder where a command left them, so that the next command works there.
// Which shells do is unknown, so a command is looked at from the project and from that folder.

// maxStands bounds the folders in which a shell may be. If there are more, it may be anywhere.
const maxStands = 4

// fromShell notes where a command leaves its shell. If the mark is below Local, it also adds the
// repositories that git works in if the shell is where an earlier command left it: the owner's own
// words may send a shell anywhere.
func (st *step) fromShell(j *judged, hints *hook.Hints, mark floodmark.Label) {
	if !j.use.Commands() {
		return
	}
	ends := j.use.Ends
	for _, dir := range st.s.Stands {
		u := st.r.Catalog.Classify(j.action.Tool, j.leaves, hints, catalog.Places{Project: dir, Home: st.s.Home})
		for _, end := range u.Ends {
			ends = addNew(slices.Clip(ends), end)
		}
		for _, repository := range u.Repositories {
			if mark.Trust < floodmark.Local {
				j.use.Repositories = addNew(slices.Clip(j.use.Repositories), repository)
			}
		}
	}
	if len(ends) > maxStands {
		ends = []string{""}
	}
	if !slices.Equal(besides(ends, st.s.Project), st.s.Stands) {
		j.basis.Moved = ends
	}
}

// moved takes in where a call left its shell.
func (s *State) moved(b *floodmark.Basis) {
	if b != nil && len(b.Moved) > 0 {
		s.Stands = besides(b.Moved, s.Project)
	}
}

// besides returns the folders other than the project, in order; nil if there are none.
func besides(dirs []string, project string) []string {
	list := without(slices.Clone(dirs), func(dir string) bool { return dir == project })
	slices.Sort(list)
	return list
}

// obeyed returns the repositories that git works in whose settings are trusted below Local.
func (st *step) obeyed(j *judged, t *touch, mark floodmark.Label) []floodmark.Load {
	var list []floodmark.Load
	for _, dir := range j.use.Repositories {
		if dir == "" {
			if mark.Trust < floodmark.Local { // a run like any other of unknown code
				list = append(list, floodmark.Load{Artifact: treeRef("/"), Label: mark})
			}
			continue
		}
		dir = st.resolved([]string{dir})[0]
		paths, own := st.gitSettings(dir)
		l := floodmark.Load{Artifact: pathRef(paths[0]), Label: st.putNow(j, t, dir, paths, mark)}
		if !own {
			st.fromRepository(&l, dir)
		}
		var kept []Kept
		for _, p := range paths {
			if !own {
				l.Label = l.Label.Join(st.pathLabel(strings.TrimSuffix(p, "/**")))
			}
			kept = append(kept, st.onSettings(p)...)
		}
		if own {
			kept = append(kept, st.nested(dir)...)
		}
		c := st.weigh(kept)
		if l.Label = l.Label.Join(c.label()); l.Label.Trust < floodmark.Local {
			l.Sources = c.worst(l.Sources)
			list = append(list, l)
		}
	}
	return list
}

// started returns the programs of the owner's that git runs by itself, the first of each
// repository. What they load in turn is unknown, so the call is a run.
func (st *step) started(j *judged) (list []floodmark.Load) {
	for _, dir := range j.use.Repositories {
		if st.in.Disk == nil || dir == "" {
			continue
		}
		if programs := st.in.Disk.Starts(st.resolved([]string{dir})[0], j.use.Hooks); len(programs) > 0 {
			list = append(list, floodmark.Load{Artifact: pathRef(programs[0]), Label: floodmark.Clean()})
		}
	}
	return list
}

// gitSettings returns where git finds its settings in a folder, and whether they are
// those of the project: its own, or what git keeps with them for another working
// tree or a submodule. Without a disk to read they may be anywhere in the folder.
func (st *step) gitSettings(dir string) (paths []string, own bool) {
	project := st.resolved([]string{st.s.Project})[0]
	git := strings.TrimSuffix(project, "/") + "/.git"
	if st.in.Disk != nil {
		if at, shared := st.in.Disk.Repository(dir); at != "" {
			ours, common := st.in.Disk.Repository(project)
			return []string{at + "/**", shared + "/**"}, project != "" && ours != "" && (at == ours || under(at, common))
		}
	}
	if project != "" && (dir == project || under(dir, git)) {
		return []string{git + "/**"}, true
	}
	return []string{dir + "/**"}, false
}

// onSettings returns the records of files that git obeys. It leaves out commits, and trees from
// git, a box or a pattern that spare git's own folder.
func (st *step) onSettings(p string) []Kept {
	return slices.DeleteFunc(st.onPath(p), func(k Kept) bool {
		return ofGit(k.Ref) || k.Spares && inGit(strings.TrimSuffix(p, "/**")) && !inGit(k.Ref.Name)
	})
}

// nested returns the records of repositories below a folder that a call may have brought as they
// are. Git goes into such a repository if the index names it.
func (st *step) nested(dir string) []Kept {
	kept := slices.DeleteFunc(st.onPath(dir+"/**"), func(k Kept) bool {
		name := k.Ref.Name
		return name == catalog.FoldPath(dir) || !under(name, catalog.FoldPath(dir)) || ofGit(k.Ref) || k.Spares && !inGit(name) ||
			k.Ref.Kind != floodmark.TreeArtifact && !inGit(name)
	})
	if len(kept) == 0 || st.in.Disk == nil {
		return kept
	}
	folders, all := st.in.Disk.Nested(dir)
	return slices.DeleteFunc(kept, func(k Kept) bool {
		return all && !slices.ContainsFunc(folders, func(f string) bool {
			f = catalog.FoldPath(f)
			return under(f, k.Ref.Name) || under(k.Ref.Name, f)
		})
	})
}

// putNow returns the label of settings that the same call may write first: that of what they are
// made from, or clean if it writes none.
func (st *step) putNow(j *judged, t *touch, dir string, settings []string, mark floodmark.Label) floodmark.Label {
	if !slices.Contains(settings, dir+"/.git/**") { // there may be a repository in it afterwards
		settings = append(slices.Clone(settings), dir+"/.git/**", dir+"/HEAD")
	}
	l := floodmark.Clean()
	for _, w := range t.writes {
		by := pathRef(w)
		for _, p := range settings {
			at := pathRef(p)
			if spares(w) && inGit(at.Name) || ofGit(by) || !under(by.Name, at.Name) && !(by.Kind == floodmark.TreeArtifact && under(at.Name, by.Name)) {
				continue
			}
			l = l.Join(mark).Join(provenance.SetLabel(st.lain(t)))
			for _, r := range t.reads {
				l = l.Join(st.weigh(st.onPath(r)).label())
			}
			if slices.Contains(j.action.Effects, floodmark.Fetch) && !spares(w) {
				l.Trust = min(l.Trust, floodmark.External)
			}
		}
	}
	return l
}
