package did

import (
	"context"
	"errors"
	"os"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/wire"
)

// The reasons why it is not known which agents are connected.
const (
	ofTenant   = "agents of a fleet are connected on their own machines, which this monitor does not see"
	notOfOwner = "this monitor does not read the settings of the agents: «floodmark status» does"
	unreadable = "what was found when agents were protected cannot be read: «floodmark prove» writes it again"
)

// Protection implements [httpapi.DidPage].
func (d *Desk) Protection(ctx context.Context, who httpapi.Identity, _ *wire.ProtectionRequest) (*wire.ProtectionResponse, error) {
	out := &wire.ProtectionResponse{Levels: levels(d.opts.Rules(who.Tenant).Policy)}
	switch {
	case who.Tenant != "":
		out.Unknown = ofTenant
		return out, nil
	case d.opts.Agents == nil:
		out.Unknown = notOfOwner
		return out, nil
	}
	out.BoxHolds = d.opts.Agents.BoxHolds()
	list, err := d.opts.Agents.Standing(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out.Unknown = unreadable
	}
	for _, s := range list[:min(maxAgents, len(list))] {
		out.Agents = append(out.Agents, protected(s))
	}
	gateway, err := config.ReadGateway(d.opts.Gateway)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return out, nil // a gateway whose file cannot be read serves nothing
	}
	out.GatewayServers = int32(min(len(gateway.Servers), 1<<20))
	return out, nil
}

func protected(s prove.Standing) *wire.ProtectedAgent {
	out := &wire.ProtectedAgent{Name: past.Foreign(s.Agent), Connected: s.Connected, Proof: past.Foreign(string(s.Proof.Grade)), Boxes: s.Boxes, Why: past.Foreign(s.Why)}
	if !s.Proof.At.IsZero() {
		out.Tried = timestamppb.New(s.Proof.At)
	}
	return out
}

// levels returns the table of a policy for the levels that content of a conversation can have.
func levels(p *policy.Policy) (list []*wire.ProtectionLevel) {
	for _, t := range []floodmark.Trust{floodmark.Untrusted, floodmark.External, floodmark.Shared, floodmark.Local, floodmark.Owner} {
		list = append(list, &wire.ProtectionLevel{
			Trust: t.String(), Observe: p.Cell(floodmark.Observe, t), Fetch: p.Cell(floodmark.Fetch, t), Write: p.Cell(floodmark.Write, t),
			Change: p.Cell(floodmark.Change, t), Send: p.Cell(floodmark.Send, t), Run: p.Cell(floodmark.Run, t), Admin: p.Cell(floodmark.Admin, t),
		})
	}
	return list
}
