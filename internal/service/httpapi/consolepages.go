package httpapi

import (
	"context"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/wire"
)

// A RulesPage answers the page on which rules are changed.
type RulesPage interface {
	Rules(ctx context.Context, who Identity, r *wire.RulesRequest) (*wire.RulesResponse, error)
	CheckRules(ctx context.Context, who Identity, r *wire.CheckRulesRequest) (*wire.CheckRulesResponse, error)
	SaveRules(ctx context.Context, who Identity, r *wire.SaveRulesRequest) (*wire.SaveRulesResponse, error)
	RollBackRules(ctx context.Context, who Identity, r *wire.RollBackRulesRequest) (*wire.RollBackRulesResponse, error)
	StoryOf(ctx context.Context, who Identity, r *wire.StoryOfRequest) (*wire.StoryOfResponse, error)
	// TryRules sends until it is done, the caller cancels, or send fails.
	TryRules(ctx context.Context, who Identity, r *wire.TryRulesRequest, send func(*wire.TryRulesResponse) error) error
}

// A DidPage answers the page that says what the monitor did.
type DidPage interface {
	Did(ctx context.Context, who Identity, r *wire.DidRequest) (*wire.DidResponse, error)
	// SearchDecisions sends until it is done, the caller cancels, or send fails.
	SearchDecisions(ctx context.Context, who Identity, r *wire.SearchDecisionsRequest, send func(*wire.SearchDecisionsResponse) error) error
	Protection(ctx context.Context, who Identity, r *wire.ProtectionRequest) (*wire.ProtectionResponse, error)
}

// A GraphPage answers the page that draws a session.
type GraphPage interface {
	SessionGraph(ctx context.Context, who Identity, r *wire.SessionGraphRequest) (*wire.SessionGraphResponse, error)
}

func (s consoleService) Rules(ctx context.Context, r *wire.RulesRequest) (*wire.RulesResponse, error) {
	return s.console.Rules(ctx, IdentityOf(ctx), r)
}

func (s consoleService) CheckRules(ctx context.Context, r *wire.CheckRulesRequest) (*wire.CheckRulesResponse, error) {
	return s.console.CheckRules(ctx, IdentityOf(ctx), r)
}

func (s consoleService) SaveRules(ctx context.Context, r *wire.SaveRulesRequest) (*wire.SaveRulesResponse, error) {
	return s.console.SaveRules(ctx, IdentityOf(ctx), r)
}

func (s consoleService) RollBackRules(ctx context.Context, r *wire.RollBackRulesRequest) (*wire.RollBackRulesResponse, error) {
	return s.console.RollBackRules(ctx, IdentityOf(ctx), r)
}

func (s consoleService) StoryOf(ctx context.Context, r *wire.StoryOfRequest) (*wire.StoryOfResponse, error) {
	return s.console.StoryOf(ctx, IdentityOf(ctx), r)
}

func (s consoleService) TryRules(ctx context.Context, r *wire.TryRulesRequest, stream *connect.ServerStream[wire.TryRulesResponse]) error {
	return s.console.TryRules(ctx, IdentityOf(ctx), r, stream.Send)
}

func (s consoleService) Did(ctx context.Context, r *wire.DidRequest) (*wire.DidResponse, error) {
	return s.console.Did(ctx, IdentityOf(ctx), r)
}

func (s consoleService) SearchDecisions(ctx context.Context, r *wire.SearchDecisionsRequest, stream *connect.ServerStream[wire.SearchDecisionsResponse]) error {
	return s.console.SearchDecisions(ctx, IdentityOf(ctx), r, stream.Send)
}

func (s consoleService) Protection(ctx context.Context, r *wire.ProtectionRequest) (*wire.ProtectionResponse, error) {
	return s.console.Protection(ctx, IdentityOf(ctx), r)
}

func (s consoleService) SessionGraph(ctx context.Context, r *wire.SessionGraphRequest) (*wire.SessionGraphResponse, error) {
	return s.console.SessionGraph(ctx, IdentityOf(ctx), r)
}
