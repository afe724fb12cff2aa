package soak

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpVariable is the environment variable that makes this program an MCP server. Its value is the
// name of the server.
const mcpVariable = "FLOODMARK_SOAK_MCP"

// maxMCPWait is how long the waiting tool waits if the call is not cancelled.
const maxMCPWait = 2 * time.Minute

// runMCPServer runs a server of the Go SDK with two tools: one answers at once, the other waits
// until its call is cancelled.
func runMCPServer(name string) {
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	type words struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "say-" + name, Description: "says it again, or which process it is"}, func(_ context.Context, _ *mcp.CallToolRequest, w words) (*mcp.CallToolResult, any, error) {
		if w.Text == "pid" {
			w.Text = strconv.Itoa(os.Getpid())
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: w.Text}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait-" + name, Description: "waits"}, func(ctx context.Context, r *mcp.CallToolRequest, _ words) (*mcp.CallToolResult, any, error) {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		select {
		case <-ctx.Done():
		case <-time.After(maxMCPWait):
		}
		return nil, nil, ctx.Err()
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, name, err)
	}
}
