package cli

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/text/spelling"
)

// Known lists the agents and servers whose tools are in a catalog, in the catalog's order.
type Known []Owner

// An Owner is an agent or a server with the tools it provides.
type Owner struct {
	Server  bool
	Names   []string // the first is the preferred one
	Entries []*catalog.Profile
}

// KnownTo lists a catalog's tools by owner.
func KnownTo(cat *catalog.Catalog) Known {
	var list Known
	for _, p := range cat.Profiles() {
		o := Owner{Names: p.Agents()}
		if o.Server = len(o.Names) == 0; o.Server {
			o.Names = p.Servers()
		}
		i := slices.IndexFunc(list, func(other Owner) bool {
			return o.Server == other.Server && slices.Equal(o.Names, other.Names)
		})
		if i < 0 {
			i, list = len(list), append(list, o)
		}
		list[i].Entries = append(list[i].Entries, p)
	}
	return list
}

// Ref returns the reference to a tool of the owner.
func (o Owner) Ref(tool string) floodmark.ToolRef {
	if o.Server {
		return floodmark.ToolRef{Server: o.Names[0], Name: tool}
	}
	return floodmark.ToolRef{Agent: o.Names[0], Name: tool}
}

// Has reports whether the owner has a tool.
func (o Owner) Has(tool string) bool {
	return slices.ContainsFunc(o.Tools(), func(name string) bool { return toolbook.Fits(name, tool) })
}

// Tools returns the owner's tools that are in the catalog.
func (o Owner) Tools() []string {
	var names []string
	for _, e := range o.Entries {
		names = append(names, e.Tools()...)
	}
	return names
}

// Named finds an agent or a server by any of its names.
func (k Known) Named(server bool, name string) (Owner, bool) {
	for _, o := range k {
		if o.Server == server && slices.Contains(o.Names, name) {
			return o, true
		}
	}
	return Owner{}, false
}

// Owners returns the names of all agents or of all servers.
func (k Known) Owners(server bool) []string {
	var names []string
	for _, o := range k {
		if o.Server == server {
			names = append(names, o.Names...)
		}
	}
	return names
}

// Offering returns the owners that have a tool with that name.
func (k Known) Offering(tool string) Known {
	var list Known
	for _, o := range k {
		if o.Has(tool) {
			list = append(list, o)
		}
	}
	return list
}

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
	all := KnownTo(cat)
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

func ownerNames(list Known) string {
	var names []string
	for _, o := range list {
		names = append(names, map[bool]string{true: "server "}[o.Server]+o.Names[0])
	}
	return strings.Join(names, ", ")
}

// Near3 returns up to three known names that are similar to an unknown one.
func (k Known) Near3(name, agent, server string) []string {
	const most = 3
	if server != "" {
		agent = "" // the server alone identifies the owner
	}
	full := floodmark.ToolRef{Server: server, Name: name}.String()
	near := spelling.Nearest(full, k.Chosen(agent, server).names(), most)
	if len(near) == 0 { // another owner may have it
		near = spelling.Nearest(full, slices.Concat(k.names(), k.Owners(false), k.Owners(true)), most)
	}
	if len(near) > 0 {
		return near
	}
	var bare []string // it may be the tool of a server
	for _, o := range k {
		bare = append(bare, o.Tools()...)
	}
	slices.Sort(bare)
	for _, tool := range spelling.Nearest(name, slices.Compact(bare), most) {
		for _, o := range k.Offering(tool) {
			near = append(near, o.Ref(tool).String())
		}
	}
	return near[:min(most, len(near))]
}

// Chosen returns the owners that match an agent or a server; all if neither is given.
func (k Known) Chosen(agent, server string) Known {
	if agent == "" && server == "" {
		return k
	}
	if o, ok := k.Named(server != "", agent+server); ok {
		return Known{o}
	}
	return nil
}

// names returns the tools as people write them. A server's tool is prefixed with the server.
func (k Known) names() []string {
	var words []string
	for _, o := range k {
		for _, tool := range o.Tools() {
			words = append(words, o.Ref(tool).String())
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
