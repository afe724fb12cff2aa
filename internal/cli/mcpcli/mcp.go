// Package mcpcli contains the commands about MCP servers.
package mcpcli

import (
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
)

// NewMCP is the command «floodmark mcp».
func NewMCP(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Stand between MCP clients and servers",
		Long: `Put the monitor between a client and its MCP servers. Every tool call is decided
before it reaches the server, and everything that a server sends is recorded as a
source, as with hooks. Use it for clients without hooks, or in addition to hooks.

MCP servers give agents tools, prompts and instructions, and all of them are texts
that others wrote. The descriptions of a server are recorded when they are first
seen; one that changed since, imitates another tool or hides characters is held
until you review it.`,
		Example: `  floodmark mcp wrap --server notes -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  floodmark mcp review`,
	}
	cmd.AddCommand(newMCPWrap(c), newMCPServe(c), newMCPReview(c), newMCPLogin(c), newMCPLogout(c))
	return cmd
}
