package artifact

import (
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/project/instructions"
	"github.com/floodmark/floodmark/kernel/lists"
	"github.com/floodmark/floodmark/provenance"
)

// A Read is one place that content comes in from: the records of an artifact, and the checkouts of
// others that it is in.
type Read struct {
	Ref       floodmark.ArtifactRef
	Kept      []Kept
	Checkouts []Checkout
}

// Reads returns what a call reads, and the paths of that: the whole project if it may read all of it.
func (b *Book) Reads(call Call) (list []Read, paths []string) {
	paths, project := b.touched(call).reads, b.roams(call)
	if project != "" {
		paths = lists.AddNew(slices.Clip(paths), project)
	}
	for _, p := range paths {
		r := b.at(p)
		if project != "" {
			r.Kept = b.there(r.Kept)
		}
		list = append(list, r)
	}
	list = append(list, Read{Checkouts: b.revisions(call.Use)})
	for _, ref := range b.remembered(call, false) {
		list = append(list, b.Of(ref))
	}
	return list, paths
}

// at returns the read of a path.
func (b *Book) at(p string) Read {
	r := Read{Ref: pathRef(p), Kept: b.onPath(p)}
	if c, ok := b.foreign(p); ok {
		r.Checkouts = []Checkout{c}
	}
	return r
}

// Of returns the read of one
func (b *Book) Of(ref floodmark.ArtifactRef) Read { return Read{Ref: ref, Kept: b.find(ref)} }

// Arrived returns the reads of content that comes in without a call: a file that a session wrote,
// or a text that a session handed on. What the owner types has none.
func (b *Book) Arrived(o floodmark.Origin, d floodmark.Digest) (list []Read) {
	if o.Kind == floodmark.FromFile && o.Place != "" {
		list = append(list, b.at(b.resolved([]string{b.At.Clean(o.Place, "")})[0]))
	}
	if !d.IsZero() && !(o.IsOwner && o.Group == "") {
		list = append(list, b.Of(textRef(d)))
	}
	return list
}

// Brought is what a read adds to a session.
type Brought struct {
	Heard []floodmark.Fact       // what the owner said of it elsewhere
	Read  floodmark.ArtifactRead // its sources that the session does not have yet
	Nodes []floodmark.NodeID     // of all its sources
}

// Bring returns what the records of a read add to a session whose next node and mark are given. A
// source that the session has already is not added again.
func (b *Book) Bring(r Read, next floodmark.NodeID, mark floodmark.Label) Brought {
	got := Brought{Read: floodmark.ArtifactRead{Artifact: r.Ref}}
	if len(r.Kept) == 0 {
		return got
	}
	c := b.weigh(r.Kept)
	f := &got.Read
	for _, s := range c.sources() {
		together := r.Ref.Kind == floodmark.ServerArtifact
		if !together && s.Own().Trust >= floodmark.Local && s.Own().Secrecy >= floodmark.Internal {
			continue // no file has a better label
		}
		n, known := b.have(s, f.Sources)
		if !known && !together && b.own(s, mark) {
			continue
		}
		if !known {
			s.Node = next + floodmark.NodeID(len(f.Sources))
			n = s.Node
			f.Sources = append(f.Sources, s)
		}
		got.Nodes = lists.AddNew(got.Nodes, n)
	}
	var digests []floodmark.Digest
	for _, s := range f.Sources {
		if _, ok := c.vouched[s.Digest]; ok {
			digests = append(digests, s.Digest)
		}
	}
	if len(digests) > 0 {
		got.Heard = b.Heard(digests)
	}
	return got
}

// own reports whether a source is only a joined part of what this session has seen: it came through
// a record of the session's own, and lowers nothing.
func (b *Book) own(s floodmark.Source, mark floodmark.Label) bool {
	return len(s.Via) == 1 && s.Via[0].Session == b.Session && mark.AtLeastAsSafe(s.Own())
}

