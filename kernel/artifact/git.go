package artifact

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/provenance"
)

// resolved returns paths with their links followed.
func (b *Book) resolved(paths []string) []string {
	if b.Disk == nil {
		return paths
	}
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = p
		if at := strings.IndexAny(p, "*?["); at < 0 {
			out[i] = b.Disk.Resolve(p)
		} else if end := strings.LastIndexByte(p[:at], '/'); end > 0 { // a link may stand before what a shell matches
			out[i] = strings.TrimSuffix(b.Disk.Resolve(p[:end]), "/") + p[end:]
		}
	}
	return out
}

// foreign returns the checkout of others a path is in, unless the policy lists the path as the
// owner's own.
func (b *Book) foreign(p string) (Checkout, bool) {
	if b.Disk == nil || p == "" {
		return Checkout{}, false
	}
	p = strings.TrimSuffix(p, "/**")
	c, ok := b.Disk.Around(p)
	return c, ok && !c.Own && c.Commit != "" && !b.listed(p)
}

// listed reports whether the policy lists a place as the owner's own.
func (b *Book) listed(p string) bool {
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	return b.Policy.PlaceLabel(l, p, catalog.Elsewhere, false, b.At.Home).Trust >= floodmark.Local
}

// revisions returns the revisions of others from which git shows or writes something that is not
// part of what is checked out.
func (b *Book) revisions(use *catalog.Use) (list []Checkout) {
	if b.Disk == nil || len(use.Revisions.Words) == 0 {
		return nil
	}
	for _, dir := range b.resolved(lists.AddNew(slices.Clip(use.Repositories), b.At.Project)) {
		if dir != "" && !b.listed(dir) {
			list = append(list, b.Disk.Revisions(dir, use.Revisions.Words)...)
		}
	}
	return list
}

// A worthy is a source with the trust it has now.
type worthy struct {
	source floodmark.Source
	worth  floodmark.Trust
}

// repository returns the repository of others that code would be loaded from, unless the owner
// vouched for it at this commit.
func (b *Book) repository(p string) []worthy {
	c, ok := b.foreign(p)
	if !ok {
		return nil
	}
	return b.unvouched(c)
}

