package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
)

// spawned begins a sub-agent's session as a branch of this one: it opens with
// this session's sources, so a child is never cleaner than its parent.
func (st *step) spawned() error {
	if st.ev.Child == "" {
		return errors.New("a sub-agent needs a session")
	}
	if st.ev.Retry && st.ev.Child != st.ev.Session && slices.Contains(st.s.Children, st.ev.Child) {
		return nil // its first try was written down
	}
	if st.ev.Child == st.ev.Session || slices.Contains(st.s.Children, st.ev.Child) {
		return fmt.Errorf("sub-agent %q was begun already", st.ev.Child)
	}
	st.keep(floodmark.ChildSpawned{Child: st.ev.Child})
	fork := floodmark.SessionForked{
		Agent: st.s.Agent, Parent: st.ev.Session, Project: st.s.Project, Home: st.s.Home,
		Sources: st.s.Ledger.Export(), Stated: slices.Clone(st.s.Owner), Endorsed: st.s.Ledger.Endorsements(),
		Asked: min(st.s.TurnBegan, len(st.s.Owner)), Key: st.in.KeyName, Spelled: st.s.Spelled, Halved: st.s.share() + 1,
	}
	if st.s.Parent != "" {
		fork.Root = st.s.Origin(st.ev.Session)
	}
	// The prompt is model output: it was made from everything the parent saw.
	prompt := floodmark.ContentSeen{Source: floodmark.Source{
		Node:   floodmark.NodeID(len(fork.Sources)),
		Kind:   floodmark.NodeInput,
		Origin: floodmark.Origin{Kind: floodmark.FromParent, Name: string(st.ev.Session)},
		Label:  floodmark.Clean(),
		Digest: digestOf(st.ev.Text),
		Whole:  true,
	}}
	st.out.Forks = append(st.out.Forks, Fork{Session: st.ev.Child, Facts: []floodmark.Fact{fork, prompt}})
	return nil
}

// ended takes in a sub-agent's result as a source that was made from the child's sources. If the
// child is not known, the result is not trusted.
func (st *step) ended() error {
	if st.ev.Child == "" {
		return errors.New("a sub-agent needs a session")
	}
	result := floodmark.Source{
		Kind:   floodmark.NodeToolResult,
		Origin: floodmark.Origin{Kind: floodmark.FromChild, Name: string(st.ev.Child)},
		Digest: digestOf(st.ev.Text),
	}
	if st.in.Child == nil || !st.in.Child.Opened || st.in.Child.Parent != st.ev.Session {
		st.keep(floodmark.IncidentSeen{Kind: "unknown-child", Text: "a sub-agent ended that was never announced"})
		result.Label = floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private}
		st.see(result, st.ev.Text)
		return nil
	}
	sources := st.gathered(st.in.Child)
	for _, src := range sources {
		result.Inputs = append(result.Inputs, src.Node)
	}
	// The result was made from all that the child saw, which includes all that it began with.
	result.Label, result.Whole = floodmark.Clean(), true
	st.keep(floodmark.ChildEnded{Child: st.ev.Child, Sources: sources})
	st.node += floodmark.NodeID(len(sources))
	result.Node = st.node
	st.keep(floodmark.ContentSeen{Source: result})
	if st.ev.Text != "" {
		st.out.Indexed = append(st.out.Indexed, Indexed{Node: result.Node, Digest: result.Digest, Text: st.ev.Text})
	}
	return nil
}

// gathered returns what a child saw beyond what it began with, as sources of this session. The
// sources that the child began with are here already.
func (st *step) gathered(child *State) []floodmark.Source {
	var list []floodmark.Source
	nodes := map[floodmark.NodeID]floodmark.NodeID{} // from the child's nodes to ours
	for src := range child.Ledger.Sources() {
		if src.Node < child.Inherited {
			if ours, ok := st.s.Ledger.Find(src.Digest); ok && !src.Digest.IsZero() {
				nodes[src.Node] = ours
			}
			continue
		}
		if !child.Ledger.Live(src.Node) {
			continue
		}
		back := src
		back.Node, back.Call, back.Inputs = st.node+floodmark.NodeID(len(list)), "", nil
		for _, n := range src.Inputs {
			if ours, ok := nodes[n]; ok {
				back.Inputs = append(back.Inputs, ours)
			} else {
				back.Label = back.Label.Join(child.Ledger.Effective(n))
			}
		}
		slices.Sort(back.Inputs)
		nodes[src.Node] = back.Node
		list = append(list, back)
	}
	return list
}
