package artifact

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// minText is the fewest bytes of a text that is recognised when passed on: a shorter one may match
// by chance.
const minText = 16

// Leave returns the changes of an allowed call: what it leaves behind has the sources of what the
// session saw before a node and of what the call read. gives is the source of what it fetches.
func (b *Book) Leave(call Call, nodes floodmark.NodeID, gives floodmark.Source) Changes {
	t := b.touched(call)
	if p := b.roams(call); p != "" && (call.Boxed || Under(t.runs, b.At.Project)) {
		t.runs = p // it may write anywhere in the project
	} else if t.runs != "" {
		t.runs = b.resolved([]string{t.runs})[0]
	}
	others := append(b.remembered(call, true), handedOn(call)...)
	if len(t.writes) == 0 && t.runs == "" && len(others) == 0 {
		return b.Done
	}
	set := b.Ledger.Set(nodes)
	if call.Use.Commands() || len(t.writes) > 1 { // it may copy, and write what it fetches
		var kept []Kept
		for _, p := range unique(slices.Concat(t.reads, t.writes)) {
			kept = append(kept, b.onPath(p)...)
		}
		kept = append(kept, b.there(b.onPath(b.roams(call)))...)
		set = provenance.MergeSets(set, b.weigh(kept).sources(), b.lain(&t), b.takenIn(call, t.reads))
	}
	into := set // what named files get
	if slices.Contains(call.Effects, floodmark.Fetch) {
		into = provenance.MergeSets(set, []floodmark.Source{gives})
	}
	w := floodmark.ArtifactWritten{Call: call.ID, Nodes: nodes}
	for _, p := range t.writes {
		w.Artifact, w.Whole, w.Digest, w.Run = pathRef(p), t.whole, floodmark.Digest{}, t.guessed && t.runs != ""
		if t.whole {
			w.Digest = t.digest
		}
		if !t.guessed || len(b.find(w.Artifact)) > 0 || guessedTarget(call, p) {
			b.write(w, p, into, spares(p) || call.Contained)
		}
	}
	w.Digest = floodmark.Digest{}
	if t.runs != "" && provenance.SetLabel(set).Trust < floodmark.Local {
		w.Artifact, w.Run = treeRef(t.runs), true
		w.Whole = b.alone(w.Artifact)       // if so, the record goes once the disk was looked at
		b.write(w, "", set, call.Contained) // a box moves no settings of git into the project
		b.Done.Watch = t.runs
	}
	w.Whole, w.Run = false, false
	for _, ref := range others {
		w.Artifact = ref
		b.write(w, "", set, false)
	}
	return b.Done
}

// takenIn returns the sources of content that a call copies into files from other people's commits:
// out of another checkout or, with git, out of another revision. If git checks a revision out,
// there are none, because the checkout itself says which commit it is at.
func (b *Book) takenIn(call Call, reads []string) (list []floodmark.Source) {
	var from []Checkout
	if !call.Use.Revisions.Moves {
		from = b.revisions(call.Use)
	}
	for _, p := range reads {
		if c, ok := b.foreign(p); ok && !Under(b.resolved([]string{b.At.Project})[0], c.Root) {
			from = append(from, c)
		}
	}
	for _, c := range from {
		for _, w := range b.unvouched(c) {
			list = append(list, w.source)
		}
	}
	return list
}

// lain returns sources for the files that a command reads from folders of others or from outside of
// the project: a copy of such a file is no more trusted, and no less private, than the file.
func (b *Book) lain(t *touch) []floodmark.Source {
	if t.guessed || len(t.writes) == 0 {
		return nil
	}
	var list []floodmark.Source
	for _, p := range t.reads {
		at := strings.TrimSuffix(p, "/**")
		if l := b.lies(at); l.Trust < floodmark.Local || l.Secrecy < floodmark.Internal {
			list = append(list, floodmark.Source{
				Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "file", Place: at}, Label: l,
			})
		}
	}
	return list
}

