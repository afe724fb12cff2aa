package kernel

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/project/instructions"
	"github.com/floodmark/floodmark/provenance"
)

// effective returns the label of a node, also of one that this event brought.
func (st *step) effective(n floodmark.NodeID) floodmark.Label {
	if l, ok := st.brought[n]; ok {
		return l
	}
	return st.s.Ledger.Effective(n)
}

// withCarried returns the sources a result is made from: those its arguments were
// seen in, and those of the artifacts that the call reads.
func (st *step) withCarried(j *judged) []floodmark.NodeID {
	inputs := slices.Clone(j.inputs)
	reads, project := st.touched(j).reads, st.roams(j)
	if project != "" {
		reads = addNew(slices.Clip(reads), project)
	}
	for _, p := range reads {
		kept := st.onPath(p)
		if project != "" {
			kept = st.there(kept)
		}
		inputs = append(append(inputs, st.carry(pathRef(p), kept)...), st.checkout(p)...)
	}
	for _, c := range st.revisions(&j.use) {
		inputs = append(inputs, st.take(c)...)
	}
	for _, ref := range st.remembered(j, false) {
		inputs = append(inputs, st.carry(ref, st.find(ref))...)
	}
	inputs = append(inputs, st.instructed(false, st.elsewhere(j, reads)...)...)
	if slices.Contains(j.action.Effects, floodmark.Run) {
		inputs = append(inputs, st.steered(j)...)
	}
	inputs = append(inputs, st.givenBack()...)
	slices.Sort(inputs)
	return slices.Compact(inputs)
}

// steered returns the nodes of what a running program may repeat: all that is live and trusted
// below Local, and what the program may have loaded from outside of the project.
func (st *step) steered(j *judged) (nodes []floodmark.NodeID) {
	for src := range st.s.Ledger.Sources() {
		if st.s.Ledger.Live(src.Node) && src.Own().Trust < floodmark.Local {
			nodes = append(nodes, src.Node)
		}
	}
	for _, k := range j.around {
		if !j.decision.Contained() || st.inBoxes(k.Ref.Name) {
			nodes = append(nodes, st.carry(k.Ref, []Kept{k})...)
		}
	}
	return nodes
}

// inBoxes reports whether a box may show a path outside of the project. A box shows the system and
// the folders of the home with toolchains: those with a dot, «go» and «sdk».
func (st *step) inBoxes(name string) bool {
	at := st.resolved([]string{st.s.Home, st.s.Project})
	home, project := catalog.FoldPath(at[0]), catalog.FoldPath(at[1])
	first, _, _ := strings.Cut(strings.TrimPrefix(name, home+"/"), "/")
	return home == "" || under(home, name) || under(project, name) ||
		under(name, home) && (first == "go" || first == "sdk" || strings.HasPrefix(first, ".")) ||
		slices.ContainsFunc(append(catalog.SystemFolders(), "/lib32", "/libx32", "/opt", "/etc", "/home/linuxbrew"), func(dir string) bool { return under(name, catalog.FoldPath(dir)) })
}

// carry adds the sources of what was left behind to the session and returns their nodes. A source
// that the session has already is not added again.
func (st *step) carry(ref floodmark.ArtifactRef, kept []Kept) []floodmark.NodeID {
	if len(kept) == 0 {
		return nil
	}
	c := st.weigh(kept)
	f := floodmark.ArtifactRead{Artifact: ref}
	var nodes []floodmark.NodeID
	for _, s := range c.sources() {
		together := ref.Kind == floodmark.ServerArtifact
		if !together && s.Own().Trust >= floodmark.Local && s.Own().Secrecy >= floodmark.Internal {
			continue // no file has a better label
		}
		n, known := st.have(s, f.Sources)
		if !known && !together && st.own(s) {
			continue
		}
		if !known {
			s.Node = st.node + floodmark.NodeID(len(f.Sources))
			n = s.Node
			f.Sources = append(f.Sources, s)
		}
		nodes = addNew(nodes, n)
	}
	if len(f.Sources) == 0 {
		return nodes
	}
	st.trusted(c, f.Sources)
	st.bring(f)
	st.keep(f)
	return nodes
}

// own reports whether a source is only a joined part of what this session has seen: it came through
// a record of the session's own, and lowers nothing.
func (st *step) own(s floodmark.Source) bool {
	return len(s.Via) == 1 && s.Via[0].Session == st.ev.Session && st.mark.AtLeastAsSafe(s.Own())
}

// have finds a source among those of the session and of this event.
func (st *step) have(s floodmark.Source, fresh []floodmark.Source) (floodmark.NodeID, bool) {
	for _, f := range st.out.Facts {
		if read, ok := f.(floodmark.ArtifactRead); ok {
			fresh = append(slices.Clip(fresh), read.Sources...)
		}
	}
	for _, o := range fresh {
		if provenance.SameSource(&o, &s) {
			return o.Node, true
		}
	}
	return st.s.Ledger.Same(&s)
}

