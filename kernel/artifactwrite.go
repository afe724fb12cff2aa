package kernel

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// minText is the fewest bytes by which a text that is handed on is recognised: a shorter one may be a coincidence.
const minText = 16

// CallID names a call, also one that its agent gave no name.
func CallID(c hook.Call) floodmark.CallID { return callID(c) }

// leave records what an allowed call leaves behind, with the sources of what the session saw before
// its result and of what the call read.
func (st *step) leave(j *judged, result floodmark.NodeID) {
	if st.in.Artifacts == nil {
		return
	}
	if !leavesNothing(j) {
		st.give(j.mark, j.action.Call, min(st.authority(j.action).Nodes, result))
	}
	t := st.touched(j)
	if p := st.roams(j); p != "" && (j.decision.Reach == floodmark.Boxed || under(t.runs, st.s.Project)) {
		t.runs = p // it may write anywhere in the project
	} else if t.runs != "" {
		t.runs = st.resolved([]string{t.runs})[0]
	}
	others := append(st.remembered(j, true), handedOn(j)...)
	if len(t.writes) == 0 && t.runs == "" && len(others) == 0 {
		return
	}
	nodes := min(st.authority(j.action).Nodes, result)
	set := st.s.Ledger.Set(nodes)
	if j.use.Commands() || len(t.writes) > 1 { // it may copy, and write what it fetches
		var kept []Kept
		for _, p := range unique(slices.Concat(t.reads, t.writes)) {
			kept = append(kept, st.onPath(p)...)
		}
		kept = append(kept, st.there(st.onPath(st.roams(j)))...)
		set = provenance.MergeSets(set, st.weigh(kept).sources(), st.lain(&t), st.takenIn(j, t.reads))
	}
	into := set // what named files get
	if slices.Contains(j.action.Effects, floodmark.Fetch) {
		into = provenance.MergeSets(set, []floodmark.Source{{Kind: floodmark.NodeToolResult, Origin: j.origin(), Label: j.returns}})
	}
	w := floodmark.ArtifactWritten{Call: j.action.Call, Nodes: nodes}
	for _, p := range t.writes {
		w.Artifact, w.Whole, w.Digest, w.Run = pathRef(p), t.whole, floodmark.Digest{}, t.guessed && t.runs != ""
		if t.whole {
			w.Digest = t.digest
		}
		if !t.guessed || len(st.find(w.Artifact)) > 0 || guessedTarget(j, p) {
			st.write(w, into, spares(p) || j.decision.Contained())
		}
	}
	w.Digest = floodmark.Digest{}
	if t.runs != "" && provenance.SetLabel(set).Trust < floodmark.Local {
		w.Artifact, w.Run = treeRef(t.runs), true
		w.Whole = st.alone(w.Artifact)           // if so, the record goes once the disk was looked at
		st.write(w, set, j.decision.Contained()) // a box moves no settings of git into the project
		st.out.Watch = t.runs
	}
	w.Whole, w.Run = false, false
	for _, ref := range others {
		w.Artifact = ref
		st.write(w, set, false)
	}
}

// takenIn returns the sources of content that a call copies into files from other people's commits:
// out of another checkout or, with git, out of another revision. If git checks a revision out,
// there are none, because the checkout itself says which commit it is at.
func (st *step) takenIn(j *judged, reads []string) (list []floodmark.Source) {
	var from []Checkout
	if !j.use.Revisions.Moves {
		from = st.revisions(&j.use)
	}
	for _, p := range reads {
		if c, ok := st.foreign(p); ok && !under(st.resolved([]string{st.s.Project})[0], c.Root) {
			from = append(from, c)
		}
	}
	for _, c := range from {
		for _, w := range st.unvouched(c) {
			list = append(list, w.source)
		}
	}
	return list
}

