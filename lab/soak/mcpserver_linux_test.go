package soak

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpVariable makes this program an MCP server of that name.
const mcpVariable = "FLOODMARK_SOAK_MCP"

// maxMCPWait ends a call that was not cancelled.
const maxMCPWait = 2 * time.Minute

// runMCPServer is a server of the Go SDK with a tool that answers and one that
// does not, and a resource that can be subscribed to.
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
