package graph

import (
	"fmt"
	"slices"

	"github.com/floodmark/floodmark"
)

// finish returns the picture with at most so many nodes. Too many are drawn as one where they are
// alike: first those of a turn, then those of all turns. If there are still too many, the oldest
// are left out that no path needs.
func (p *painter) finish(most int) *Picture {
	for i := range p.spots {
		if s := &p.spots[i]; s.Kind == SpotSource {
			var n int
			if _, err := fmt.Sscanf(s.ID, "n%d", &n); err == nil {
				s.Label = p.ledger.Effective(floodmark.NodeID(n))
			}
		}
	}
	out := &Picture{Nodes: p.spots, Edges: p.edges, All: len(p.spots)}
	for _, id := range p.stops[max(0, len(p.stops)-maxPaths):] {
		if way, ok := p.paths[id]; ok {
			out.Paths = append(out.Paths, way)
		}
	}
	if len(out.Nodes) > most {
		out.join(func(s Spot) string { return fmt.Sprint(s.Turn, alikeness(s)) })
	}
	if len(out.Nodes) > most {
		out.join(alikeness)
	}
	if len(out.Nodes) > most {
		out.cut(most)
	}
	out.Edges = out.Edges[max(0, len(out.Edges)-maxShownLinks):]
	return out
}

// alikeness returns what nodes have in common that are drawn as one; calls that were stopped are
// only drawn as one if they are the same.
func alikeness(s Spot) string {
	line := ""
	if s.stopped {
		line = s.Line
	}
	return fmt.Sprint("\x00", s.Kind, "\x00", s.Name, "\x00", s.Origin, "\x00", s.Verdict, "\x00", s.Label, "\x00", line)
}

// join draws the nodes as one that have the same key. The first of them stands for all.
func (g *Picture) join(key func(Spot) string) {
	first, rename := map[string]int{}, map[string]string{}
	var nodes []Spot
	for _, s := range g.Nodes {
		i, ok := first[key(s)]
		if !ok {
			first[key(s)] = len(nodes)
			rename[s.ID] = s.ID
			nodes = append(nodes, s)
			continue
		}
		one := &nodes[i]
		one.Count += s.Count
		one.Digest = floodmark.Digest{} // it is no longer one content
		rename[s.ID] = one.ID
	}
	g.Nodes = nodes
	g.rename(rename)
}

// rename replaces the names of nodes. What names a node that is gone is gone, too.
func (g *Picture) rename(to map[string]string) {
	known := map[Link]bool{}
	var edges []Link
	for _, l := range g.Edges {
		l.From, l.To = to[l.From], to[l.To]
		if l.From != "" && l.To != "" && l.From != l.To && !known[l] {
			known[l] = true
			edges = append(edges, l)
		}
	}
	g.Edges = edges
	for i := range g.Paths {
		way := &g.Paths[i]
		way.Call = to[way.Call]
		var nodes []string
		for _, n := range way.Nodes {
			nodes = append(nodes, to[n])
		}
		way.Nodes = slices.Compact(slices.DeleteFunc(nodes, func(n string) bool { return n == "" }))
	}
	g.Paths = slices.DeleteFunc(g.Paths, func(way Path) bool { return way.Call == "" })
}

// cut leaves out the oldest nodes that no path needs, or else the oldest.
func (g *Picture) cut(most int) {
	needed := map[string]bool{}
	for _, way := range g.Paths {
		for _, n := range way.Nodes {
			needed[n] = true
		}
	}
	keep := map[string]string{}
	for _, must := range []bool{true, false} {
		for _, s := range slices.Backward(g.Nodes) {
			if needed[s.ID] == must && len(keep) < most {
				keep[s.ID] = s.ID
			}
		}
	}
	g.Left = len(g.Nodes) - len(keep)
	g.Nodes = slices.DeleteFunc(g.Nodes, func(s Spot) bool { return keep[s.ID] == "" })
	g.rename(keep)
}