// trusted writes down for which of the sources that come in the owner vouched elsewhere.
func (st *step) trusted(c carried, sources []floodmark.Source) {
	words := map[floodmark.Digest]Kept{}
	var digests []floodmark.Digest
	for _, s := range sources {
		if _, ok := c.vouched[s.Digest]; ok {
			digests = append(digests, s.Digest)
		}
	}
	if len(digests) > 0 {
		words = st.words(digests)
	}
	for _, f := range st.heard(words, st.endorsements()) {
		st.keep(f)
	}
}

// bring adds the labels of another session's sources to the mark.
func (st *step) bring(f floodmark.ArtifactRead) {
	if st.brought == nil {
		st.brought = map[floodmark.NodeID]floodmark.Label{}
	}
	for _, s := range f.Sources {
		l := s.Own()
		for _, e := range st.endorsements() {
			if e.Digest == s.Digest && !s.Digest.IsZero() {
				l.Trust = max(l.Trust, min(e.Trust, floodmark.Local))
			}
		}
		st.brought[s.Node] = l
		st.mark, st.more = st.mark.Join(l), st.more|provenance.LevelsOf(l.Trust)
	}
	st.node += floodmark.NodeID(len(f.Sources))
}

// endorsements returns what the owner vouches for, including what this event wrote down.
func (st *step) endorsements() []floodmark.Endorsed {
	list := st.s.Ledger.Endorsements()
	for _, f := range st.out.Facts {
		if e, ok := f.(floodmark.Endorsed); ok {
			list = append(list, e)
		}
	}
	return list
}

// artifact takes in the facts about artifacts.
func (s *State) artifact(f floodmark.Fact) error {
	switch f := f.(type) {
	case floodmark.ArtifactRead:
		if err := s.adopt(f.Sources); err != nil {
			return err
		}
		s.carry(f.Sources)
	case floodmark.ArtifactWritten:
		if !f.Run && onDisk(f.Artifact.Kind) && !ofGit(f.Artifact) {
			s.wrote(f.Artifact)
		}
		if f.Whole || f.Spares {
			s.Written = last(append(s.Written, f), maxWritten)
		}
	case floodmark.ArtifactSettled:
		done := false // the same call may have been made twice
		s.Written = without(s.Written, func(w floodmark.ArtifactWritten) bool {
			was := done
			done = done || w.Call == f.Call && w.Artifact == f.Artifact
			return done && !was
		})
	default:
	}
	return nil
}

// A Wrote is a file or folder this session wrote, with the number of that write.
type Wrote struct {
	Ref floodmark.ArtifactRef `json:"ref"`
	N   int                   `json:"n"`
}

// wrote numbers a write. Beyond the limit, the path of the oldest is forgotten and this write is
// taken to be anywhere.
func (s *State) wrote(ref floodmark.ArtifactRef) {
	s.Writes++
	s.Wrote = append(slices.DeleteFunc(s.Wrote, func(w Wrote) bool { return w.Ref == ref }), Wrote{Ref: ref, N: s.Writes})
	if len(s.Wrote) > maxWrote {
		s.Wrote = last(s.Wrote, maxWrote)
		s.Wrote[0].Ref = treeRef("/")
	}
}

// onDisk reports whether a program could load artifacts of a kind.
func onDisk(k floodmark.ArtifactKind) bool {
	return k == floodmark.FileArtifact || k == floodmark.TreeArtifact || k == floodmark.FolderArtifact
}

// carry remembers contents for which the owner may vouch in another session.
func (s *State) carry(sources []floodmark.Source) {
	for _, src := range sources {
		if !src.Digest.IsZero() && !slices.Contains(s.Carried, src.Digest) {
			s.Carried = last(append(s.Carried, src.Digest), maxCarried)
		}
	}
}

// offer remembers the sources of what a refused call would have loaded.
func (s *State) offer(f floodmark.ActionDecided) {
	if f.Basis == nil || f.Decision.Verdict == floodmark.Allow {
		return
	}
	for _, l := range f.Basis.Loads {
		for _, src := range l.Sources {
			same := func(o floodmark.Source) bool { return o.Digest == src.Digest }
			if !src.Digest.IsZero() && !slices.ContainsFunc(s.Offered, same) {
				s.Offered = last(append(s.Offered, src), maxOffered)
			}
		}
	}
}

