package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// noAgent stands for an agent nobody named. No catalog has tools of it.
const noAgent = "unknown"

// resolve finds out which tool a name on the command line means. A name alone
// identifies no tool.
func resolve(_ *catalog.Catalog, name, agent, server string) (floodmark.ToolRef, error) {
	if s, tool, ok := strings.Cut(name, "/"); ok && server == "" {
		server, name = s, tool
	}
	if agent == "" {
		agent = noAgent
	}
	return floodmark.ToolRef{Agent: agent, Server: server, Name: name}, nil
}

func offerTools(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}
