package graph

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/floodmark/floodmark"
)

// maxInputsShown bounds the inputs drawn for one source. The result of a sub-agent can have
// thousands.
const maxInputsShown = 64

// maxPreviewRunes is the RFC's limit.
const maxPreviewRunes = 100

// A turnBuilder collects the nodes and edges of one turn. Pointers to nodes stay valid.
type turnBuilder struct {
	number     int
	begin, end time.Time
	nodes      []*Node
	at         map[string]*Node
	edges      []Edge
	known      map[Edge]bool
	counts     map[string]int
	model      string            // the newest model call
	output     string            // the newest answer
	said       map[string]string // what the agent reports of the next model call
	iterations int
	lowest     floodmark.Trust
}

func newTurn(number int, at time.Time) *turnBuilder {
	return &turnBuilder{
		number: number, begin: at, end: at, lowest: floodmark.System,
		at: map[string]*Node{}, known: map[Edge]bool{}, counts: map[string]int{}, said: map[string]string{},
	}
}

// saw records that the turn went on until a time, and the mark then.
func (t *turnBuilder) saw(at time.Time, mark floodmark.Trust) {
	if at.After(t.end) {
		t.end = at
	}
	t.lowest = min(t.lowest, mark)
}

// next returns a new id. Ids never contain foreign text.
func (t *turnBuilder) next(what string) string {
	t.counts[what]++
	return fmt.Sprintf("%s-%d-%d", what, t.number, t.counts[what])
}

func (t *turnBuilder) historyID() string { return "history-" + strconv.Itoa(t.number) }

func (t *turnBuilder) add(n Node) *Node {
	t.nodes = append(t.nodes, &n)
	t.at[n.ID] = &n
	return &n
}

func (t *turnBuilder) node(id string) *Node { return t.at[id] }

// iteration returns the round of a node; nil if unknown.
func (t *turnBuilder) iteration(id string) *int {
	if n := t.node(id); n != nil {
		return n.Iteration
	}
	return nil
}

func (t *turnBuilder) connect(from, to string, r Relation) {
	e := Edge{From: from, To: to, Relation: r}
	if from != "" && to != "" && !t.known[e] {
		t.known[e] = true
		t.edges = append(t.edges, e)
	}
}

// finish returns the complete turn with its summary.
func (t *turnBuilder) finish(g *Graph) Turn {
	out := Turn{
		TurnID: "turn-" + strconv.Itoa(t.number), SessionKey: g.Session, AgentID: g.Agent,
		Timestamp: t.begin.UnixMilli(), DurationMs: t.end.Sub(t.begin).Milliseconds(),
		Nodes: make([]Node, 0, len(t.nodes)), Edges: append([]Edge{}, t.edges...),
		Summary: Summary{MaxTaint: t.lowest, ExternalSources: []string{}, ToolsBlocked: []string{}},
	}
	models := 0
	for _, n := range t.nodes {
		out.Nodes = append(out.Nodes, *n)
		switch {
		case n.Kind == floodmark.NodeLLMCall:
			models++
		case n.Kind == floodmark.NodeToolCall && n.Blocked:
			out.Summary.ToolsBlocked = once(out.Summary.ToolsBlocked, n.Tool)
		case n.Metadata["origin"] != "" && n.Trust <= floodmark.External:
			out.Summary.ExternalSources = once(out.Summary.ExternalSources, n.Metadata["source"])
		}
	}
	out.Summary.IterationCount = max(models, t.iterations)
	return out
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func sourceID(n floodmark.NodeID) string { return "n" + strconv.Itoa(int(n)) }

// sourceNode returns a node for the current state of a source.
func (b *builder) sourceNode(id floodmark.NodeID) Node {
	s, _ := b.ledger.Source(id)
	label := b.ledger.Effective(id)
	n := Node{ID: sourceID(id), Kind: rfcKind(s.Kind), Trust: label.Trust, Metadata: map[string]string{
		"origin": orUnknown(string(s.Origin.Kind)), "source": describe(s.Origin), "secrecy": label.Secrecy.String(), "time": stamp(b.at),
	}}
	if !s.Digest.IsZero() {
		n.ContentHash = s.Digest.String()
	}
	if s.Origin.Kind == floodmark.FromTool {
		n.Tool = floodmark.ToolRef{Server: s.Origin.Server, Name: s.Origin.Name}.String()
	}
	if s.Whole {
		n.Metadata["whole"] = "true"
	}
	return n
}

// rfcKind returns a kind of the RFC. Other kinds become input.
func rfcKind(k floodmark.NodeKind) floodmark.NodeKind {
	switch k {
	case floodmark.NodeInput, floodmark.NodeSystemPrompt, floodmark.NodeHistory, floodmark.NodeLLMCall,
		floodmark.NodeToolCall, floodmark.NodeToolResult, floodmark.NodeOutput, floodmark.NodeDecision:
		return k
	}
	return floodmark.NodeInput
}

func orUnknown(kind string) string {
	if kind == "" {
		return string(floodmark.FromUnknown)
	}
	return kind
}

// describe names an origin for a person: the place that was read, or else the sender, the tool or
// the group.
func describe(o floodmark.Origin) string {
	for _, name := range []string{o.Place, o.Sender, floodmark.ToolRef{Server: o.Server, Name: o.Name}.String(), o.Group} {
		if name != "" {
			return preview(name)
		}
	}
	return orUnknown(string(o.Kind))
}

// preview returns a text shortened to the RFC's limit, with dots for invisible characters.
func preview(s string) string { return visible(s, maxPreviewRunes, "") }

// stamp returns a time in the form that all graphs use.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
