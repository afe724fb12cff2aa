package cli

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/text/spelling"
)

// noAgent is the name of an unnamed agent. No catalog has tools of it.
const noAgent = "unknown"

// OwnAgent returns an agent's name; empty for an unnamed agent.
func OwnAgent(agent string) string {
	if agent == noAgent {
		return ""
	}
	return agent
}

// Resolve returns the tool that a name on the command line means. A name without agent and server
// is only resolved if exactly one of them has such a tool.
func Resolve(cat *catalog.Catalog, name, agent, server string) (floodmark.ToolRef, error) {
	if s, tool := toolbook.Split(name); server == "" {
		server, name = s, tool
	}
	ref := floodmark.ToolRef{Agent: agent, Server: server, Name: name}
	all := toolbook.KnownTo(cat)
	if agent == "" && server == "" {
		list := all.Offering(name)
		if len(list) > 1 {
			return ref, Refuse("say which one is meant with --agent or --server", "%s is a tool of %s", name, ownerNames(list))
		}
		if len(list) == 1 {
			ref = list[0].Ref(name)
		}
	}
	if ref.Agent == "" {
		ref.Agent = noAgent
	}
	_, found := cat.Lookup(ref)
	if agents := all.Owners(false); !found && agent != "" && server == "" && !slices.Contains(agents, agent) {
		if guess := spelling.Nearest(agent, agents, 1); len(guess) > 0 {
			return ref, Refuse("did you mean "+guess[0]+"?", "nothing is known about an agent %q", agent)
		}
	}
	return ref, nil
}

func ownerNames(list toolbook.Known) string {
	var names []string
	for _, o := range list {
		names = append(names, map[bool]string{true: "server "}[o.Server]+o.Names[0])
	}
	return strings.Join(names, ", ")
}
