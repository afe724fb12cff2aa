package httpapi

import (
	"context"
	"net/http"

	"connectrpc.com/connect"

	"github.com/floodmark/floodmark/internal/agents/hookframe"
	"github.com/floodmark/floodmark/wire"
)

// Console opens the console and answers its pages. The rules of [Owner] apply.
type Console interface {
	Opener
	RulesPage
	DidPage
	GraphPage
}

// An Opener opens and closes the console.
type Opener interface {
	OpenConsole(ctx context.Context, who Identity, r *wire.OpenConsoleRequest) (*wire.OpenConsoleResponse, error)
	CloseConsole(ctx context.Context, who Identity, r *wire.CloseConsoleRequest) (*wire.CloseConsoleResponse, error)
}

// NewConsoleHandler serves the ConsoleService. The caller must be in the request's context; see
// [WithIdentity].
func NewConsoleHandler(c Console, o Options) http.Handler {
	_, next := wire.NewConsoleServiceHandler(consoleService{c}, codecs(),
		connect.WithInterceptors(checked{o}), connect.WithRecover(recovered))
	methods := methodsOf(wire.File_floodmark_v1_console_proto.Services().ByName("ConsoleService"), MaxOwnerBytes)
	for _, path := range []string{wire.ConsoleServiceCheckRulesProcedure, wire.ConsoleServiceSaveRulesProcedure, wire.ConsoleServiceTryRulesProcedure} {
		large := methods[path]
		large.limit = MaxRulesBytes
		methods[path] = large
	}
	return &guard{
		next: next, methods: methods, opts: o,
		budget: hookframe.NewBudget(hookframe.MaxInFlight), errors: connect.NewErrorWriter(codecs()),
	}
}

// consoleService adapts Connect's calls: it adds the caller.
type consoleService struct{ console Console }

var _ wire.ConsoleServiceHandler = consoleService{}

func (s consoleService) OpenConsole(ctx context.Context, r *wire.OpenConsoleRequest) (*wire.OpenConsoleResponse, error) {
	return s.console.OpenConsole(ctx, IdentityOf(ctx), r)
}

func (s consoleService) CloseConsole(ctx context.Context, r *wire.CloseConsoleRequest) (*wire.CloseConsoleResponse, error) {
	return s.console.CloseConsole(ctx, IdentityOf(ctx), r)
}