// lain returns sources for the files that a command reads from folders of others or from outside of
// the project: a copy of such a file is no more trusted, and no less private, than the file.
func (st *step) lain(t *touch) []floodmark.Source {
	if t.guessed || len(t.writes) == 0 {
		return nil
	}
	var list []floodmark.Source
	for _, p := range t.reads {
		at := strings.TrimSuffix(p, "/**")
		if l := st.lies(at); l.Trust < floodmark.Local || l.Secrecy < floodmark.Internal {
			list = append(list, floodmark.Source{
				Kind: floodmark.NodeInput, Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "file", Place: at}, Label: l,
			})
		}
	}
	return list
}

// lies returns the label of reading a file at its place.
func (st *step) lies(at string) floodmark.Label {
	l := floodmark.Label{Trust: floodmark.Local, Secrecy: floodmark.Public}
	switch kind, _ := st.r.Catalog.Where(at, st.places()); {
	case kind == catalog.Foreign:
		l = st.pathLabel(at)
	case kind == catalog.Elsewhere && !catalog.OfSystem(at):
		l.Secrecy = floodmark.Private
	}
	return l
}

// guessedTarget reports whether a word of a command that writes could be a file it writes.
func guessedTarget(j *judged, p string) bool {
	return strings.Contains(path.Base(p), ".") && !slices.Contains(j.action.Effects, floodmark.Run)
}

