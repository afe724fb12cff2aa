package kernel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
)

// The limits of what is kept about what a call loads.
const (
	maxLoads       = 5
	maxLoadSources = 3
)

// loads finds out what a call would run or load that has a lower label than the owner's own work
// and than the mark. The call is judged below that label. For a run, Others stands for the versions
// of what others left there.
func (st *step) loads(j *judged, mark floodmark.Label) {
	tells := j.basis.Network && len(j.use.Reads) > 0
	if !tells && !slices.Contains(j.action.Effects, floodmark.Run) && len(j.use.Loads)+len(j.use.Hooks)+len(j.use.Repositories) == 0 {
		return
	}
	own := st.started(j)
	j.action.Effects = runsHooks(j.action.Effects, own)
	t := st.touched(j)
	list := append(st.leaking(t.reads, tells && !t.guessed, mark), st.sent(j, mark)...)
	add := func(p string, beside floodmark.Label) {
		l := st.load(p, slices.Contains(t.sure, p))
		if l.Label.Trust < floodmark.Local && !beside.AtLeastAsSafe(l.Label) || l.Label.Secrecy < min(beside.Secrecy, floodmark.Internal) {
			list = append(list, l)
		}
	}
	for _, p := range t.loads {
		add(p, mark)
	}
	if project := st.roams(j); project != "" {
		t.loads = addNew(slices.Clip(t.loads), project+"/**")
		add(project+"/**", mark.Join(loaded(&floodmark.Basis{Loads: list})))
	}
	hooks := append(st.hooked(t.hooks), st.obeyed(j, &t, mark)...)
	list = slices.Concat(list, hooks, own)
	j.action.Effects = runsHooks(j.action.Effects, hooks)
	runs := slices.Contains(j.action.Effects, floodmark.Run)
	if runs && mark.Trust > floodmark.Untrusted {
		around := st.outside()
		j.around = around.kept
		list = append(list, around.named()...)
	}
	if runs {
		if versions := st.versions(&t); len(versions) > 0 {
			j.basis.Others = loadDigest(versions)
		}
	}
	slices.SortStableFunc(list, func(a, b floodmark.Load) int { return cmp.Compare(a.Label.Trust, b.Label.Trust) })
	if len(list) > maxLoads {
		for _, l := range list[maxLoads:] {
			list[maxLoads-1].Label = list[maxLoads-1].Label.Join(l.Label)
		}
		list = list[:maxLoads]
	}
	j.basis.Loads = list
}

// leaking returns the files more private than the mark that a line reads and may send to the host
// it reaches. The call is judged as if they had been read before.
func (st *step) leaking(reads []string, tells bool, mark floodmark.Label) (list []floodmark.Load) {
	for _, p := range reads {
		l := st.weigh(st.onPath(p)).label().Join(st.lies(strings.TrimSuffix(p, "/**")))
		if l.Trust = floodmark.Clean().Trust; tells && l.Secrecy < min(mark.Secrecy, floodmark.Internal) {
			list = append(list, floodmark.Load{Artifact: pathRef(p), Label: l})
		}
	}
	return list
}

// sent returns the checkouts that a push sends, if they lower the mark: the session may not have
// read them yet. Records of files that are gone are included, since a commit may contain the files.
// So is the trust of the repository; an unknown folder is taken for a stranger's.
func (st *step) sent(j *judged, mark floodmark.Label) (list []floodmark.Load) {
	if !slices.Contains(j.action.Effects, floodmark.Send) {
		return nil
	}
	if slices.Contains(j.use.Repositories, "") && mark.Trust > floodmark.External {
		list = append(list, floodmark.Load{Artifact: treeRef("/"), Label: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Public}})
	}
	var dirs []string
	for _, p := range j.use.Hooks {
		if dir, name, ok := strings.Cut(p, "/.git/hooks/"); ok && (name == "pre-push/**" || name == "**") {
			dirs = append(append(dirs, dir), besides(st.s.Stands, "")...)
		}
	}
	for _, dir := range unique(dirs) {
		dir = st.tree(dir)
		c := st.weigh(st.onPath(dir + "/**"))
		l := floodmark.Load{Artifact: treeRef(dir), Label: c.label()}
		if st.fromRepository(&l, dir); l.Label.Trust < floodmark.Local && !mark.AtLeastAsSafe(l.Label) || l.Label.Secrecy < min(mark.Secrecy, floodmark.Internal) {
			l.Sources = c.worst(l.Sources)
			list = append(list, l)
		}
	}
	return list
}

// tree returns the checkout around a folder, or the folder: a push may send all that is in it.
func (st *step) tree(dir string) string {
	dir = st.resolved([]string{dir})[0]
	if st.in.Disk != nil {
		if c, ok := st.in.Disk.Around(dir); ok && c.Root != "" {
			return c.Root
		}
	}
	return dir
}

