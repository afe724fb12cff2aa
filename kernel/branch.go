package kernel

import (
	"errors"
	"slices"

	"github.com/floodmark/floodmark"
)

// spawned begins a sub-agent's session as a branch of this one: it opens with
// this session's sources, so a child is never cleaner than its parent.
func (st *step) spawned() error {
	if st.ev.Child == "" {
		return errors.New("a sub-agent needs a session")
	}
	st.keep(floodmark.ChildSpawned{Child: st.ev.Child})
	fork := floodmark.SessionForked{
		Agent: st.s.Agent, Parent: st.ev.Session, Project: st.s.Project, Home: st.s.Home,
		Sources: st.s.Ledger.Export(), Stated: slices.Clone(st.s.Owner), Endorsed: st.s.Ledger.Endorsements(),
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

// ended takes in a sub-agent's result as a source with the child's sources
// behind it. A child we know nothing of is not believed.
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
	base := st.node
	sources := st.in.Child.Ledger.Export()
	for i := range sources {
		sources[i].Node += base
		for k := range sources[i].Inputs {
			sources[i].Inputs[k] += base
		}
		sources[i].Call = ""
		result.Inputs = append(result.Inputs, sources[i].Node)
	}
	result.Label = floodmark.Clean()
	st.keep(floodmark.ChildEnded{Child: st.ev.Child, Sources: sources})
	st.node += floodmark.NodeID(len(sources))
	result.Node = st.node
	st.keep(floodmark.ContentSeen{Source: result})
	if st.ev.Text != "" {
		st.out.Indexed = append(st.out.Indexed, Indexed{Node: result.Node, Digest: result.Digest, Text: st.ev.Text})
	}
	return nil
}