// have finds a source among those of the session and of this event.
func (b *Book) have(s floodmark.Source, fresh []floodmark.Source) (floodmark.NodeID, bool) {
	for _, f := range b.Done.Facts {
		if read, ok := f.(floodmark.ArtifactRead); ok {
			fresh = append(slices.Clip(fresh), read.Sources...)
		}
	}
	for _, o := range fresh {
		if provenance.SameSource(&o, &s) {
			return o.Node, true
		}
	}
	return b.Ledger.Same(&s)
}

// InBoxes reports whether a box may show a path outside of the project. A box shows the system and
// the folders of the home with toolchains: those with a dot, «go» and «sdk».
func (b *Book) InBoxes(name string) bool {
	at := b.resolved([]string{b.At.Home, b.At.Project})
	home, project := catalog.FoldPath(at[0]), catalog.FoldPath(at[1])
	first, _, _ := strings.Cut(strings.TrimPrefix(name, home+"/"), "/")
	return home == "" || Under(home, name) || Under(project, name) ||
		Under(name, home) && (first == "go" || first == "sdk" || strings.HasPrefix(first, ".")) ||
		slices.ContainsFunc(append(catalog.SystemFolders(), "/lib32", "/libx32", "/opt", "/etc", "/home/linuxbrew"), func(dir string) bool { return Under(name, catalog.FoldPath(dir)) })
}

// FileLabel returns the label of a file that an agent loads without a tool call: the label of its
// origin or, if the file is in the project, at least the trust of other project files.
func (b *Book) FileLabel(o floodmark.Origin) floodmark.Label {
	l := b.Policy.Classify(o)
	if o.Place == "" || l.Trust >= floodmark.Local || b.At.Project == "" {
		return l
	}
	p := b.At.Clean(o.Place, "")
	if kind, _ := b.Catalog.Where(p, b.At); kind == catalog.InProject {
		at := floodmark.Label{Trust: floodmark.Local, Secrecy: l.Secrecy}
		return b.Policy.PlaceLabel(at, p, kind, true, b.At.Home)
	}
	return l
}

// Instructions returns what sessions left in files that an agent loads by itself, whether or not it
// tells us: above some paths, in its own folders at home and, if a session begins, below the paths.
func (b *Book) Instructions(agent string, begins bool, paths ...string) []floodmark.ArtifactRef {
	if b.Store == nil || strings.Join(paths, "") == "" {
		return nil
	}
	r := instructions.New(floodmark.Program(agent), b.resolved([]string{b.Told.Home})[0], b.Catalog.Listed("instructs"))
	for _, p := range paths {
		b.worksIn(r, p, begins)
	}
	below := func(dir string) (refs []floodmark.ArtifactRef) {
		for _, k := range b.find(folderRef(dir)) {
			refs = append(refs, k.Below...)
		}
		return refs
	}
	return r.Loads(instructions.World{Below: below, Instructs: b.instructs, Disk: b.Disk})
}

// instructs reports whether a file instructs an agent by its name, or runs by itself.
func (b *Book) instructs(p string) bool {
	_, instructs := b.Catalog.Where(p, b.Told)
	return instructs
}

// Elsewhere returns the paths outside of the project that a call reads or leaves its shell in.
func (b *Book) Elsewhere(reads, moved []string) (list []string) {
	for _, dir := range besides(moved, b.At.Project) {
		reads = append(slices.Clip(reads), b.At.Clean(dir, "")+"/*")
	}
	for _, p := range reads {
		if path.IsAbs(p) && !Under(p, b.At.Project) && !Under(p, b.resolved([]string{b.At.Project})[0]) && !catalog.OfSystem(p) {
			list = lists.AddNew(list, p)
		}
	}
	return list
}

// worksIn tells r where an agent works: at a path, and in the repository around that path.
func (b *Book) worksIn(r *instructions.Reader, p string, begins bool) {
	there := b.resolved([]string{p})[0]
	if r.Pass(p, there); begins && p != "" {
		r.Begin(p, there)
	}
	if b.Disk == nil || p == "" {
		return
	}
	if git, common := b.Disk.Repository(there); begins && git != "" {
		r.In(b.tree(there), path.Dir(common))
	} else {
		r.In()
	}
}
