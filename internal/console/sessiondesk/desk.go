// Package sessiondesk gives the console a session as data for a drawing. It reads the journal and
// changes nothing.
package sessiondesk

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/reports/graph"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/wire"
)

// The limits of a drawing. With 500 nodes a person still reads it, and a browser still moves 5,000.
const (
	usualNodes = 500
	maxNodes   = 5_000
)

// A Desk draws sessions.
type Desk struct{ Journal journal.Journal }

var _ httpapi.GraphPage = (*Desk)(nil)

// SessionGraph implements [httpapi.GraphPage].
func (d *Desk) SessionGraph(ctx context.Context, who httpapi.Identity, r *wire.SessionGraphRequest) (*wire.SessionGraphResponse, error) {
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = usualNodes
	}
	if limit < 0 || limit > maxNodes {
		return nil, fmt.Errorf("%w: limit: want 1 to %d", httpapi.ErrInvalid, maxNodes)
	}
	id := floodmark.SessionID(r.GetSession())
	if id == "" || len(id) > journal.MaxSessionBytes {
		return nil, fmt.Errorf("%w: name a session", httpapi.ErrInvalid)
	}
	s, err := past.Read(ctx, d.Journal, journal.Session{Tenant: who.Tenant, ID: id})
	if errors.Is(err, past.ErrTooLong) {
		return nil, fmt.Errorf("%w: %w", httpapi.ErrInvalid, err)
	}
	if err != nil {
		return nil, err
	}
	if len(s.Facts) == 0 {
		return nil, fmt.Errorf("%w: there is no such session, or it was erased", httpapi.ErrNotFound)
	}
	p, err := graph.Draw(id, func(yield func(graph.Entry) bool) {
		for i, f := range s.Facts {
			if !yield(graph.Entry{Seq: s.First + uint64(i), At: f.At, Fact: f.Fact}) {
				return
			}
		}
	}, limit)
	if err != nil {
		return nil, err
	}
	return drawn(string(id), p), nil
}

// drawn puts a picture on the wire.
func drawn(session string, p *graph.Picture) *wire.SessionGraphResponse {
	out := &wire.SessionGraphResponse{All: int64(p.All), Left: int64(p.Left), Collapsed: len(p.Nodes)+p.Left < p.All}
	for _, s := range p.Nodes {
		n := &wire.SessionGraphNode{
			Id: s.ID, Kind: string(s.Kind), Name: s.Name, Origin: past.Foreign(string(s.Origin)), Trust: s.Label.Trust.String(), Secrecy: s.Label.Secrecy.String(),
			Turn: int32(min(s.Turn, 1<<30)), Line: s.Line, Verdict: s.Verdict, Reason: s.Reason, Count: int32(min(s.Count, 1<<30)), At: timestamppb.New(s.At),
		}
		if s.Entry > 0 {
			n.Decision = past.Foreign(fmt.Sprintf("%s#%d", session, s.Entry))
		}
		switch {
		case s.Kind == graph.SpotFile:
			n.Trust, n.Secrecy = "", ""
		case s.Kind == graph.SpotSource && !s.Digest.IsZero():
			n.Digest = s.Digest.String()
		}
		out.Nodes = append(out.Nodes, n)
	}
	for _, l := range p.Edges {
		out.Edges = append(out.Edges, &wire.SessionGraphEdge{From: l.From, To: l.To, Kind: string(l.Kind), Argument: l.Argument})
	}
	for _, way := range p.Paths {
		out.Paths = append(out.Paths, &wire.SessionGraphPath{Call: way.Call, Nodes: way.Nodes, Sentence: way.Sentence})
	}
	return out
}
