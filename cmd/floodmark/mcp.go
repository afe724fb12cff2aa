package main

import "github.com/spf13/cobra"

func newMCP(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Stand between MCP clients and servers",
		Long: `Put the monitor between a client and its MCP servers. Every tool call is decided
before it reaches the server, and whatever a server says is a source, as with
hooks. It is for clients without hooks, and a second line behind hooks.

MCP servers give agents tools, prompts and instructions, and all of them are texts
that somebody else wrote. What a server says of itself is remembered when it is
seen first; what changed since, imitates another tool or hides something is held
until you look.`,
		Example: `  floodmark mcp wrap --server notes -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  floodmark mcp review`,
	}
	cmd.AddCommand(newMCPWrap(c), newMCPServe(c), newMCPReview(c), newMCPLogin(c), newMCPLogout(c))
	return cmd
}
