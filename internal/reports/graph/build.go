package graph

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/provenance"
)

// Build returns the graph of a session from its facts, which must come in order and with their
// times.
func Build(session floodmark.SessionID, entries iter.Seq2[time.Time, floodmark.Fact]) (*Graph, error) {
	b := newBuilder(session)
	count := 0
	for at, fact := range entries {
		if err := b.fold(at, fact); err != nil {
			return nil, fmt.Errorf("fact %d: %w", count, err)
		}
		count++
	}
	for _, t := range b.turns {
		b.graph.Turns = append(b.graph.Turns, t.finish(b.graph))
	}
	return b.graph, nil
}

func newBuilder(session floodmark.SessionID) *builder {
	return &builder{
		graph:    &Graph{Session: session, blame: map[string][]string{}},
		home:     map[floodmark.NodeID]*turnBuilder{},
		calls:    map[floodmark.CallID]string{},
		proposed: map[floodmark.CallID]string{},
		grants:   map[floodmark.CallID]floodmark.TicketID{},
		answers:  map[floodmark.Digest]*Node{},
		tickets:  map[floodmark.TicketID][]floodmark.Digest{},
	}
}

// A builder builds turns from facts.
type builder struct {
	graph  *Graph
	ledger provenance.Ledger
	turns  []*turnBuilder
	at     time.Time

	home     map[floodmark.NodeID]*turnBuilder // the turn in which a source came in
	fresh    []floodmark.NodeID                // sources that no model call has consumed yet
	calls    map[floodmark.CallID]string       // the newest node of each call with an id
	proposed map[floodmark.CallID]string       // the model call that proposed a call
	models   bool                              // the agent's adapter reports model calls

	grants  map[floodmark.CallID]floodmark.TicketID
	answers map[floodmark.Digest]*Node // newest decision on these arguments
	tickets map[floodmark.TicketID][]floodmark.Digest
}

// fold adds one fact to the graph.
func (b *builder) fold(at time.Time, fact floodmark.Fact) error {
	b.at = at
	var err error
	switch f := fact.(type) {
	case floodmark.SessionOpened:
		b.graph.Agent = f.Agent
	case floodmark.SessionForked:
		b.graph.Agent = f.Agent
		err = b.fork(f)
	case floodmark.TurnOpened:
		b.turns = append(b.turns, newTurn(f.Turn, at))
	case floodmark.ContextCleared:
		b.ledger.Clear()
		b.fresh = nil
	case floodmark.ContentSeen:
		err = b.seen(f)
	case floodmark.ContentArrived:
		err = b.arrived(f)
	case floodmark.IterationOpened:
		b.turn().iterations++
	case floodmark.LoopTold:
		b.loop(f)
	case floodmark.ModelAnswered:
		for _, c := range f.Calls {
			b.proposed[c.Call] = b.turn().model
		}
	case floodmark.ActionDecided:
		b.decided(f)
	case floodmark.ChildEnded:
		err = b.ledger.AddAll(f.Sources)
	case floodmark.ArtifactRead:
		err = b.ledger.AddAll(f.Sources)
	case floodmark.Endorsed:
		b.ledger.Endorse(f)
	case floodmark.Withdrawn:
		b.ledger.Withdraw(f.Digest)
	default:
		b.asked(fact)
	}
	if err == nil && len(b.turns) > 0 {
		b.turn().saw(at, b.ledger.Mark().Trust)
	}
	return err
}

func (b *builder) has(n floodmark.NodeID) bool {
	_, ok := b.ledger.Source(n)
	return ok
}

// loop adds what an agent reports of its own loop to the node it is about: an answer, the last
// model call, or the next model call if a round begins.
func (b *builder) loop(f floodmark.LoopTold) {
	t := b.turn()
	said, about := t.said, t.model
	if f.Point == string(hook.BeforeResponseEmit) {
		about = t.output
	}
	if n := t.node(about); n != nil && f.Point != string(hook.LoopIterationStart) {
		said = n.Metadata
	}
	maps.Insert(said, f.Words())
	if f.Warned {
		said["warned"] = "true"
	}
}

// turn returns the current turn, or turn 0 before the first one.
func (b *builder) turn() *turnBuilder {
	if len(b.turns) == 0 {
		b.turns = append(b.turns, newTurn(0, b.at))
	}
	return b.turns[len(b.turns)-1]
}

