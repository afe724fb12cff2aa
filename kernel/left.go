package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/kernel/artifact"
	"github.com/floodmark/floodmark/provenance"
	"github.com/floodmark/floodmark/report"
)

// left returns what is known about artifacts at this point of the event.
func (st *step) left() *artifact.Book {
	b := &st.book
	b.Store, b.Disk, b.Catalog, b.Policy = st.in.Artifacts, st.in.Disk, st.r.Catalog, st.r.Policy
	b.Session, b.At, b.Ledger, b.Trail = st.ev.Session, st.places(), &st.s.Ledger, &st.s.Trail
	b.Told = catalog.Places{Project: cmp.Or(st.s.Project, st.ev.Project), Home: cmp.Or(st.s.Home, st.ev.Home)}
	b.Done = artifact.Changes{Facts: st.out.Facts, Artifacts: st.out.Artifacts, Gone: st.out.Gone, Watch: st.out.Watch}
	return b
}

// leave writes down what an event leaves behind.
func (st *step) leave(c artifact.Changes) {
	st.out.Facts, st.out.Artifacts, st.out.Gone, st.out.Watch = c.Facts, c.Artifacts, c.Gone, c.Watch
}

// onDisk returns the call as far as artifacts are concerned.
func (j *judged) onDisk() artifact.Call {
	return artifact.Call{
		ID: j.action.Call, Tool: j.action.Tool, Use: &j.use, Leaves: j.leaves, Effects: j.action.Effects,
		Network: j.basis.Network, Contained: j.decision.Contained(), Boxed: j.decision.Reach == floodmark.Boxed,
	}
}

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
	reads, paths := st.left().Reads(j.onDisk())
	for _, r := range reads {
		inputs = append(inputs, st.read(r)...)
	}
	inputs = append(inputs, st.instructed(false, st.left().Elsewhere(paths, j.basis.Moved)...)...)
	if slices.Contains(j.action.Effects, floodmark.Run) {
		inputs = append(inputs, st.steered(j)...)
	}
	inputs = append(inputs, st.givenBack()...)
	slices.Sort(inputs)
	return slices.Compact(inputs)
}

// steered returns the nodes of what a running program may repeat: all live nodes trusted below
// Local, and what the program may have loaded from outside of the project.
func (st *step) steered(j *judged) (nodes []floodmark.NodeID) {
	for src := range st.s.Ledger.Sources() {
		if st.s.Ledger.Live(src.Node) && src.Own().Trust < floodmark.Local {
			nodes = append(nodes, src.Node)
		}
	}
	for _, k := range j.around {
		if !j.decision.Contained() || st.left().InBoxes(k.Ref.Name) {
			nodes = append(nodes, st.read(artifact.Read{Ref: k.Ref, Kept: []artifact.Kept{k}})...)
		}
	}
	return nodes
}

// read adds the sources of what was left behind to the session and returns their nodes, with those
// of the checkouts it is in.
func (st *step) read(r artifact.Read) []floodmark.NodeID {
	got := st.left().Bring(r, st.node, st.mark)
	for _, f := range got.Heard {
		st.keep(f)
	}
	if len(got.Read.Sources) > 0 {
		st.bring(got.Read)
		st.keep(got.Read)
	}
	for _, c := range r.Checkouts {
		got.Nodes = append(got.Nodes, st.take(c))
	}
	return got.Nodes
}

// bring adds the labels of another session's sources to the mark.
func (st *step) bring(f floodmark.ArtifactRead) {
	if st.brought == nil {
		st.brought = map[floodmark.NodeID]floodmark.Label{}
	}
	for _, s := range f.Sources {
		l := s.Own()
		for _, e := range st.left().Endorsed() {
			if e.Digest == s.Digest && !s.Digest.IsZero() {
				l.Trust = max(l.Trust, min(e.Trust, floodmark.Local))
			}
		}
		st.brought[s.Node] = l
		st.mark, st.more = st.mark.Join(l), st.more|provenance.LevelsOf(l.Trust)
	}
	st.node += floodmark.NodeID(len(f.Sources))
}

