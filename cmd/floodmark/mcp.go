package main

import "github.com/spf13/cobra"

func newMCP(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Stand between MCP clients and servers",
		Long: `MCP servers give agents tools, prompts and instructions, and all of them are texts
that somebody else wrote. What a server says of itself is remembered when it is
seen first; what changed since, imitates another tool or hides something is held
until you look.`,
		Example: "  floodmark mcp review",
	}
	cmd.AddCommand(newMCPReview(c))
	return cmd
}
