package mcpgateway

import (
	"context"
	"encoding/json"
	"errors"
)

// A Definition is one tool, prompt, template or instruction text as a server
// gave it.
type Definition struct {
	Server, Kind, Name string
	Body               json.RawMessage
}

// A Verdict says whether a definition may be shown to a model.
type Verdict struct {
	Held     bool
	Accepted bool
	Line     string
}

// Pins knows the definitions that the owner has seen. With an error everything
// is held.
type Pins interface {
	See(ctx context.Context, server, identity string, defs []Definition) ([]Verdict, error)
}

// The kinds of definitions.
const (
	kindTool         = "tool"
	kindPrompt       = "prompt"
	kindTemplate     = "resource-template"
	kindInstructions = "instructions"
)

// noPins holds everything.
type noPins struct{}

func (noPins) See(context.Context, string, string, []Definition) ([]Verdict, error) {
	return nil, errors.New("nobody knows what the owner has seen")
}
