// Package graph draws a session: what came in, what the model and the tools did with
// it, and what was decided. It is built from facts and changes nothing.
package graph

import (
	"slices"

	"github.com/floodmark/floodmark"
)

// A Graph is a report on one session: what came in, what the model and the
// tools did with it, and what we decided. It is built from facts by
// [Build] and changes nothing.
type Graph struct {
	Session floodmark.SessionID
	Agent   string
	Turns   []Turn

	blame map[string][]string // decision -> sources, as the decision named them
}

// A Turn is the graph of one turn, in the form of the RFC. What happened
// before the first turn is turn 0. Sources of earlier turns are one node of
// kind history, except those that something in this turn points at: these are
// repeated here.
//
// The names of fields are the RFC's and must not change; readers must accept
// new ones.
type Turn struct {
	TurnID     string              `json:"turnId"`
	SessionKey floodmark.SessionID `json:"sessionKey"`
	AgentID    string              `json:"agentId,omitempty"`
	Timestamp  int64               `json:"timestamp"` // ms since 1970
	DurationMs int64               `json:"durationMs"`
	Nodes      []Node              `json:"nodes"`
	Edges      []Edge              `json:"edges"`
	Summary    Summary             `json:"summary"`
}

// A Node is one node of a turn.
type Node struct {
	ID             string             `json:"id"`
	Kind           floodmark.NodeKind `json:"kind"`
	Trust          floodmark.Trust    `json:"trust"`
	Tool           string             `json:"tool,omitempty"`
	Iteration      *int               `json:"iteration,omitempty"`
	ContentHash    string             `json:"contentHash,omitempty"`
	ContentPreview string             `json:"contentPreview,omitempty"`
	Blocked        bool               `json:"blocked,omitempty"`
	BlockReason    string             `json:"blockReason,omitempty"`
	Metadata       map[string]string  `json:"metadata,omitempty"`
}

// A Relation says how one node of a graph has to do with another.
type Relation string

// The relations of the RFC.
const (
	Triggers    Relation = "triggers"     // llm_call -> tool_call
	Produces    Relation = "produces"     // tool_call -> tool_result
	Consumes    Relation = "consumes"     // input -> llm_call: what is consumed comes first
	DerivesFrom Relation = "derives_from" // what was made -> what it was made from
	BlockedBy   Relation = "blocked_by"   // what was refused -> policy_decision
)

// A Edge connects two nodes.
type Edge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Relation Relation `json:"relation"`
}

// A Summary is what a person wants to know of a turn first.
type Summary struct {
	MaxTaint        floodmark.Trust `json:"maxTaint"` // the lowest mark of the turn
	ExternalSources []string        `json:"externalSources"`
	ToolsBlocked    []string        `json:"toolsBlocked"`
	IterationCount  int             `json:"iterationCount"`
}

// A Trail leads from a source to what was refused because of it.
type Trail []Node

// TurnGraphs returns the graphs of all turns, in order.
func (g *Graph) TurnGraphs() []Turn { return g.Turns }

// Blame returns, for each source that a decision was blamed on, the shortest
// way from it to the decision, in the order the decision named them.
func (g *Graph) Blame(decision string) []Trail {
	nodes := g.nodes()
	if _, ok := nodes[decision]; !ok {
		return nil
	}
	next := g.wayTo(decision)
	var trails []Trail
	for _, source := range g.blame[decision] {
		var trail Trail
		for at := source; at != ""; at = next[at] {
			trail = append(trail, nodes[at])
		}
		if len(trail) == 1 { // no way is known: say at least whom it was blamed on
			trail = append(trail, nodes[decision])
		}
		trails = append(trails, trail)
	}
	return trails
}

// nodes returns every node of the session once, as it was when it came in.
func (g *Graph) nodes() map[string]Node {
	all := make(map[string]Node)
	for _, t := range g.Turns {
		for _, n := range t.Nodes {
			if _, ok := all[n.ID]; !ok {
				all[n.ID] = n
			}
		}
	}
	return all
}

// wayTo returns, for every node from which content reached target, the next
// node on the shortest way there.
func (g *Graph) wayTo(target string) map[string]string {
	before := make(map[string][]string)
	for _, t := range g.Turns {
		for _, e := range t.Edges {
			from, to := e.flow()
			if !slices.Contains(before[to], from) {
				before[to] = append(before[to], from)
			}
		}
	}
	next := map[string]string{target: ""}
	for queue := []string{target}; len(queue) > 0; queue = queue[1:] {
		for _, from := range before[queue[0]] {
			if _, seen := next[from]; !seen {
				next[from] = queue[0]
				queue = append(queue, from)
			}
		}
	}
	return next
}

// flow returns the ends of an edge in the direction content went.
func (e Edge) flow() (from, to string) {
	if e.Relation == DerivesFrom {
		return e.To, e.From
	}
	return e.From, e.To
}
