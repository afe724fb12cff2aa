package peers

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// servePages is a server made with the Go SDK that has what server-everything lacks: lists of
// several pages, and prompts that change.
func servePages() error {
	s := mcp.NewServer(&mcp.Implementation{Name: "pages", Version: "1"}, &mcp.ServerOptions{PageSize: 2, Instructions: "Lists have several pages."})
	for i := range 5 {
		s.AddPrompt(&mcp.Prompt{Name: fmt.Sprint("prompt", i)}, anyPrompt)
		s.AddResource(&mcp.Resource{Name: fmt.Sprint(i), URI: fmt.Sprint("pages://", i)}, anyResource)
		s.AddResourceTemplate(&mcp.ResourceTemplate{Name: fmt.Sprint(i), URITemplate: fmt.Sprint("pages", i, "://{x}")}, anyResource)
		s.AddTool(&mcp.Tool{Name: fmt.Sprint("tool", i), InputSchema: map[string]any{"type": "object"}}, anyTool)
	}
	s.AddTool(&mcp.Tool{Name: "grow", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "prompt9"}, anyPrompt)
		return anyTool(ctx, r)
	})
	return s.Run(context.Background(), &mcp.StdioTransport{})
}

func anyTool(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
}

func anyPrompt(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello."}}}}, nil
}

func anyResource(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "text"}}}, nil
}
