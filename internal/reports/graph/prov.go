package graph

import (
	"encoding/json"
	"fmt"

	"github.com/floodmark/floodmark"
)

// A provDocument is a W3C PROV-JSON document: for each kind of statement, the statements by their
// ids.
type provDocument map[string]map[string]map[string]string

func (d provDocument) put(kind, id string, about map[string]string) {
	if d[kind] == nil {
		d[kind] = map[string]map[string]string{}
	}
	if _, ok := d[kind][id]; !ok {
		d[kind][id] = about
	}
}

// relate adds a relation, which PROV-JSON gives a blank id.
func (d provDocument) relate(kind string, about map[string]string) {
	d.put(kind, fmt.Sprintf("_:%s%d", kind, len(d[kind])+1), about)
}

// PROV returns the graph as W3C PROV-JSON. Content is an entity, a model or tool call is an
// activity, and the agent and the monitor are agents. A refusal is an influence of the decision on
// the call.
func (g *Graph) PROV() ([]byte, error) {
	d := provDocument{}
	d.put("agent", "fm:agent", map[string]string{"prov:type": "prov:SoftwareAgent", "prov:label": g.Agent})
	d.put("agent", "fm:monitor", map[string]string{"prov:type": "prov:SoftwareAgent", "prov:label": "floodmark"})
	for _, t := range g.Turns {
		for _, n := range t.Nodes {
			d.node(n)
		}
	}
	nodes := g.nodes()
	known := map[Edge]bool{}
	for _, t := range g.Turns {
		for _, e := range t.Edges {
			if !known[e] {
				known[e] = true
				d.edge(e, nodes)
			}
		}
	}
	out := map[string]any{"prefix": map[string]string{"fm": "urn:floodmark:", "prov": "http://www.w3.org/ns/prov#"}}
	for kind, statements := range d {
		out[kind] = statements
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write PROV: %w", err)
	}
	return append(data, '\n'), nil
}

func isActivity(n Node) bool {
	return n.Kind == floodmark.NodeLLMCall || n.Kind == floodmark.NodeToolCall
}

func provID(id string) string { return "fm:" + id }

func (d provDocument) node(n Node) {
	about := map[string]string{"prov:type": "fm:" + string(n.Kind), "fm:trust": n.Trust.String()}
	put := func(key, value string) {
		if value != "" {
			about[key] = value
		}
	}
	put("fm:tool", n.Tool)
	put("fm:contentHash", n.ContentHash)
	put("fm:source", n.Metadata["source"])
	put("fm:secrecy", n.Metadata["secrecy"])
	put("fm:verdict", n.Metadata["verdict"])
	put("fm:reason", n.BlockReason)
	id := provID(n.ID)
	if isActivity(n) {
		put("prov:startTime", n.Metadata["time"])
		d.put("activity", id, about)
		d.put("wasAssociatedWith", "_:by-"+n.ID, map[string]string{"prov:activity": id, "prov:agent": "fm:agent"})
		return
	}
	put("prov:generatedAtTime", n.Metadata["time"])
	d.put("entity", id, about)
	if n.Kind == floodmark.NodeDecision {
		d.put("wasAttributedTo", "_:by-"+n.ID, map[string]string{"prov:entity": id, "prov:agent": "fm:monitor"})
	}
}

// edge adds an edge as a PROV relation. Which relation it is depends on whether the nodes at its
// ends are activities.
func (d provDocument) edge(e Edge, nodes map[string]Node) {
	if e.Relation == BlockedBy {
		d.relate("wasInfluencedBy", map[string]string{"prov:influencee": provID(e.From), "prov:influencer": provID(e.To)})
		return
	}
	cause, result := e.flow()
	from, to := provID(cause), provID(result)
	switch did, made := isActivity(nodes[cause]), isActivity(nodes[result]); {
	case did && made:
		d.relate("wasInformedBy", map[string]string{"prov:informed": to, "prov:informant": from})
	case did:
		d.relate("wasGeneratedBy", map[string]string{"prov:entity": to, "prov:activity": from})
	case made:
		d.relate("used", map[string]string{"prov:activity": to, "prov:entity": from})
	default:
		d.relate("wasDerivedFrom", map[string]string{"prov:generatedEntity": to, "prov:usedEntity": from})
	}
}