// handedOn returns the texts a call gives to another session or a later one. What is sent to people
// is left out, because it comes back as theirs.
func handedOn(j *judged) []floodmark.ArtifactRef {
	within := slices.Contains(j.action.Effects, floodmark.Admin)
	for _, leaf := range j.leaves {
		name := strings.ToLower(leaf.Top)
		within = within || strings.HasPrefix(name, "session") || strings.HasPrefix(name, "agent")
	}
	if !within {
		return nil
	}
	var list []floodmark.ArtifactRef
	for _, leaf := range j.leaves {
		if leaf.Kind == hook.String && len(leaf.Value) >= minText && len(list) < maxArtifactPaths && !j.use.Commands() {
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

// write records that an artifact is about to be written from a set of sources; if spared, git's own
// folder in it is not. The sources it had before stay until the call is known to be done.
func (st *step) write(w floodmark.ArtifactWritten, set []floodmark.Source, spared bool) {
	if slices.ContainsFunc(st.out.Artifacts, func(a floodmark.Artifact) bool { return a.Ref == w.Artifact }) {
		return
	}
	old := st.find(w.Artifact)
	w.Over = st.folders(w.Artifact)
	lower := st.lowers(w.Artifact, set)
	w.Spares = w.Run && w.Artifact.Kind == floodmark.TreeArtifact && !w.Whole && !slices.ContainsFunc(old, func(k Kept) bool { return !k.Spares })
	if !lower && len(old) == 0 && (!w.Whole || len(w.Over) == 0) && !st.vouches(w) {
		return // the path alone says as much
	}
	// A run that writes over what another session left there takes that over.
	w.Run = w.Run && !slices.ContainsFunc(old, func(k Kept) bool { return k.Version.Session != st.ev.Session })
	st.keep(w)
	sets := [][]floodmark.Source{set}
	for _, k := range old {
		spared = spared && k.Spares
		way := floodmark.Passage{Artifact: k.Ref, Session: k.Version.Session}
		var came []floodmark.Source
		for _, s := range k.Sources {
			if k.Version.Session != st.ev.Session {
				s = provenance.Passed(s, way)
			}
			came = append(came, s)
		}
		sets = append(sets, came)
		if k.Version.Session != st.ev.Session {
			st.out.Gone = append(st.out.Gone, Gone{Ref: w.Artifact, Version: k.Version})
		}
	}
	st.out.Artifacts = append(st.out.Artifacts, floodmark.Artifact{Ref: w.Artifact, Spares: spared, Sources: provenance.MergeSets(sets...)})
	st.enter(w.Artifact)
}

// folders returns the versions of the records of the folders that a file is in.
func (st *step) folders(ref floodmark.ArtifactRef) []floodmark.ArtifactVersion {
	if ref.Kind != floodmark.FileArtifact {
		return nil
	}
	var refs []floodmark.ArtifactRef
	for _, dir := range ancestors(ref.Name) {
		refs = append(refs, treeRef(dir))
	}
	var list []floodmark.ArtifactVersion
	for _, k := range st.find(refs...) {
		list = append(list, k.Version)
	}
	return list
}

// lowers reports whether a set has a lower label than an artifact gets by its path alone.
func (st *step) lowers(ref floodmark.ArtifactRef, set []floodmark.Source) bool {
	l := provenance.SetLabel(set)
	least := floodmark.Private
	if ref.Kind == floodmark.FileArtifact || ref.Kind == floodmark.TreeArtifact {
		at := catalog.Places{Project: catalog.FoldPath(st.s.Project), Home: catalog.FoldPath(st.s.Home)}
		if kind, _ := st.r.Catalog.Where(ref.Name, at); kind == catalog.InProject {
			least = floodmark.Internal
		}
	}
	return l.Trust < floodmark.Local || l.Secrecy < least
}

// vouches reports whether a file that was written as a whole is trusted more than its place.
func (st *step) vouches(w floodmark.ArtifactWritten) bool {
	return w.Whole && w.Artifact.Kind == floodmark.FileArtifact && st.pathLabel(w.Artifact.Name).Trust < floodmark.Local
}

// enter lists an artifact in the records of the folders above it: reads of a folder find it.
func (st *step) enter(ref floodmark.ArtifactRef) {
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
	for _, k := range st.ours(slices.Clone(refs)...) {
		mine[k.Ref] = k
	}
	for _, folder := range refs {
		st.enterIn(folder, mine[folder], ref)
	}
}

// ours returns the records of this session.
func (st *step) ours(refs ...floodmark.ArtifactRef) []Kept {
	return slices.DeleteFunc(slices.Clone(st.find(refs...)), func(k Kept) bool { return k.Version.Session != st.ev.Session })
}

// enterIn adds an artifact to this session's list of a folder. If the list is too long, one entry
// is dropped. Anything below may then be that entry, so the folder gets the entry's sources, which
// a cleared context may lack, and all that the session has seen.
func (st *step) enterIn(folder floodmark.ArtifactRef, mine Kept, ref floodmark.ArtifactRef) {
	at := slices.IndexFunc(st.out.Artifacts, func(a floodmark.Artifact) bool { return a.Ref == folder })
	listed, all := mine.Below, mine.Sources
	if at >= 0 {
		listed = st.out.Artifacts[at].Below
	}
	if slices.Contains(listed, ref) {
		return
	}
	list := append(slices.Clone(listed), ref)
	if len(list) > maxBelow { // what instructs an agent is forgotten last
		i := max(0, slices.IndexFunc(list, func(r floodmark.ArtifactRef) bool { return !st.instructs(r.Name) }))
		for _, k := range st.ours(list[i]) {
			all = provenance.MergeSets(all, k.Sources)
		}
		list, all = slices.Delete(list, i, i+1), provenance.MergeSets(all, st.s.Ledger.Set(math.MaxInt))
	}
	if at < 0 {
		st.out.Artifacts = append(st.out.Artifacts, floodmark.Artifact{Ref: folder})
		at = len(st.out.Artifacts) - 1
	}
	st.out.Artifacts[at].Below = list
	st.out.Artifacts[at].Sources = provenance.MergeSets(st.out.Artifacts[at].Sources, all)
}

// outOfBox records that a call which had to run in a box, but did not, may have written anything.
func (st *step) outOfBox(call floodmark.CallID, n floodmark.NodeID) {
	if st.s.Book.HadToBeBoxed(call) && st.ev.Box == nil && st.s.Project != "" {
		st.write(floodmark.ArtifactWritten{Artifact: treeRef(st.s.Project), Call: call, Nodes: n}, st.s.Ledger.Set(n), false)
	}
}

// settle takes in that a call is finished: the records of what it wrote as a whole lose their older
// sources, unless another writer changed the artifact since.
func (st *step) settle(call floodmark.CallID) {
	refused := st.ev.Box != nil && st.ev.Box.State == floodmark.BoxRefused // nothing ran, so a file is what it was
	failed := st.ev.Result.Error || refused                                // it may have written half of a file, and still run; nothing of an ended box still runs
	if st.in.Artifacts == nil || failed && !refused && (st.ev.Box == nil || st.ev.Box.State != floodmark.BoxEnded) {
		return
	}
	looked := false
	for _, w := range st.s.Written {
		tree := w.Artifact.Kind == floodmark.TreeArtifact
		if w.Call != call || failed && !tree || tree && looked { // if the same call was made twice, only one is over
			continue
		}
		set := st.s.Ledger.Set(w.Nodes)
		if looked = looked || tree; tree {
			if !refused && !st.altered(w) {
				continue
			}
			switch {
			case st.runsIn(w.Artifact) != 1: // another run may still write
			case w.Whole:
				st.forget(w.Artifact)
			case w.Spares && (st.ev.Box != nil || !st.s.Book.HadToBeBoxed(call)):
				st.spare(w.Artifact)
			}
		} else if !st.lowers(w.Artifact, set) && len(w.Over) == 0 && !st.vouches(w) {
			st.forget(w.Artifact)
		} else {
			st.out.Artifacts = append(st.out.Artifacts, floodmark.Artifact{
				Ref: w.Artifact, Digest: w.Digest, Whole: true, Sources: set, Over: w.Over,
			})
		}
		st.keep(floodmark.ArtifactSettled{Artifact: w.Artifact, Call: call})
	}
}

// alone reports whether a folder has no records but those of this session's runs under way.
func (st *step) alone(folder floodmark.ArtifactRef) bool {
	pending := slices.DeleteFunc(slices.Clone(st.s.Written), func(w floodmark.ArtifactWritten) bool { return w.Artifact != folder })
	return len(st.find(folder)) == 0 || len(pending) > 0 && !slices.ContainsFunc(pending, func(w floodmark.ArtifactWritten) bool { return !w.Whole })
}

// spare leaves git's own folder out of this session's record of a folder: what its run changed
// there is known, and has records of its own.
func (st *step) spare(folder floodmark.ArtifactRef) {
	for _, k := range st.ours(folder) {
		k.Spares = true
		st.out.Artifacts = append(st.out.Artifacts, k.Artifact)
	}
}

// runsIn returns how many runs of the session that write to a folder are not known to be done, and
// one more if some may have been forgotten.
func (st *step) runsIn(folder floodmark.ArtifactRef) int {
	n := 0
	for _, w := range st.s.Written {
		if w.Artifact == folder {
			n++
		}
	}
	if n > 0 && len(st.s.Written) >= maxWritten {
		n++
	}
	return n
}

// altered records what a run was found to have changed, and reports whether that is all.
func (st *step) altered(w floodmark.ArtifactWritten) bool {
	c := st.in.Altered
	if c == nil || len(c.Paths) > maxArtifactPaths {
		return false
	}
	set := st.s.Ledger.Set(w.Nodes)
	for _, k := range st.ours(w.Artifact) {
		set = provenance.MergeSets(set, k.Sources)
	}
	for _, p := range c.Paths {
		ref := fileRef(p)
		if dir, tree := strings.CutSuffix(p, "/**"); tree {
			ref = treeRef(dir)
		}
		st.write(floodmark.ArtifactWritten{Artifact: ref, Call: w.Call, Nodes: w.Nodes, Run: true}, set, false)
	}
	return c.Whole
}

// forget removes this session's record of an artifact.
func (st *step) forget(ref floodmark.ArtifactRef) {
	st.out.Gone = append(st.out.Gone, Gone{Ref: ref, Version: floodmark.ArtifactVersion{Session: st.ev.Session, Seq: math.MaxInt64}})
}