// lies returns the label that a file has because of the place where it is.
func (b *Book) lies(at string) floodmark.Label {
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	switch kind, _ := b.Catalog.Where(at, b.At); {
	case kind == catalog.Foreign:
		l = b.pathLabel(at)
	case kind == catalog.Elsewhere && !catalog.OfSystem(at):
		l.Secrecy = floodmark.Private
	}
	return l
}

// guessedTarget reports whether a word of a command that writes could be a file it writes.
func guessedTarget(call Call, p string) bool {
	return strings.Contains(path.Base(p), ".") && !slices.Contains(call.Effects, floodmark.Run)
}

// handedOn returns the texts a call gives to another session or a later one. What is sent to people
// is left out, because it comes back as theirs.
func handedOn(call Call) []floodmark.ArtifactRef {
	within := slices.Contains(call.Effects, floodmark.Admin)
	for _, leaf := range call.Leaves {
		name := strings.ToLower(leaf.Top)
		within = within || strings.HasPrefix(name, "session") || strings.HasPrefix(name, "agent")
	}
	if !within {
		return nil
	}
	var list []floodmark.ArtifactRef
	for _, leaf := range call.Leaves {
		if leaf.Kind == hook.String && len(leaf.Value) >= minText && len(list) < maxArtifactPaths && !call.Use.Commands() {
			list = append(list, textRef(floodmark.DigestOf(leaf.Value)))
		}
	}
	return list
}

func textRef(d floodmark.Digest) floodmark.ArtifactRef {
	return floodmark.ArtifactRef{Kind: floodmark.TextArtifact, Name: d.String()}
}

// spares reports whether a path is a pattern, of a shell or for what git puts into its tree, that
// does not include the folder git keeps for itself.
func spares(p string) bool {
	i := strings.IndexAny(p, "*?[")
	if i < 0 || strings.HasSuffix(p, "/**") {
		return false
	}
	first := p[strings.LastIndexByte(p[:i], '/')+1]
	return first != '.' && first != '['
}

// write records that an artifact is about to be written from a set of sources, at a path; if spared,
// git's own folder in it is not. The sources it had before stay until the call is known to be done,
// and after it if the path was spelled otherwise.
func (b *Book) write(w floodmark.ArtifactWritten, p string, set []floodmark.Source, spared bool) {
	if w.Artifact.Kind != floodmark.FileArtifact {
		p = ""
	}
	if at := slices.IndexFunc(b.Done.Artifacts, func(a floodmark.Artifact) bool { return a.Ref == w.Artifact }); at >= 0 {
		if b.Done.Artifacts[at].Spelled != p {
			b.Done.Artifacts[at].Spelled = ""
		}
		return
	}
	old := b.find(w.Artifact)
	w.Over = b.folders(w.Artifact)
	lower := b.lowers(w.Artifact, set)
	spelled, same := spelling(old, p, lower)
	if !same {
		w.Whole, w.Digest = false, floodmark.Digest{}
	}
	w.Spares = w.Run && w.Artifact.Kind == floodmark.TreeArtifact && !w.Whole && !slices.ContainsFunc(old, func(k Kept) bool { return !k.Spares })
	if !lower && len(old) == 0 && (!w.Whole || len(w.Over) == 0) && !b.vouches(w) {
		return // the path alone says as much
	}
	// If a run writes over what another session left, its record replaces the other one.
	w.Run = w.Run && !slices.ContainsFunc(old, func(k Kept) bool { return k.Version.Session != b.Session })
	b.keep(w)
	sets := [][]floodmark.Source{set}
	for _, k := range old {
		spared = spared && k.Spares
		way := floodmark.Passage{Artifact: k.Ref, Session: k.Version.Session}
		var came []floodmark.Source
		for _, s := range k.Sources {
			if k.Version.Session != b.Session {
				s = provenance.Passed(s, way)
			}
			came = append(came, s)
		}
		sets = append(sets, came)
		if k.Version.Session != b.Session {
			b.Done.Gone = append(b.Done.Gone, Gone{Ref: w.Artifact, Version: k.Version})
		}
	}
	b.Done.Artifacts = append(b.Done.Artifacts, floodmark.Artifact{Ref: w.Artifact, Spelled: spelled, Spares: spared, Sources: provenance.MergeSets(sets...)})
	b.enter(w.Artifact)
}

