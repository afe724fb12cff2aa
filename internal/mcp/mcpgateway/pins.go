package mcpgateway

import (
	"context"
	"errors"

	"github.com/floodmark/floodmark/internal/mcp/mcppins"
)

// Pins has the definitions that the owner has seen, as [mcppins.Book] does. On an error every
// definition is held.
type Pins interface {
	See(ctx context.Context, server, identity string, defs []mcppins.Definition) ([]mcppins.Verdict, error)
}

// noPins holds everything.
type noPins struct{}

func (noPins) See(context.Context, string, string, []mcppins.Definition) ([]mcppins.Verdict, error) {
	return nil, errors.New("it is unknown what the owner has seen")
}
