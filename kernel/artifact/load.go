package artifact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/text/hostnames"
	"github.com/floodmark/floodmark/kernel/lists"
)

// The limits of what is kept about what a call loads.
const (
	maxLoads       = 5
	maxLoadSources = 3
)

// A Loading is what a call would run or load.
type Loading struct {
	Effects []floodmark.Effect // of the call, with those of what it loads
	Loads   []floodmark.Load
	Others  floodmark.Digest // for a run, it stands for the versions of what others left there
	Around  []Kept           // records of what a run may load from outside of the project
}

// Loads finds out what a call would run or load that has a lower label than the owner's own work
// and than the mark. The call is judged below that label.
func (b *Book) Loads(call Call, mark floodmark.Label) Loading {
	tells := call.Network && len(call.Use.Reads) > 0
	if !tells && !slices.Contains(call.Effects, floodmark.Run) && len(call.Use.Loads)+len(call.Use.Hooks)+len(call.Use.Repositories) == 0 {
		return Loading{Effects: call.Effects}
	}
	own := b.started(call)
	call.Effects = RunsHooks(call.Effects, own)
	t := b.touched(call)
	list := append(b.leaking(t.reads, tells && !t.guessed, mark), b.sent(call, mark)...)
	add := func(p string, beside floodmark.Label) {
		l := b.load(p, slices.Contains(t.sure, p))
		if l.Label.Trust < floodmark.Local && !beside.AtLeastAsSafe(l.Label) || l.Label.Secrecy < min(beside.Secrecy, floodmark.Internal) {
			list = append(list, l)
		}
	}
	for _, p := range t.loads {
		add(p, mark)
	}
	if project := b.roams(call); project != "" {
		t.loads = lists.AddNew(slices.Clip(t.loads), project+"/**")
		add(project+"/**", mark.Join(Loaded(list)))
	}
	hooks := append(b.hooked(t.hooks), b.obeyed(call, &t, mark)...)
	list = slices.Concat(list, hooks, own)
	call.Effects = RunsHooks(call.Effects, hooks)
	got := Loading{Effects: call.Effects}
	runs := slices.Contains(call.Effects, floodmark.Run)
	if runs && mark.Trust > floodmark.Untrusted {
		around := b.outside()
		got.Around = around.kept
		list = append(list, around.named()...)
	}
	if runs {
		if versions := b.versions(&t); len(versions) > 0 {
			got.Others = loadDigest(versions)
		}
	}
	slices.SortStableFunc(list, func(a, b floodmark.Load) int { return cmp.Compare(a.Label.Trust, b.Label.Trust) })
	if len(list) > maxLoads {
		for _, l := range list[maxLoads:] {
			list[maxLoads-1].Label = list[maxLoads-1].Label.Join(l.Label)
		}
		list = list[:maxLoads]
	}
	got.Loads = list
	return got
}

// leaking returns the files more private than the mark that a line reads and may send to the host
// it reaches. The call is judged as if they had been read before.
func (b *Book) leaking(reads []string, tells bool, mark floodmark.Label) (list []floodmark.Load) {
	for _, p := range reads {
		l := b.weigh(b.onPath(p)).label().Join(b.lies(strings.TrimSuffix(p, "/**")))
		if l.Trust = floodmark.Clean().Trust; tells && l.Secrecy < min(mark.Secrecy, floodmark.Internal) {
			list = append(list, floodmark.Load{Artifact: pathRef(p), Label: l})
		}
	}
	return list
}

// sent returns the checkouts that a push sends, if they lower the mark: the session may not have
// read them yet. Records of files that are gone are included, since a commit may contain the files.
// So is the trust of the repository; an unknown folder is taken for a stranger's.
func (b *Book) sent(call Call, mark floodmark.Label) (list []floodmark.Load) {
	if !slices.Contains(call.Effects, floodmark.Send) {
		return nil
	}
	if slices.Contains(call.Use.Repositories, "") && mark.Trust > floodmark.External {
		list = append(list, floodmark.Load{Artifact: treeRef("/"), Label: floodmark.Label{Trust: floodmark.External, Secrecy: floodmark.Public}})
	}
	var dirs []string
	for _, p := range call.Use.Hooks {
		if dir, name, ok := strings.Cut(p, "/.git/hooks/"); ok && (name == "pre-push/**" || name == "**") {
			dirs = append(append(dirs, dir), besides(b.Trail.Stands, "")...)
		}
	}
	for _, dir := range unique(dirs) {
		dir = b.tree(dir)
		c := b.weigh(b.onPath(dir + "/**"))
		l := floodmark.Load{Artifact: treeRef(dir), Label: c.label()}
		if b.fromRepository(&l, dir); l.Label.Trust < floodmark.Local && !mark.AtLeastAsSafe(l.Label) || l.Label.Secrecy < min(mark.Secrecy, floodmark.Internal) {
			l.Sources = c.worst(l.Sources)
			list = append(list, l)
		}
	}
	return list
}

