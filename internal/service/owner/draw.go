package owner

import (
	"encoding/json"
	"fmt"

	"github.com/floodmark/floodmark/internal/reports/graph"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// draw returns a graph in the given format.
func draw(g *graph.Graph, format string) (*wire.GraphResponse, error) {
	switch format {
	case "turngraph", "":
		data, err := json.MarshalIndent(g.TurnGraphs(), "", "  ")
		return &wire.GraphResponse{MediaType: "application/json", Data: data}, err
	case "prov-json":
		data, err := g.PROV()
		return &wire.GraphResponse{MediaType: "application/json", Data: data}, err
	case "svg":
		return &wire.GraphResponse{MediaType: "image/svg+xml", Data: []byte(g.SVG())}, nil
	}
	return nil, fmt.Errorf("%w: format: want turngraph, prov-json or svg", httpapi.ErrInvalid)
}