// An approval of a run covers what the run loads, as that is on disk. What a program loads in turn
// is unknown, so the approval depends on all that the program could find by itself: everything but
// scratch folders that the run does not name.

// versions returns words that change with what a run would load: what other sessions below Local
// left, where the shell may be, what this session wrote, and the files on the line as they are on
// disk.
func (st *step) versions(t *touch) (list []string) {
	for _, p := range append(slices.Clone(t.loads), t.hooks...) {
		for _, k := range st.acting(p) {
			if k.Version.Session != st.ev.Session && st.weigh([]Kept{k}).label().Trust < floodmark.Local {
				list = append(list, fmt.Sprintf("%s\x00%s\x00%d", k.Version.Session, k.Ref, k.Version.Seq))
			}
		}
	}
	for _, dir := range st.s.Stands {
		list = append(list, "in "+dir)
	}
	for _, w := range st.s.Wrote {
		if st.reaches(t, w.Ref.Name) {
			list = append(list, fmt.Sprintf("%s\x00%d", w.Ref, w.N))
		}
	}
	for _, p := range t.sure {
		if st.in.Disk == nil || strings.ContainsAny(p, "*?[") {
			continue
		}
		if d := st.in.Disk.Content(p); !d.IsZero() {
			list = append(list, p+"\x00"+d.String())
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// loadDigest returns a digest of the versions of what is loaded.
func loadDigest(versions []string) floodmark.Digest {
	return floodmark.DigestOf("loads\x00" + strings.Join(versions, "\x00"))
}

// reaches reports whether a run may load the file at a path. A program looks for code beside its
// files and in all folders above, so only a file is out of reach that has no top folder in common
// with what the run names, the home or the project.
func (st *step) reaches(t *touch, name string) bool {
	_, _, asked := st.r.Catalog.Guards(name, false, st.places())
	return t.runs == "" || len(asked) > 0 || slices.ContainsFunc(slices.Concat(t.loads, t.hooks, []string{t.runs, st.s.Home, st.s.Project}), func(p string) bool {
		return p != "" && strings.Split(catalog.FoldPath(p)+"/", "/")[1] == strings.Split(name+"/", "/")[1]
	})
}

// under reports whether a path is a folder, or is in it.
func under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// load returns what running the file at a path would load. Its label joins the records of the path
// with the label of the place. The place is left out if the path was guessed, is the system's, or
// has a record of the whole file.
func (st *step) load(p string, known bool) floodmark.Load {
	c := st.weigh(st.acting(p))
	l := floodmark.Load{Artifact: pathRef(p), Label: c.label()}
	at, place := l.Artifact, strings.TrimSuffix(p, "/**")
	whole := slices.ContainsFunc(c.kept, func(k Kept) bool { return k.Ref == at && k.Whole })
	if known && !whole && !catalog.OfSystem(place) {
		l.Label = l.Label.Join(st.pathLabel(place))
	}
	st.fromRepository(&l, place)
	l.Sources = c.worst(l.Sources)
	return l
}

// fromRepository lowers a load by the repository of others that a place is in.
func (st *step) fromRepository(l *floodmark.Load, place string) {
	for _, n := range st.repository(place) {
		l.Label.Trust = min(l.Label.Trust, n.worth)
		l.Sources = append(l.Sources, n.source)
	}
}

// outside returns what sessions below Local left outside of the project where programs find code by
// themselves: at home, around the project, among the programs of the system. Which of these files a
// run loads is not known, so all are returned, under any name.
func (st *step) outside() carried {
	project := strings.TrimSuffix(catalog.FoldPath(st.s.Project), "/")
	var refs, below []floodmark.ArtifactRef
	for _, dir := range slices.Concat(catalog.SystemFolders(), ancestors(project), []string{st.s.Home}) {
		refs = append(refs, treeRef(dir), folderRef(dir))
	}
	for _, dir := range ancestors(st.s.Home) {
		refs = append(refs, treeRef(dir))
	}
	found := st.find(refs...)
	for _, k := range found {
		below = append(below, k.Below...)
	}
	below = slices.DeleteFunc(below, func(ref floodmark.ArtifactRef) bool { return slices.Contains(refs, ref) })
	c := st.weigh(append(found, st.find(below...)...))
	c.kept = slices.DeleteFunc(c.kept, func(k Kept) bool {
		return ofGit(k.Ref) || strings.HasPrefix(k.Ref.Name+"/", project+"/") && project != "" || c.only(k).label().Trust >= floodmark.Local
	})
	slices.SortStableFunc(c.kept, func(a, b Kept) int { return cmp.Compare(c.only(a).label().Trust, c.only(b).label().Trust) })
	c.kept = c.kept[:min(len(c.kept), maxArtifactPaths)]
	return c
}

// only returns one of the records, with what the owner says of it.
func (c carried) only(k Kept) carried { c.kept = []Kept{k}; return c }

// named returns the records as loads. Loads are public: only a read of them makes them private.
func (c carried) named() (list []floodmark.Load) {
	for _, k := range c.kept {
		l := floodmark.Label{Trust: c.only(k).label().Trust, Secrecy: floodmark.Public}
		list = append(list, floodmark.Load{Artifact: k.Ref, Label: l, Sources: c.only(k).worst(nil)})
	}
	return list
}

// acting returns the records that apply to a path when it is run. Commits are left out: they are
// pushed, and nothing runs them.
func (st *step) acting(p string) []Kept {
	return slices.DeleteFunc(st.there(st.onPath(p)), func(k Kept) bool { return ofGit(k.Ref) })
}

// there returns the records of what is still on disk: nothing else can be run or read.
func (st *step) there(kept []Kept) []Kept {
	return slices.DeleteFunc(kept, func(k Kept) bool {
		return st.in.Disk != nil && onDisk(k.Ref.Kind) && !ofGit(k.Ref) && st.in.Disk.Missing(k.Ref.Name)
	})
}

// roams returns the project if the call may read all of it, else "". A run may load any
// file of the project, and a box shows all of it.
func (st *step) roams(j *judged) string {
	if st.s.Project == "" || !j.decision.Contained() && !slices.Contains(j.action.Effects, floodmark.Run) {
		return ""
	}
	return st.resolved([]string{st.places().Clean(st.s.Project, "")})[0]
}

// worst adds the least trusted sources of some records to a list, for a person to read.
func (c carried) worst(list []floodmark.Source) []floodmark.Source {
	all := c.sources()
	slices.SortStableFunc(all, func(a, b floodmark.Source) int { return cmp.Compare(c.worth(a).Trust, c.worth(b).Trust) })
	for _, s := range all {
		if len(list) < maxLoadSources && c.worth(s).Trust < floodmark.Local {
			list = append(list, s)
		}
	}
	return list
}

// hooked returns the files that a command obeys by itself and that something below Local put there.
// In git's own folder, a record that spares this folder is left out: git and boxes bring no hooks
// into it.
func (st *step) hooked(paths []string) []floodmark.Load {
	var list []floodmark.Load
	for _, p := range paths {
		at := catalog.FoldPath(strings.TrimSuffix(p, "/**"))
		if !inGit(at) && st.in.Disk != nil && st.in.Disk.Missing(at) {
			continue
		}
		c := st.weigh(slices.DeleteFunc(st.onPath(p), func(k Kept) bool { return k.Spares && inGit(at) && !inGit(k.Ref.Name) }))
		if l := c.label(); l.Trust < floodmark.Local {
			list = append(list, floodmark.Load{Artifact: pathRef(p), Label: l, Sources: c.worst(nil)})
		}
	}
	return list
}

// inGit reports whether a path is in the folder that git keeps for itself.
func inGit(p string) bool { return strings.Contains(p+"/", "/.git/") }

// runsHooks returns the effects of a call that would run these hooks of others. It includes Run.
func runsHooks(effects []floodmark.Effect, hooks []floodmark.Load) []floodmark.Effect {
	if len(hooks) == 0 || slices.Contains(effects, floodmark.Run) {
		return effects
	}
	return append(slices.Clip(effects), floodmark.Run)
}

// pathLabel returns the label of running a file from its place.
func (st *step) pathLabel(p string) floodmark.Label {
	kind, _ := st.r.Catalog.Where(p, st.places())
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	if kind == catalog.Foreign {
		l.Trust = floodmark.External
	}
	return st.r.Policy.PlaceLabel(l, p, kind, st.s.Project != "", st.s.Home)
}

// loaded returns the joined label of all that a call would load.
func loaded(b *floodmark.Basis) floodmark.Label {
	l := floodmark.Clean()
	for _, load := range b.Loads {
		l = l.Join(load.Label)
	}
	return l
}

// below lowers a context by what a call would load.
func (st *step) below(b *floodmark.Basis, ctx Context) Context {
	st.loading = slices.ContainsFunc(report.LoadedFrom(b), func(s floodmark.Source) bool { return !s.Digest.IsZero() })
	if len(b.Loads) == 0 {
		return ctx
	}
	l := loaded(b)
	ctx.Mark = ctx.Mark.Join(l)
	ctx.Levels |= provenance.LevelsOf(l.Trust)
	return ctx
}

// endorsable returns the sources an owner may vouch for here: those of the session,
// and those of what could not be loaded.
func (st *step) endorsable() []floodmark.Source {
	return append(slices.Collect(st.s.Ledger.Sources()), st.s.Offered...)
}
