package graph

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/reports/tally"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/report"
)

// A Picture is a session as data for a drawing: the sources, calls and files without the calls of
// models between them. Names in it are foreign text, made safe to show on one line.
type Picture struct {
	Nodes []Spot
	Edges []Link
	Paths []Path
	All   int // the number of nodes before any were drawn as one
	Left  int // the number of nodes that are left out
}

// A Spot is a node of a picture.
type Spot struct {
	ID      string
	Kind    SpotKind
	Name    string
	Origin  floodmark.OriginKind
	Label   floodmark.Label // of a call: what it was judged at
	Turn    int
	Line    string // a call in a short form
	Verdict string
	Reason  string
	Entry   uint64 // the number of the newest decision about a call
	Digest  floodmark.Digest
	Count   int // how many it stands for
	At      time.Time

	stopped bool
}

// A SpotKind says what a node of a picture is.
type SpotKind string

// The kinds of nodes.
const (
	SpotSource SpotKind = "source"
	SpotCall   SpotKind = "call"
	SpotAnswer SpotKind = "answer"
	SpotFile   SpotKind = "file"
)

// A Link is an edge of a picture, in the direction in which content flows.
type Link struct {
	From, To string
	Kind     LinkKind
	Argument string
}

// A LinkKind says how content went from one node to another.
type LinkKind string

// The kinds of edges.
const (
	LinkArgument LinkKind = "argument" // a value of a source is in an argument of a call
	LinkBlame    LinkKind = "blame"    // a source is why a call was not simply allowed
	LinkResult   LinkKind = "result"   // a call brought a source
	LinkMade     LinkKind = "made"     // a source was made from another one, or from a file
	LinkWrote    LinkKind = "wrote"    // a call wrote a file
)

// A Path says how content reached a call that was stopped.
type Path struct {
	Call     string
	Nodes    []string
	Sentence string
}

// An Entry is a fact with its number and time.
type Entry struct {
	Seq  uint64
	At   time.Time
	Fact floodmark.Fact
}

// The limits of a picture besides its nodes.
const (
	maxPaths    = 200
	maxSentence = 600
	maxName     = 300
	// maxLinks bounds the edges in memory, and maxShownLinks those of a picture.
	maxLinks      = 200_000
	maxShownLinks = 20_000
)

// Draw returns the picture of a session from its entries, which must come in order. It has at most
// so many nodes.
func Draw(session floodmark.SessionID, entries iter.Seq[Entry], most int) (*Picture, error) {
	p := painter{
		builder: newBuilder(session), at: map[string]int{}, links: map[Link]bool{}, byCall: map[floodmark.CallID]string{},
		origin: map[string]string{}, paths: map[string]Path{},
	}
	for e := range entries {
		had := p.ledger.Len()
		if d, ok := e.Fact.(floodmark.ActionDecided); ok {
			p.call(e, d) // the sources have the names that they had then
		}
		if err := p.fold(e.At, e.Fact); err != nil {
			return nil, fmt.Errorf("entry %d: %w", e.Seq, err)
		}
		for n := had; n < p.ledger.Len(); n++ {
			p.source(e, floodmark.NodeID(n))
		}
		p.besides(e)
	}
	return p.finish(most), nil
}

// A painter builds a picture while a builder follows the facts.
type painter struct {
	*builder
	spots  []Spot
	at     map[string]int // where a node is in spots
	edges  []Link
	links  map[Link]bool
	byCall map[floodmark.CallID]string // the newest node of a call
	origin map[string]string           // the call that brought a source
	paths  map[string]Path
	stops  []string // the calls in paths, in order
	number int
}

func (p *painter) turnNumber() int {
	if len(p.turns) == 0 {
		return 0
	}
	return p.turn().number
}

func (p *painter) add(s Spot) string {
	if i, ok := p.at[s.ID]; ok {
		p.spots[i] = s
		return s.ID
	}
	s.Count = 1
	p.at[s.ID] = len(p.spots)
	p.spots = append(p.spots, s)
	return s.ID
}

func (p *painter) link(l Link) {
	_, from := p.at[l.From]
	_, to := p.at[l.To]
	if from && to && l.From != l.To && !p.links[l] && len(p.edges) < maxLinks {
		p.links[l] = true
		p.edges = append(p.edges, l)
	}
}

// source adds the node of a new source. Its label is set at the end, because it may change.
func (p *painter) source(e Entry, n floodmark.NodeID) {
	s, ok := p.ledger.Source(n)
	if !ok {
		return
	}
	id := p.add(Spot{
		ID: sourceID(n), Kind: SpotSource, Name: visible(describe(s.Origin), maxName, "…"), Origin: s.Origin.Kind, Turn: p.turnNumber(), Digest: s.Digest, At: e.At,
	})
	if from := p.byCall[s.Call]; from != "" && s.Call != "" {
		p.origin[id] = from
		p.link(Link{From: from, To: id, Kind: LinkResult})
	}
	p.made(s.Inputs, id)
}

// made adds edges from the sources that a source was made from.
func (p *painter) made(from []floodmark.NodeID, id string) {
	for _, in := range from[:min(len(from), maxInputsShown)] {
		p.link(Link{From: sourceID(in), To: id, Kind: LinkMade})
	}
}