// carriedBy adds the sources of content that comes in without a call: a file that a session wrote,
// or a text that a session handed on. What the owner types has none.
func (st *step) carriedBy(o floodmark.Origin, d floodmark.Digest) []floodmark.NodeID {
	var nodes []floodmark.NodeID
	if o.Kind == floodmark.FromFile && o.Place != "" {
		p := st.resolved([]string{st.places().Clean(o.Place, "")})[0]
		nodes = append(nodes, st.carry(pathRef(p), st.onPath(p))...)
		nodes = append(nodes, st.checkout(p)...)
	}
	if !d.IsZero() && !(o.IsOwner && o.Group == "") {
		nodes = append(nodes, st.carry(textRef(d), st.find(textRef(d)))...)
	}
	nodes = append(nodes, st.givenBack()...)
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// fileLabel returns the label of a file that an agent loads by itself: that of its origin or, if
// the file is in the project, that of any file in the project.
func (st *step) fileLabel(o floodmark.Origin) floodmark.Label {
	l := st.r.Policy.Classify(o)
	if o.Place == "" || l.Trust >= floodmark.Local || st.s.Project == "" {
		return l
	}
	p := st.places().Clean(o.Place, "")
	if kind, _ := st.r.Catalog.Where(p, st.places()); kind == catalog.InProject {
		at := floodmark.Label{Trust: floodmark.Local, Secrecy: l.Secrecy}
		return st.r.Policy.PlaceLabel(at, p, kind, true, st.s.Home)
	}
	return l
}

// instructed adds what sessions left in files that this agent loads by itself, whether or not it
// tells us: above some paths, in its own folders at home and, if a session begins, below the paths.
func (st *step) instructed(begins bool, paths ...string) (nodes []floodmark.NodeID) {
	if st.in.Artifacts == nil || strings.Join(paths, "") == "" {
		return nil
	}
	home := st.resolved([]string{cmp.Or(st.s.Home, st.ev.Home)})[0]
	r := instructions.New(floodmark.Program(st.ev.Agent), home, st.r.Catalog.Listed("instructs"))
	for _, p := range paths {
		st.worksIn(r, p, begins)
	}
	below := func(dir string) (refs []floodmark.ArtifactRef) {
		for _, k := range st.find(folderRef(dir)) {
			refs = append(refs, k.Below...)
		}
		return refs
	}
	for _, ref := range r.Loads(instructions.World{Below: below, Instructs: st.instructs, Disk: st.in.Disk}) {
		first := st.node
		from := st.carry(ref, st.find(ref))
		if nodes = append(nodes, from...); st.node > first {
			st.see(floodmark.Source{
				Kind: floodmark.NodeSystemPrompt, Label: floodmark.Clean(), Inputs: from,
				Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "instructions", Place: ref.Name},
			}, "")
		}
	}
	return nodes
}

// instructs reports whether a file instructs an agent by its name, or runs by itself.
func (st *step) instructs(p string) bool {
	_, instructs := st.r.Catalog.Where(p, catalog.Places{Project: cmp.Or(st.s.Project, st.ev.Project), Home: cmp.Or(st.s.Home, st.ev.Home)})
	return instructs
}

// elsewhere returns the paths outside of the project that a call reads or leaves its shell in.
func (st *step) elsewhere(j *judged, reads []string) (list []string) {
	for _, dir := range besides(j.basis.Moved, st.s.Project) {
		reads = append(slices.Clip(reads), st.places().Clean(dir, "")+"/*")
	}
	for _, p := range reads {
		if path.IsAbs(p) && !under(p, st.s.Project) && !under(p, st.resolved([]string{st.s.Project})[0]) && !catalog.OfSystem(p) {
			list = addNew(list, p)
		}
	}
	return list
}

// worksIn tells r where an agent works: at a path, and in the repository around that path.
func (st *step) worksIn(r *instructions.Reader, p string, begins bool) {
	there := st.resolved([]string{p})[0]
	if r.Pass(p, there); begins && p != "" {
		r.Begin(p, there)
	}
	if st.in.Disk == nil || p == "" {
		return
	}
	if git, common := st.in.Disk.Repository(there); begins && git != "" {
		r.In(st.tree(there), path.Dir(common))
	} else {
		r.In()
	}
}

// late adds what was left behind between a call and its result, because another session may have
// written what this one was about to read.
func (st *step) late(c hook.Call) floodmark.Label {
	l := floodmark.Clean()
	leaves, err := c.Leaves()
	first := st.node
	for _, n := range st.givenBack() {
		if n >= first || st.ev.Shared == "" { // what a hook announced was not made from it
			l = l.Join(st.effective(n))
		}
	}
	if st.in.Artifacts == nil || err != nil || len(leaves) == 0 {
		return l
	}
	j := st.classified(c, leaves)
	for _, n := range st.withCarried(&j) {
		if n >= first {
			l = l.Join(st.effective(n))
		}
	}
	return l
}

// classified returns what a call is, without what follows from it.
func (st *step) classified(c hook.Call, leaves []hook.Leaf) judged {
	ref := st.ref(c.Server, c.Name)
	j := judged{leaves: leaves, use: st.r.Catalog.Classify(ref, leaves, c.Hints, st.places())}
	j.action.Tool, j.action.Call, j.action.Effects = ref, callID(c), j.use.Effects
	return j
}
