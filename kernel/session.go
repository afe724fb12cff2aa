package kernel

import (
	"errors"
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
)

// sessionStart opens a session, or takes in why an open one starts again.
func (st *step) sessionStart() error {
	ev := st.ev
	fresh := !st.s.Opened
	st.ensureOpen()
	st.ensureRules()
	switch ev.Cause {
	case hook.Clear:
		// Only a person empties a context. If a program says so, the session goes on as it was.
		if !fresh && ev.ByPerson {
			st.endTurn()
			st.keep(floodmark.ContextCleared{})
		} else if !ev.ByPerson {
			st.keep(floodmark.IncidentSeen{Kind: "clear-not-believed", Text: "a context was said to be cleared, and not by a person"})
			st.pastUnless(!fresh)
		}
	case hook.Compact:
		st.pastUnless(!fresh)
		st.summary(ev.Text)
	case hook.Resume:
		st.pastUnless(!fresh)
	case hook.Startup, "":
	default:
		st.unknownPast()
	}
	st.instructed(true, st.s.Project, ev.Project)
	return nil
}

// ensureOpen opens a session that was not announced. What happened before its
// first event is unknown, so its past is not believed.
func (st *step) ensureOpen() {
	if st.s.Opened {
		return
	}
	to, commit := st.beginsAt(st.ev.Project)
	st.keep(floodmark.SessionOpened{Agent: st.ev.Agent, Project: st.ev.Project, Home: st.ev.Home, PushesTo: to, Key: st.in.KeyName, Commit: commit})
	if st.ev.Point != hook.SessionStart {
		st.unknownPast()
	}
}

// pastUnless adds an unknown past unless the past is known.
func (st *step) pastUnless(known bool) {
	if !known {
		st.unknownPast()
	}
}

// unknownPast adds a source for the history of a session that we have no facts of.
func (st *step) unknownPast() {
	st.see(floodmark.Source{
		Kind:   floodmark.NodeHistory,
		Origin: floodmark.Origin{Kind: floodmark.FromUnknown, Name: "before the monitor was told"},
		Label:  floodmark.Label{Trust: floodmark.Untrusted, Secrecy: floodmark.Private},
	}, "")
}

// ensureRules notes under which policy and catalog we decide from here on.
func (st *step) ensureRules() {
	f := floodmark.RulesLoaded{Policy: st.r.Policy.Hash(), Catalog: st.r.Catalog.Hash()}
	if f.Policy != st.s.Policy || f.Catalog != st.s.Catalog {
		st.keep(f)
	}
}

// summary takes in what compaction wrote. The text was made from everything before it, so it has
// the joined label of all sources. It removes no source.
func (st *step) summary(text string) {
	st.see(floodmark.Source{
		Kind:   floodmark.NodeHistory,
		Origin: floodmark.Origin{Kind: floodmark.FromHistory, Name: "compaction"},
		Label:  floodmark.Clean(),
		Digest: digestOf(text),
		Whole:  true,
	}, text)
}

// openTurn begins a turn unless one is under way.
func (st *step) openTurn() {
	if !st.s.InTurn {
		st.keep(floodmark.TurnOpened{Turn: st.s.Turn + 1})
	}
}

func (st *step) endTurn() {
	if st.s.InTurn && !st.ev.GoesOn() {
		st.keep(floodmark.TurnClosed{Turn: st.s.Turn})
	}
}

func (st *step) sessionEnd() {
	st.endTurn()
	st.keep(floodmark.SessionClosed{})
}

// digestOf returns the digest of a text; zero if it is empty, because no text identifies nothing.
func digestOf(text string) floodmark.Digest {
	if text == "" {
		return floodmark.Digest{}
	}
	return floodmark.DigestOf(text)
}

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
