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

	blame map[string][]string // the sources that each decision was blamed on, in its order
}

// A Turn is the graph of one turn, in the form of the RFC. Everything before the first turn is turn
// 0. One node of kind history represents the sources of earlier turns. Earlier sources to which
// something in this turn points are repeated in this turn.
//
// The names of fields are those of the RFC and must not change. Readers must accept new fields.
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

// A Relation says how one node of a graph relates to another.
type Relation string

// The relations of the RFC.
const (
	Triggers    Relation = "triggers"     // llm_call -> tool_call
	Produces    Relation = "produces"     // tool_call -> tool_result
	Consumes    Relation = "consumes"     // input -> llm_call
	DerivesFrom Relation = "derives_from" // content -> the content it was made from
	BlockedBy   Relation = "blocked_by"   // refused call or answer -> policy_decision
)

// A Edge connects two nodes.
type Edge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Relation Relation `json:"relation"`
}

// A Summary holds what a person wants to know about a turn first.
type Summary struct {
	MaxTaint        floodmark.Trust `json:"maxTaint"` // the lowest mark of the turn
	ExternalSources []string        `json:"externalSources"`
	ToolsBlocked    []string        `json:"toolsBlocked"`
	IterationCount  int             `json:"iterationCount"`
}

// A Trail is a path from a source to the decision that was blamed on it.
type Trail []Node

// TurnGraphs returns the graphs of all turns, in order.
func (g *Graph) TurnGraphs() []Turn { return g.Turns }

// Blame returns the shortest path to a decision from each source that the decision was blamed on,
// in the order in which the decision names the sources.
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
		if len(trail) == 1 { // no path is known: show only the source and the decision
			trail = append(trail, nodes[decision])
		}
		trails = append(trails, trail)
	}
	return trails
}

// nodes returns every node of the session once, in the form of the first turn that contains it.
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

// wayTo returns, for every node from which content reached target, the next node on the shortest
// path to it.
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

// flow returns the ends of an edge in the direction in which content flows.
func (e Edge) flow() (from, to string) {
	if e.Relation == DerivesFrom {
		return e.To, e.From
	}
	return e.From, e.To
}
