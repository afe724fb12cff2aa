package graph

import (
	"encoding/json"
	"errors"
)

// ErrForm means that there is no such form of a graph.
var ErrForm = errors.New("format: want turngraph, prov-json or svg")

// In returns the graph in a form, and its media type. Without a form it is a turngraph.
func (g *Graph) In(form string) (media string, data []byte, err error) {
	switch form {
	case "turngraph", "":
		data, err = json.MarshalIndent(g.TurnGraphs(), "", "  ")
		return "application/json", data, err
	case "prov-json":
		data, err = g.PROV()
		return "application/json", data, err
	case "svg":
		return "image/svg+xml", []byte(g.SVG()), nil
	}
	return "", nil, ErrForm
}
