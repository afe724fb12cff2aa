package console

import (
	"context"
	"fmt"

	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/wire"
)

// NotHere refuses what the console on the network does not do: it is opened by no link, and rules
// are changed where they are kept, or by signed bundles.
type NotHere struct{}

var (
	_ httpapi.Opener    = NotHere{}
	_ httpapi.RulesPage = NotHere{}
)

func noLink() error {
	return fmt.Errorf("%w: people log in to this console, and no link opens it", httpapi.ErrInvalid)
}

func noRules() error {
	return fmt.Errorf("%w: this console has no page of rules: those of a fleet come from signed bundles", httpapi.ErrInvalid)
}

// OpenConsole implements [httpapi.Opener].
func (NotHere) OpenConsole(context.Context, httpapi.Identity, *wire.OpenConsoleRequest) (*wire.OpenConsoleResponse, error) {
	return nil, noLink()
}

// CloseConsole implements [httpapi.Opener].
func (NotHere) CloseConsole(context.Context, httpapi.Identity, *wire.CloseConsoleRequest) (*wire.CloseConsoleResponse, error) {
	return nil, noLink()
}

// Rules implements [httpapi.RulesPage].
func (NotHere) Rules(context.Context, httpapi.Identity, *wire.RulesRequest) (*wire.RulesResponse, error) {
	return nil, noRules()
}

// CheckRules implements [httpapi.RulesPage].
func (NotHere) CheckRules(context.Context, httpapi.Identity, *wire.CheckRulesRequest) (*wire.CheckRulesResponse, error) {
	return nil, noRules()
}

// SaveRules implements [httpapi.RulesPage].
func (NotHere) SaveRules(context.Context, httpapi.Identity, *wire.SaveRulesRequest) (*wire.SaveRulesResponse, error) {
	return nil, noRules()
}

// RollBackRules implements [httpapi.RulesPage].
func (NotHere) RollBackRules(context.Context, httpapi.Identity, *wire.RollBackRulesRequest) (*wire.RollBackRulesResponse, error) {
	return nil, noRules()
}

// StoryOf implements [httpapi.RulesPage].
func (NotHere) StoryOf(context.Context, httpapi.Identity, *wire.StoryOfRequest) (*wire.StoryOfResponse, error) {
	return nil, noRules()
}

// TryRules implements [httpapi.RulesPage].
func (NotHere) TryRules(context.Context, httpapi.Identity, *wire.TryRulesRequest, func(*wire.TryRulesResponse) error) error {
	return noRules()
}