// spelling returns how a file is spelled whose records get a write at a path, and whether they all
// spell it so. A write that lowers nothing leaves the spelling of what was there: on a disk on which
// that is another file, it is still the one that the records are about.
func spelling(old []Kept, p string, lower bool) (spelled string, same bool) {
	spelled, same = p, true
	for i, k := range old {
		same = same && k.Spelled == p
		switch {
		case k.Spelled == spelled:
		case i == 0 && !lower:
			spelled = k.Spelled
		default:
			spelled = ""
		}
	}
	return spelled, same
}

// folders returns the versions of the records of the folders that a file is in.
func (b *Book) folders(ref floodmark.ArtifactRef) []floodmark.ArtifactVersion {
	if ref.Kind != floodmark.FileArtifact {
		return nil
	}
	var refs []floodmark.ArtifactRef
	for _, dir := range ancestors(ref.Name) {
		refs = append(refs, treeRef(dir))
	}
	var list []floodmark.ArtifactVersion
	for _, k := range b.find(refs...) {
		list = append(list, k.Version)
	}
	return list
}

// lowers reports whether a set has a lower label than an artifact gets by its path alone.
func (b *Book) lowers(ref floodmark.ArtifactRef, set []floodmark.Source) bool {
	l := provenance.SetLabel(set)
	least := floodmark.Private
	if ref.Kind == floodmark.FileArtifact || ref.Kind == floodmark.TreeArtifact {
		at := catalog.Places{Project: catalog.FoldPath(b.At.Project), Home: catalog.FoldPath(b.At.Home)}
		if kind, _ := b.Catalog.Where(ref.Name, at); kind == catalog.InProject {
			least = floodmark.Internal
		}
	}
	return l.Trust < floodmark.Local || l.Secrecy < least
}

// vouches reports whether a file that was written as a whole is trusted more than its place.
func (b *Book) vouches(w floodmark.ArtifactWritten) bool {
	return w.Whole && w.Artifact.Kind == floodmark.FileArtifact && b.pathLabel(w.Artifact.Name).Trust < floodmark.Local
}

// enter lists an artifact in the records of the folders above it: reads of a folder find it.
func (b *Book) enter(ref floodmark.ArtifactRef) {
	if ref.Kind != floodmark.FileArtifact && ref.Kind != floodmark.TreeArtifact {
		return
	}
	dirs := ancestors(ref.Name)
	if ref.Kind == floodmark.TreeArtifact {
		dirs = append(dirs, ref.Name)
	}
	var refs []floodmark.ArtifactRef
	for _, dir := range dirs {
		refs = append(refs, folderRef(dir))
	}
	mine := map[floodmark.ArtifactRef]Kept{}
	for _, k := range b.ours(slices.Clone(refs)...) {
		mine[k.Ref] = k
	}
	for _, folder := range refs {
		b.enterIn(folder, mine[folder], ref)
	}
}

// ours returns the records of this session.
func (b *Book) ours(refs ...floodmark.ArtifactRef) []Kept {
	return slices.DeleteFunc(slices.Clone(b.find(refs...)), func(k Kept) bool { return k.Version.Session != b.Session })
}