// besides adds what a fact tells of files, and of a result that has arrived.
func (p *painter) besides(e Entry) {
	switch f := e.Fact.(type) {
	case floodmark.ContentArrived:
		if i, ok := p.at[sourceID(f.Node)]; ok {
			p.spots[i].Digest = f.Digest
			p.made(f.Inputs, sourceID(f.Node))
		}
	case floodmark.ArtifactWritten:
		p.link(Link{From: p.byCall[f.Call], To: p.file(e, f.Artifact), Kind: LinkWrote})
	case floodmark.ArtifactRead:
		if len(f.Sources) > 0 {
			id := p.file(e, f.Artifact)
			for n := p.ledger.Len() - len(f.Sources); n < p.ledger.Len(); n++ {
				p.link(Link{From: id, To: sourceID(floodmark.NodeID(n)), Kind: LinkMade})
			}
		}
	default:
	}
}

func (p *painter) file(e Entry, ref floodmark.ArtifactRef) string {
	name := visible(ref.Name, maxName, "…")
	id := "f" + floodmark.DigestOf(ref.String()).Short()
	if _, ok := p.at[id]; !ok {
		p.add(Spot{ID: id, Kind: SpotFile, Name: name, Turn: p.turnNumber(), At: e.At})
	}
	return id
}

// call adds the node of a call or an answer, or updates the one of a call that is judged again.
func (p *painter) call(e Entry, f floodmark.ActionDecided) {
	s := Spot{
		Kind: SpotCall, Name: visible(f.Action.Tool.String(), maxName, "…"), Label: floodmark.Label{Trust: f.Trust, Secrecy: f.Mark.Secrecy},
		Turn: p.turnNumber(), Line: visible(tally.What(&f.Action), maxName, "…"), Verdict: f.Decision.Word(), Entry: e.Seq, At: e.At,
		stopped: f.Decision.Verdict < floodmark.Allow || f.Decision.Would != "",
	}
	switch f.Action.Kind {
	case floodmark.CallTool:
	case floodmark.SendReply:
		s.Kind, s.Name = SpotAnswer, "answer"
	case floodmark.SpawnAgent:
		s.Name, s.Line = "sub-agent", "begin a sub-agent"
	default:
		return
	}
	if len(f.Decision.Reasons) > 0 {
		s.Reason = visible(f.Decision.Reasons[0].Text, maxSentence, "…")
	}
	s.ID, s.Count, s.Digest = p.name(f.Action), 1, f.Action.ArgsDigest
	id := p.add(s)
	if f.Action.Call != "" {
		p.byCall[f.Action.Call] = id
	}
	for _, a := range f.Action.Arguments {
		for _, sp := range a.Spans {
			p.link(Link{From: sourceID(sp.Node), To: id, Kind: LinkArgument, Argument: visible(a.Path, maxPreviewRunes, "…")})
		}
	}
	if s.stopped {
		for _, n := range f.Decision.Blame {
			p.link(Link{From: sourceID(n), To: id, Kind: LinkBlame})
		}
		p.explain(id, f)
	} else {
		delete(p.paths, id)
	}
}

// name returns the name of a call: that of the same call if it is judged again, else a new one.
func (p *painter) name(a floodmark.Action) string {
	if id, ok := p.byCall[a.Call]; ok && a.Call != "" && a.Kind == floodmark.CallTool {
		if i := p.at[id]; p.spots[i].Name == visible(a.Tool.String(), maxName, "…") && p.spots[i].Digest == a.ArgsDigest {
			return id
		}
	}
	p.number++
	return fmt.Sprint("c", p.number)
}

// explain says how content reached a call that was stopped: through an argument, or because it was
// in the conversation.
func (p *painter) explain(id string, f floodmark.ActionDecided) {
	way := Path{Call: id, Nodes: []string{id}}
	what := report.Title(f.Action)
	if a, ok := report.Culprit(f.Action.Arguments); ok && len(a.Spans) > 0 && p.has(a.Spans[0].Node) {
		n := a.Spans[0].Node
		src, _ := p.ledger.Source(n)
		way.Nodes = p.wayFrom(n, id)
		way.Sentence = fmt.Sprintf("In %s, «%s» came from %s%s", what, visible(a.Path, maxPreviewRunes, "…"), meaning.Source(src, p.ledger.Effective(n).Trust), notYours(a.Trust))
	} else if len(f.Decision.Blame) > 0 && p.has(f.Decision.Blame[0]) {
		n := f.Decision.Blame[0]
		src, _ := p.ledger.Source(n)
		trust := p.ledger.Effective(n).Trust
		way.Nodes = p.wayFrom(n, id)
		way.Sentence = fmt.Sprintf("Before %s, the conversation held %s%s", what, meaning.Source(src, trust), notYours(trust))
	} else {
		way.Sentence = "No content of others led to " + what
	}
	if len(f.Decision.Reasons) > 0 {
		way.Sentence += ": " + f.Decision.Reasons[0].Text
	}
	way.Sentence = visible(way.Sentence, maxSentence, "…")
	if _, ok := p.paths[id]; !ok {
		p.stops = append(p.stops, id)
	}
	p.paths[id] = way
}

func notYours(t floodmark.Trust) string {
	if t < floodmark.Owner {
		return ", which you did not write"
	}
	return ""
}

// wayFrom returns the nodes from the call that brought a source to a call.
func (p *painter) wayFrom(n floodmark.NodeID, to string) []string {
	way := []string{sourceID(n), to}
	if from := p.origin[way[0]]; from != "" {
		way = slices.Insert(way, 0, from)
	}
	return way
}