// take brings a repository of others into the session, once, and returns its node.
func (st *step) take(c artifact.Checkout) floodmark.NodeID {
	src := c.Source()
	if n, ok := st.s.Ledger.Find(src.Digest); ok {
		return n
	}
	for _, f := range st.out.Facts {
		if seen, ok := f.(floodmark.ContentSeen); ok && seen.Digest == src.Digest {
			return seen.Node
		}
	}
	for _, f := range st.left().Heard([]floodmark.Digest{src.Digest}) {
		st.keep(f)
	}
	n := st.node
	label := src.Label
	for _, e := range st.left().Endorsed() {
		if e.Digest == src.Digest {
			label.Trust = max(label.Trust, min(e.Trust, floodmark.Local))
		}
	}
	src.Node = n
	st.bringSeen(src, label)
	return n
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

// carriedBy adds the sources of content that comes in without a call.
func (st *step) carriedBy(o floodmark.Origin, d floodmark.Digest) []floodmark.NodeID {
	var nodes []floodmark.NodeID
	for _, r := range st.left().Arrived(o, d) {
		nodes = append(nodes, st.read(r)...)
	}
	nodes = append(nodes, st.givenBack()...)
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// instructed adds what sessions left in files that this agent loads without a tool call.
func (st *step) instructed(begins bool, paths ...string) (nodes []floodmark.NodeID) {
	for _, ref := range st.left().Instructions(st.ev.Agent, begins, paths...) {
		first := st.node
		from := st.read(st.left().Of(ref))
		if nodes = append(nodes, from...); st.node > first {
			st.see(floodmark.Source{
				Kind: floodmark.NodeSystemPrompt, Label: floodmark.Clean(), Inputs: from,
				Origin: floodmark.Origin{Kind: floodmark.FromFile, Name: "instructions", Place: ref.Name},
			}, "")
		}
	}
	return nodes
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

// leaves records what an allowed call leaves behind, with the sources of what the session saw before
// its result and of what the call read.
func (st *step) leaves(j *judged, result floodmark.NodeID) {
	if st.in.Artifacts == nil {
		return
	}
	nodes := min(st.authority(j.action).Nodes, result)
	if !leavesNothing(j) {
		st.give(j.mark, j.action.Call, nodes)
	}
	st.leave(st.left().Leave(j.onDisk(), nodes, floodmark.Source{Kind: floodmark.NodeToolResult, Origin: j.origin(), Label: j.returns}))
}

// settle takes in that a call is finished, whose result is at a node. A call that had to run in a
// box, but did not, may have written anything.
func (st *step) settle(call floodmark.CallID, n floodmark.NodeID) {
	had := st.s.Book.HadToBeBoxed(call)
	st.leave(st.left().Settle(call, artifact.Ending{Failed: st.ev.Result.Error, Box: st.ev.Box, Boxed: had, Altered: st.in.Altered}))
	if had && st.ev.Box == nil && st.s.Project != "" {
		st.leave(st.left().Anywhere(call, n))
	}
}

// heed records what the owner said in other sessions about content that this session has too. These
// facts come first, because everything else is judged after them.
func (st *step) heed() error {
	if st.in.Artifacts == nil || !st.s.Opened {
		return nil
	}
	want := slices.Clone(st.s.Carried)
	for _, e := range st.s.Ledger.Endorsements() {
		want = append(want, e.Digest)
	}
	if len(want) == 0 {
		return nil
	}
	facts := st.left().Heard(want)
	if len(facts) == 0 {
		return nil
	}
	next, err := st.s.with(facts)
	if err != nil {
		return fmt.Errorf("take in what the owner said elsewhere: %w", err)
	}
	st.s, st.heeded = next, len(facts)
	st.mark, st.more = next.Ledger.Mark(), next.Ledger.Levels()
	for _, f := range facts {
		st.keep(f)
	}
	return nil
}

// with returns a copy of the state after some more facts.
func (s *State) with(facts []floodmark.Fact) (*State, error) {
	data, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	next, err := Restore(data)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if err := next.Apply(f); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// Sessions that share a server of tools may pass content through it: what one session gave it,
// another may get. What the server keeps is not known, so all its results get the marks of all
// sessions that wrote to it, until the owner vouches for them. A session is recorded at the server
// only if its mark is lower than those recorded already.

// together returns the shared server that this event is about.
func (st *step) together() (floodmark.ArtifactRef, bool) {
	name := st.ev.Shared
	if name == "" && st.ev.Point == hook.AfterToolCall { // told by a hook, which knows no gateway
		name = st.s.Running.Shared(callID(st.ev.Call))
	}
	return floodmark.ArtifactRef{Kind: floodmark.ServerArtifact, Name: name}, name != "" && st.in.Artifacts != nil
}

// givenBack adds what sessions gave to the shared server of this event, because that server may
// give it to this session.
func (st *step) givenBack() []floodmark.NodeID {
	ref, ok := st.together()
	if !ok {
		return nil
	}
	return st.read(st.left().Of(ref))
}

// leavesNothing reports whether a call is known to leave nothing behind at its
// server. An undescribed tool may leave something.
func leavesNothing(j *judged) bool {
	return j.use.Profile != nil && len(j.action.Effects) > 0 && !slices.ContainsFunc(j.action.Effects, func(e floodmark.Effect) bool { return e != floodmark.Observe })
}

// give records that a session at this mark is about to write to the shared server of this event.
func (st *step) give(mark floodmark.Label, call floodmark.CallID, nodes floodmark.NodeID) {
	if ref, ok := st.together(); ok {
		st.leave(st.left().Give(ref, mark, call, nodes, st.in.At.UnixNano()))
	}
}

// loads finds out what a call would run or load. The call is judged below the label of that.
func (st *step) loads(j *judged, mark floodmark.Label) {
	l := st.left().Loads(j.onDisk(), mark)
	j.action.Effects, j.basis.Loads, j.basis.Others, j.around = l.Effects, l.Loads, l.Others, l.Around
}

// below lowers a context by what a call would load.
func (st *step) below(b *floodmark.Basis, ctx Context) Context {
	st.loading = slices.ContainsFunc(report.LoadedFrom(b), func(s floodmark.Source) bool { return !s.Digest.IsZero() })
	if len(b.Loads) == 0 {
		return ctx
	}
	l := artifact.Loaded(b.Loads)
	ctx.Mark = ctx.Mark.Join(l)
	ctx.Levels |= provenance.LevelsOf(l.Trust)
	return ctx
}

// endorsable returns the sources an owner may vouch for here: those of the session,
// and those of what could not be loaded.
func (st *step) endorsable() []floodmark.Source {
	return append(slices.Collect(st.s.Ledger.Sources()), st.s.Offered...)
}