// enterIn adds an artifact to this session's list of a folder. If the list is too long, one entry
// is dropped. Anything below the folder may be that entry, so the folder gets the entry's sources,
// which a cleared context may lack, and all that the session has seen.
func (b *Book) enterIn(folder floodmark.ArtifactRef, mine Kept, ref floodmark.ArtifactRef) {
	at := slices.IndexFunc(b.Done.Artifacts, func(a floodmark.Artifact) bool { return a.Ref == folder })
	listed, all := mine.Below, mine.Sources
	if at >= 0 {
		listed = b.Done.Artifacts[at].Below
	}
	if slices.Contains(listed, ref) {
		return
	}
	list := append(slices.Clone(listed), ref)
	if len(list) > maxBelow { // what instructs an agent is forgotten last
		i := max(0, slices.IndexFunc(list, func(r floodmark.ArtifactRef) bool { return !b.instructs(r.Name) }))
		for _, k := range b.ours(list[i]) {
			all = provenance.MergeSets(all, k.Sources)
		}
		list, all = slices.Delete(list, i, i+1), provenance.MergeSets(all, b.Ledger.Set(math.MaxInt))
	}
	if at < 0 {
		b.Done.Artifacts = append(b.Done.Artifacts, floodmark.Artifact{Ref: folder})
		at = len(b.Done.Artifacts) - 1
	}
	b.Done.Artifacts[at].Below = list
	b.Done.Artifacts[at].Sources = provenance.MergeSets(b.Done.Artifacts[at].Sources, all)
}

// Anywhere returns the changes of a call that may have written anything in the project.
func (b *Book) Anywhere(call floodmark.CallID, n floodmark.NodeID) Changes {
	b.write(floodmark.ArtifactWritten{Artifact: treeRef(b.At.Project), Call: call, Nodes: n}, "", b.Ledger.Set(n), false)
	return b.Done
}

// An Ending is how a call ended.
type Ending struct {
	Failed  bool
	Box     *hook.BoxEnd // nil if it ran in no box
	Boxed   bool         // it had to run in a box
	Altered *Altered     // nil if the disk was not looked at
}

// Settle returns the changes once a call is finished: the records of what it wrote as a whole lose
// their older sources, unless another writer changed the artifact since.
func (b *Book) Settle(call floodmark.CallID, end Ending) Changes {
	refused := end.Box != nil && end.Box.State == floodmark.BoxRefused // nothing ran, so a file is what it was
	failed := end.Failed || refused                                    // it may have written half of a file, and still run; nothing of an ended box still runs
	if b.Store == nil || failed && !refused && (end.Box == nil || end.Box.State != floodmark.BoxEnded) {
		return b.Done
	}
	looked := false
	for _, w := range b.Trail.Written {
		tree := w.Artifact.Kind == floodmark.TreeArtifact
		if w.Call != call || failed && !tree || tree && looked { // if the same call was made twice, only one is over
			continue
		}
		set := b.Ledger.Set(w.Nodes)
		if looked = looked || tree; tree {
			if !refused && !b.altered(w, end.Altered) {
				continue
			}
			switch {
			case b.Trail.Runs(w.Artifact) != 1: // another run may still write
			case w.Whole:
				b.forget(w.Artifact)
			case w.Spares && (end.Box != nil || !end.Boxed):
				b.spare(w.Artifact)
			}
		} else {
			b.settleFile(w, set)
		}
		b.keep(floodmark.ArtifactSettled{Artifact: w.Artifact, Call: call})
	}
	return b.Done
}

// settleFile takes in that a file was replaced, unless it was written by another spelling since: on
// some disks that is another file.
func (b *Book) settleFile(w floodmark.ArtifactWritten, set []floodmark.Source) {
	mine := b.ours(w.Artifact)
	if slices.ContainsFunc(mine, func(k Kept) bool { return k.Spelled == "" }) {
		return
	}
	if !b.lowers(w.Artifact, set) && len(w.Over) == 0 && !b.vouches(w) {
		b.forget(w.Artifact)
		return
	}
	spelled, _ := spelling(mine, "", false)
	b.Done.Artifacts = append(b.Done.Artifacts, floodmark.Artifact{
		Ref: w.Artifact, Digest: w.Digest, Whole: true, Spelled: spelled, Sources: set, Over: w.Over,
	})
}