func (b *builder) fork(f floodmark.SessionForked) error {
	if err := b.ledger.AddAll(f.Sources); err != nil {
		return err
	}
	for _, e := range f.Endorsed {
		b.ledger.Endorse(e)
	}
	return nil
}

// seen adds the node of a new source.
func (b *builder) seen(f floodmark.ContentSeen) error {
	if err := b.ledger.Add(f.Source); err != nil {
		return err
	}
	t := b.turn()
	n := b.sourceNode(f.Node)
	if len(f.Secrets) == 0 {
		n.ContentPreview = preview(cmp.Or(f.Preview, f.Text)) // Text is set only for the owner's own messages
	}
	n.Iteration = t.iteration(b.calls[f.Call])
	t.add(n)
	b.home[f.Node] = t
	b.fresh = append(b.fresh, f.Node)
	t.connect(b.calls[f.Call], n.ID, Produces)
	b.connectInputs(t, f.Source)
	return nil
}

// arrived updates the node of an announced source when its content has arrived.
func (b *builder) arrived(f floodmark.ContentArrived) error {
	if err := b.ledger.Arrive(f); err != nil {
		return err
	}
	t := b.home[f.Node]
	if t == nil {
		return nil
	}
	n, now := t.node(sourceID(f.Node)), b.sourceNode(f.Node)
	n.Trust, n.ContentHash = now.Trust, now.ContentHash
	s, _ := b.ledger.Source(f.Node)
	b.connectInputs(t, s)
	return nil
}

// connectInputs adds edges to the sources from which a source was made.
func (b *builder) connectInputs(t *turnBuilder, s floodmark.Source) {
	for _, in := range s.Inputs[:min(len(s.Inputs), maxInputsShown)] {
		b.bring(t, in)
		t.connect(sourceID(s.Node), sourceID(in), DerivesFrom)
	}
	if s.Whole && b.history(t) {
		t.connect(sourceID(s.Node), t.historyID(), DerivesFrom)
	}
}

// bring repeats the node of an older source in a turn that points to it.
func (b *builder) bring(t *turnBuilder, n floodmark.NodeID) {
	if t.node(sourceID(n)) == nil {
		t.add(b.sourceNode(n))
	}
}

// history adds the node that represents the live sources of earlier turns, and reports whether
// there are any.
func (b *builder) history(t *turnBuilder) bool {
	if t.node(t.historyID()) != nil {
		return true
	}
	label, count := floodmark.Clean(), 0
	for s := range b.ledger.Sources() {
		if b.home[s.Node] != t && b.ledger.Live(s.Node) {
			label = label.Join(b.ledger.Effective(s.Node))
			count++
		}
	}
	if count == 0 {
		return false
	}
	t.add(Node{
		ID: t.historyID(), Kind: floodmark.NodeHistory, Trust: label.Trust,
		Metadata: map[string]string{"sources": fmt.Sprint(count), "secrecy": label.Secrecy.String(), "time": stamp(b.at)},
	})
	return true
}

// model adds a model call, which consumes all sources that came in after the previous model call.
func (b *builder) model(n Node) *Node {
	t := b.turn()
	n.Kind, n.ID = floodmark.NodeLLMCall, t.next("llm")
	maps.Copy(n.Metadata, t.said)
	clear(t.said)
	added := t.add(n)
	if t.model != "" {
		t.connect(n.ID, t.model, DerivesFrom)
	} else if b.history(t) {
		t.connect(t.historyID(), n.ID, Consumes)
	}
	for _, s := range b.fresh {
		if b.home[s] == t {
			t.connect(sourceID(s), n.ID, Consumes)
		}
	}
	b.fresh = nil
	t.model = n.ID
	return added
}

// proposer returns the model call that proposed a tool call. If the agent's adapter reports no
// model calls, it adds one, because there must have been one.
func (b *builder) proposer(call floodmark.CallID, trust floodmark.Trust) string {
	if id := b.proposed[call]; id != "" && call != "" {
		return id
	}
	t := b.turn()
	if t.model == "" || (!b.models && len(b.fresh) > 0) {
		b.model(Node{Trust: trust, Metadata: map[string]string{"implied": "true", "time": stamp(b.at)}})
	}
	return t.model
}