// tree returns the checkout around a folder, or the folder: a push may send all that is in it.
func (b *Book) tree(dir string) string {
	dir = b.resolved([]string{dir})[0]
	if b.Disk != nil {
		if c, ok := b.Disk.Around(dir); ok && c.Root != "" {
			return c.Root
		}
	}
	return dir
}

// An approval of a run covers what the run loads, as it is on disk now. What a program loads in
// turn is unknown, so the approval depends on all files that the program could find, except scratch
// folders that the run does not name.

// versions returns words that change if something changes that a run would load: what other
// sessions below Local left, where the shell may be, what this session wrote, and the files on the
// line as they are on disk.
func (b *Book) versions(t *touch) (list []string) {
	for _, p := range append(slices.Clone(t.loads), t.hooks...) {
		for _, k := range b.acting(p) {
			if k.Version.Session != b.Session && b.weigh([]Kept{k}).label().Trust < floodmark.Local {
				list = append(list, fmt.Sprintf("%s\x00%s\x00%d", k.Version.Session, k.Ref, k.Version.Seq))
			}
		}
	}
	for _, dir := range b.Trail.Stands {
		list = append(list, "in "+dir)
	}
	for _, w := range b.Trail.Wrote {
		if b.reaches(t, w.Ref.Name) {
			list = append(list, fmt.Sprintf("%s\x00%d", w.Ref, w.N))
		}
	}
	for _, p := range t.sure {
		if b.Disk == nil || strings.ContainsAny(p, "*?[") {
			continue
		}
		if d := b.Disk.Content(p); !d.IsZero() {
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
func (b *Book) reaches(t *touch, name string) bool {
	_, _, asked := b.Catalog.Guards(name, false, b.At)
	return t.runs == "" || len(asked) > 0 || slices.ContainsFunc(slices.Concat(t.loads, t.hooks, []string{t.runs, b.At.Home, b.At.Project}), func(p string) bool {
		return p != "" && strings.Split(catalog.FoldPath(p)+"/", "/")[1] == strings.Split(name+"/", "/")[1]
	})
}

// Under reports whether a path is a folder, or is in it.
func Under(p, folder string) bool {
	return p == folder || strings.HasPrefix(p, strings.TrimSuffix(folder, "/")+"/")
}

// load returns what running the file at a path would load. Its label joins the records of the path
// with the label of the place. The place is left out if the path was guessed, is the system's, or
// has a record of the whole file.
func (b *Book) load(p string, known bool) floodmark.Load {
	c := b.weigh(b.acting(p))
	l := floodmark.Load{Artifact: pathRef(p), Label: c.label()}
	place := strings.TrimSuffix(p, "/**")
	whole := slices.ContainsFunc(c.kept, func(k Kept) bool { return k.replaced(p) })
	if known && !whole && !catalog.OfSystem(place) {
		l.Label = l.Label.Join(b.pathLabel(place))
	}
	b.fromRepository(&l, place)
	l.Sources = c.worst(l.Sources)
	return l
}

// fromRepository lowers a load by the repository of others that a place is in.
func (b *Book) fromRepository(l *floodmark.Load, place string) {
	for _, n := range b.repository(place) {
		l.Label.Trust = min(l.Label.Trust, n.worth)
		l.Sources = append(l.Sources, n.source)
	}
}

// outside returns what sessions below Local left outside of the project where programs find code by
// themselves: at home, around the project, among the programs of the system. Which of these files a
// run loads is not known, so all are returned, under any name.
func (b *Book) outside() carried {
	project := strings.TrimSuffix(catalog.FoldPath(b.At.Project), "/")
	var refs, below []floodmark.ArtifactRef
	for _, dir := range slices.Concat(catalog.SystemFolders(), ancestors(project), []string{b.At.Home}) {
		refs = append(refs, treeRef(dir), folderRef(dir))
	}
	for _, dir := range ancestors(b.At.Home) {
		refs = append(refs, treeRef(dir))
	}
	found := b.find(refs...)
	for _, k := range found {
		below = append(below, k.Below...)
	}
	below = slices.DeleteFunc(below, func(ref floodmark.ArtifactRef) bool { return slices.Contains(refs, ref) })
	c := b.weigh(append(found, b.find(below...)...))
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
func (b *Book) acting(p string) []Kept {
	return slices.DeleteFunc(b.there(b.onPath(p)), func(k Kept) bool { return ofGit(k.Ref) })
}

// there returns the records of what is still on disk: nothing else can be run or read.
func (b *Book) there(kept []Kept) []Kept {
	return slices.DeleteFunc(kept, func(k Kept) bool {
		return b.Disk != nil && onDisk(k.Ref.Kind) && !ofGit(k.Ref) && b.Disk.Missing(k.Ref.Name)
	})
}

// roams returns the project if the call may read all of it, else "". A run may load any
// file of the project, and a box shows all of it.
func (b *Book) roams(call Call) string {
	if b.At.Project == "" || !call.Contained && !slices.Contains(call.Effects, floodmark.Run) {
		return ""
	}
	return b.resolved([]string{b.At.Clean(b.At.Project, "")})[0]
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

// hooked returns the files that a command obeys without being told to, and that were written from
// sources below Local. In git's own folder, a record that spares this folder is left out: git and
// boxes bring no hooks into it.
func (b *Book) hooked(paths []string) []floodmark.Load {
	var list []floodmark.Load
	for _, p := range paths {
		at := catalog.FoldPath(strings.TrimSuffix(p, "/**"))
		if !inGit(at) && b.Disk != nil && b.Disk.Missing(at) {
			continue
		}
		c := b.weigh(slices.DeleteFunc(b.onPath(p), func(k Kept) bool { return k.Spares && inGit(at) && !inGit(k.Ref.Name) }))
		if l := c.label(); l.Trust < floodmark.Local {
			list = append(list, floodmark.Load{Artifact: pathRef(p), Label: l, Sources: c.worst(nil)})
		}
	}
	return list
}

// inGit reports whether a path is in the folder that git keeps for itself.
func inGit(p string) bool { return strings.Contains(p+"/", "/.git/") }

// RunsHooks returns the effects of a call that would run these hooks of others. It includes Run.
func RunsHooks(effects []floodmark.Effect, hooks []floodmark.Load) []floodmark.Effect {
	if len(hooks) == 0 || slices.Contains(effects, floodmark.Run) {
		return effects
	}
	return append(slices.Clip(effects), floodmark.Run)
}

// pathLabel returns the label of running a file from its place.
func (b *Book) pathLabel(p string) floodmark.Label {
	kind, _ := b.Catalog.Where(p, b.At)
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	if kind == catalog.Foreign {
		l.Trust = floodmark.External
	}
	return b.Policy.PlaceLabel(l, p, kind, b.At.Project != "", b.At.Home)
}

// Loaded returns the joined label of all that a call would load.
func Loaded(loads []floodmark.Load) floodmark.Label {
	l := floodmark.Clean()
	for _, load := range loads {
		l = l.Join(load.Label)
	}
	return l
}

// Pinned reports whether a lock file was not written by this session and is trusted Shared or more.
func (b *Book) Pinned(p string) bool {
	return !slices.ContainsFunc(b.Trail.Wrote, func(w Wrote) bool { return Under(fileRef(p).Name, w.Ref.Name) }) && b.load(p, true).Label.Trust >= floodmark.Shared
}

// Sound reports whether a push may send the checkout around a folder: it is not a stranger's, no
// source below Local had a hand in it, and nothing private is in it.
func (b *Book) Sound(dir string) bool {
	at := b.tree(dir)
	l := b.weigh(b.onPath(at)).label()
	return len(b.repository(at)) == 0 && l.Trust >= floodmark.Local && l.Secrecy >= floodmark.Internal
}

// OwnPackages reports whether a text names a host only for packages that are in the project, below
// the repository that the owner's or the team's checkout came from. That repository is read from
// settings that no source below Local had a hand in.
func (b *Book) OwnPackages(text, host string) bool {
	if b.Disk == nil {
		return false
	}
	c, ok := b.Disk.Around(b.At.Project)
	paths, below := hostnames.Below(text, host, c.Remote)
	return ok && below && (c.Own || c.Team) && b.weigh(b.onSettings(c.Root+"/.git/**")).label().Trust >= floodmark.Local &&
		!slices.ContainsFunc(paths, func(p string) bool { return b.Disk.Missing(catalog.FoldPath(c.Root + "/" + p)) })
}