// alone reports whether a folder has no records but those of this session's runs under way.
func (b *Book) alone(folder floodmark.ArtifactRef) bool {
	pending := slices.DeleteFunc(slices.Clone(b.Trail.Written), func(w floodmark.ArtifactWritten) bool { return w.Artifact != folder })
	return len(b.find(folder)) == 0 || len(pending) > 0 && !slices.ContainsFunc(pending, func(w floodmark.ArtifactWritten) bool { return !w.Whole })
}

// spare takes .git out of this session's record of a folder, because everything that the run
// changed in .git has records of its own.
func (b *Book) spare(folder floodmark.ArtifactRef) {
	for _, k := range b.ours(folder) {
		k.Spares = true
		b.Done.Artifacts = append(b.Done.Artifacts, k.Artifact)
	}
}

// altered records what a run was found to have changed, and reports whether that is all.
func (b *Book) altered(w floodmark.ArtifactWritten, c *Altered) bool {
	if c == nil || len(c.Paths) > maxArtifactPaths {
		return false
	}
	set := b.Ledger.Set(w.Nodes)
	for _, k := range b.ours(w.Artifact) {
		set = provenance.MergeSets(set, k.Sources)
	}
	for _, p := range c.Paths {
		ref := fileRef(p)
		if dir, tree := strings.CutSuffix(p, "/**"); tree {
			ref = treeRef(dir)
		}
		b.write(floodmark.ArtifactWritten{Artifact: ref, Call: w.Call, Nodes: w.Nodes, Run: true}, p, set, false)
	}
	return c.Whole
}

// forget removes this session's record of an
func (b *Book) forget(ref floodmark.ArtifactRef) {
	b.Done.Gone = append(b.Done.Gone, Gone{Ref: ref, Version: floodmark.ArtifactVersion{Session: b.Session, Seq: math.MaxInt64}})
}

// maxTogether bounds the sources that a shared server carries. If there are more, they are joined
// into one.
const maxTogether = 16

// Give returns the changes if a session at this mark is about to write to a shared server, at a
// time. There are none if the server carries a mark as low already.
func (b *Book) Give(ref floodmark.ArtifactRef, mark floodmark.Label, call floodmark.CallID, nodes floodmark.NodeID, at int64) Changes {
	if slices.ContainsFunc(b.Done.Artifacts, func(a floodmark.Artifact) bool { return a.Ref == ref }) {
		return b.Done
	}
	old := b.find(ref)
	if b.weigh(old).label().AtLeastAsSafe(mark) {
		return b.Done
	}
	// The digest is of this gift alone: an endorsement of it covers what the
	// server was given until then, and nothing later.
	digest := floodmark.DigestOf(fmt.Sprintf("given to the server %s by session %s at %d, node %d, at mark %s", ref.Name, b.Session, at, nodes, mark))
	b.keep(floodmark.ArtifactWritten{Artifact: ref, Call: call, Digest: digest, Nodes: nodes})
	list := []floodmark.Source{{
		Kind: floodmark.NodeHistory, Label: mark, Digest: digest,
		Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "what sessions gave a shared server", Server: ref.Name},
	}}
	for _, k := range old {
		way := floodmark.Passage{Artifact: ref, Session: k.Version.Session}
		for _, s := range k.Sources {
			if k.Version.Session != b.Session {
				s = provenance.Passed(s, way)
			}
			list = append(list, s)
		}
		if k.Version.Session != b.Session {
			b.Done.Gone = append(b.Done.Gone, Gone{Ref: ref, Version: k.Version})
		}
	}
	if len(list) > maxTogether {
		list[0].Label = provenance.SetLabel(list)
		list = list[:1]
	}
	for i := range list {
		list[i].Node = floodmark.NodeID(i)
	}
	b.Done.Artifacts = append(b.Done.Artifacts, floodmark.Artifact{Ref: ref, Sources: list})
	return b.Done
}