func (b *Book) unvouched(c Checkout) []worthy {
	src := c.Source()
	if c.Team {
		return nil
	}
	if b.vouched([]floodmark.Digest{src.Digest})[src.Digest].Trust > floodmark.External {
		return nil
	}
	if slices.ContainsFunc(b.Endorsed(), func(e floodmark.Endorsed) bool { return e.Digest == src.Digest }) {
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

// Shell returns where a command leaves its shell, if that is not where it was. If the mark is below
// Local, it also adds the repositories to the use that git works in if the shell is where an earlier
// command left it: the owner's own words may send a shell anywhere.
func (b *Book) Shell(call Call, hints *hook.Hints, mark floodmark.Label) []string {
	if !call.Use.Commands() {
		return nil
	}
	ends := call.Use.Ends
	for _, dir := range b.Trail.Stands {
		u := b.Catalog.Classify(call.Tool, call.Leaves, hints, catalog.Places{Project: dir, Home: b.At.Home})
		for _, end := range u.Ends {
			ends = lists.AddNew(slices.Clip(ends), end)
		}
		for _, repository := range u.Repositories {
			if mark.Trust < floodmark.Local {
				call.Use.Repositories = lists.AddNew(slices.Clip(call.Use.Repositories), repository)
			}
		}
	}
	if len(ends) > maxStands {
		ends = []string{""}
	}
	if slices.Equal(besides(ends, b.At.Project), b.Trail.Stands) {
		return nil
	}
	return ends
}

// obeyed returns the repositories that git works in whose settings are trusted below Local.
func (b *Book) obeyed(call Call, t *touch, mark floodmark.Label) []floodmark.Load {
	var list []floodmark.Load
	for _, dir := range call.Use.Repositories {
		if dir == "" {
			if mark.Trust < floodmark.Local { // a run like any other of unknown code
				list = append(list, floodmark.Load{Artifact: treeRef("/"), Label: mark})
			}
			continue
		}
		dir = b.resolved([]string{dir})[0]
		paths, own := b.gitSettings(dir)
		l := floodmark.Load{Artifact: pathRef(paths[0]), Label: b.putNow(call, t, dir, paths, mark)}
		if !own {
			b.fromRepository(&l, dir)
		}
		var kept []Kept
		for _, p := range paths {
			if !own {
				l.Label = l.Label.Join(b.pathLabel(strings.TrimSuffix(p, "/**")))
			}
			kept = append(kept, b.onSettings(p)...)
		}
		if own {
			kept = append(kept, b.nested(dir)...)
		}
		c := b.weigh(kept)
		if l.Label = l.Label.Join(c.label()); l.Label.Trust < floodmark.Local {
			l.Sources = c.worst(l.Sources)
			list = append(list, l)
		}
	}
	return list
}

// started returns, for each repository, the first program of the owner that git would run without
// being told to. What they load in turn is unknown, so the call is a run.
func (b *Book) started(call Call) (list []floodmark.Load) {
	for _, dir := range call.Use.Repositories {
		if b.Disk == nil || dir == "" {
			continue
		}
		if programs := b.Disk.Starts(b.resolved([]string{dir})[0], call.Use.Hooks); len(programs) > 0 {
			list = append(list, floodmark.Load{Artifact: pathRef(programs[0]), Label: floodmark.Clean()})
		}
	}
	return list
}

// gitSettings returns where git finds its settings in a folder, and whether they are
// those of the project: its own, or what git keeps with them for another working
// tree or a submodule. Without a disk to read they may be anywhere in the folder.
func (b *Book) gitSettings(dir string) (paths []string, own bool) {
	project := b.resolved([]string{b.At.Project})[0]
	git := strings.TrimSuffix(project, "/") + "/.git"
	if b.Disk != nil {
		if at, shared := b.Disk.Repository(dir); at != "" {
			ours, common := b.Disk.Repository(project)
			return []string{at + "/**", shared + "/**"}, project != "" && ours != "" && (at == ours || Under(at, common))
		}
	}
	if project != "" && (dir == project || Under(dir, git)) {
		return []string{git + "/**"}, true
	}
	return []string{dir + "/**"}, false
}

// onSettings returns the records of files that git obeys. It leaves out commits, and trees from
// git, a box or a pattern that spare git's own folder.
func (b *Book) onSettings(p string) []Kept {
	return slices.DeleteFunc(b.onPath(p), func(k Kept) bool {
		return ofGit(k.Ref) || k.Spares && inGit(strings.TrimSuffix(p, "/**")) && !inGit(k.Ref.Name)
	})
}

// nested returns the records of repositories below a folder that a call may have brought as they
// are. Git goes into such a repository if the index names it.
func (b *Book) nested(dir string) []Kept {
	kept := slices.DeleteFunc(b.onPath(dir+"/**"), func(k Kept) bool {
		name := k.Ref.Name
		return name == catalog.FoldPath(dir) || !Under(name, catalog.FoldPath(dir)) || ofGit(k.Ref) || k.Spares && !inGit(name) ||
			k.Ref.Kind != floodmark.TreeArtifact && !inGit(name)
	})
	if len(kept) == 0 || b.Disk == nil {
		return kept
	}
	folders, all := b.Disk.Nested(dir)
	return slices.DeleteFunc(kept, func(k Kept) bool {
		return all && !slices.ContainsFunc(folders, func(f string) bool {
			f = catalog.FoldPath(f)
			return Under(f, k.Ref.Name) || Under(k.Ref.Name, f)
		})
	})
}

// putNow returns the label of settings that the same call may write before git reads them. It is
// the label of what they are made from, or clean if the call writes none.
func (b *Book) putNow(call Call, t *touch, dir string, settings []string, mark floodmark.Label) floodmark.Label {
	if !slices.Contains(settings, dir+"/.git/**") { // there may be a repository in it afterwards
		settings = append(slices.Clone(settings), dir+"/.git/**", dir+"/HEAD")
	}
	l := floodmark.Clean()
	for _, w := range t.writes {
		by := pathRef(w)
		for _, p := range settings {
			at := pathRef(p)
			if spares(w) && inGit(at.Name) || ofGit(by) || !Under(by.Name, at.Name) && !(by.Kind == floodmark.TreeArtifact && Under(at.Name, by.Name)) {
				continue
			}
			l = l.Join(mark).Join(provenance.SetLabel(b.lain(t)))
			for _, r := range t.reads {
				l = l.Join(b.weigh(b.onPath(r)).label())
			}
			if slices.Contains(call.Effects, floodmark.Fetch) && !spares(w) {
				l.Trust = min(l.Trust, floodmark.External)
			}
		}
	}
	return l
}
