package main

import (
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/spelling"
	"github.com/floodmark/floodmark/internal/toolbook"
)

// known lists the agents and servers that a catalog has tools of, in its order.
type known []owner

// An owner is an agent or a server with the tools it offers.
type owner struct {
	server  bool
	names   []string // the first is the preferred one
	entries []*catalog.Profile
}

// knownTo lists a catalog's tools by owner.
func knownTo(cat *catalog.Catalog) known {
	var list known
	for _, p := range cat.Profiles() {
		o := owner{names: p.Agents()}
		if o.server = len(o.names) == 0; o.server {
			o.names = p.Servers()
		}
		i := slices.IndexFunc(list, func(other owner) bool {
			return o.server == other.server && slices.Equal(o.names, other.names)
		})
		if i < 0 {
			i, list = len(list), append(list, o)
		}
		list[i].entries = append(list[i].entries, p)
	}
	return list
}

// ref names a tool of the owner.
func (o owner) ref(tool string) floodmark.ToolRef {
	if o.server {
		return floodmark.ToolRef{Server: o.names[0], Name: tool}
	}
	return floodmark.ToolRef{Agent: o.names[0], Name: tool}
}

// has reports whether the owner has a tool.
func (o owner) has(tool string) bool {
	return slices.ContainsFunc(o.tools(), func(name string) bool { return toolbook.Fits(name, tool) })
}

func (o owner) tools() []string {
	var names []string
	for _, e := range o.entries {
		names = append(names, e.Tools()...)
	}
	return names
}

// named finds an agent or a server by one of its names.
func (k known) named(server bool, name string) (owner, bool) {
	for _, o := range k {
		if o.server == server && slices.Contains(o.names, name) {
			return o, true
		}
	}
	return owner{}, false
}

// owners returns the names of all agents or of all servers.
func (k known) owners(server bool) []string {
	var names []string
	for _, o := range k {
		if o.server == server {
			names = append(names, o.names...)
		}
	}
	return names
}

// offering returns the owners that have a tool of that name.
func (k known) offering(tool string) known {
	var list known
	for _, o := range k {
		if o.has(tool) {
			list = append(list, o)
		}
	}
	return list
}

// noAgent stands for an unnamed agent. No catalog has tools of it.
const noAgent = "unknown"

// ownAgent returns an agent's name, or nothing for an unnamed one.
func ownAgent(agent string) string {
	if agent == noAgent {
		return ""
	}
	return agent
}

// resolve returns the tool that a name on the command line means. A name alone identifies no tool
// unless only one agent or server has it.
func resolve(cat *catalog.Catalog, name, agent, server string) (floodmark.ToolRef, error) {
	if s, tool := toolbook.Split(name); server == "" {
		server, name = s, tool
	}
	ref := floodmark.ToolRef{Agent: agent, Server: server, Name: name}
	all := knownTo(cat)
	if agent == "" && server == "" {
		list := all.offering(name)
		if len(list) > 1 {
			return ref, refuse("say which one is meant with --agent or --server", "%s is a tool of %s", name, ownerNames(list))
		}
		if len(list) == 1 {
			ref = list[0].ref(name)
		}
	}
	if ref.Agent == "" {
		ref.Agent = noAgent
	}
	_, found := cat.Lookup(ref)
	if agents := all.owners(false); !found && agent != "" && server == "" && !slices.Contains(agents, agent) {
		if guess := spelling.Nearest(agent, agents, 1); len(guess) > 0 {
			return ref, refuse("did you mean "+guess[0]+"?", "nothing is known about an agent %q", agent)
		}
	}
	return ref, nil
}

func ownerNames(list known) string {
	var names []string
	for _, o := range list {
		names = append(names, map[bool]string{true: "server "}[o.server]+o.names[0])
	}
	return strings.Join(names, ", ")
}

// near3 returns up to three names similar to an unknown one.
func (k known) near3(name, agent, server string) []string {
	const most = 3
	if server != "" {
		agent = "" // the server says whose tool it is
	}
	full := floodmark.ToolRef{Server: server, Name: name}.String()
	near := spelling.Nearest(full, k.chosen(agent, server).names(), most)
	if len(near) == 0 { // another owner may have it
		near = spelling.Nearest(full, slices.Concat(k.names(), k.owners(false), k.owners(true)), most)
	}
	if len(near) > 0 {
		return near
	}
	var bare []string // it may be the tool of a server
	for _, o := range k {
		bare = append(bare, o.tools()...)
	}
	slices.Sort(bare)
	for _, tool := range spelling.Nearest(name, slices.Compact(bare), most) {
		for _, o := range k.offering(tool) {
			near = append(near, o.ref(tool).String())
		}
	}
	return near[:min(most, len(near))]
}

// chosen returns the owners that a question is about.
func (k known) chosen(agent, server string) known {
	if agent == "" && server == "" {
		return k
	}
	if o, ok := k.named(server != "", agent+server); ok {
		return known{o}
	}
	return nil
}

// names returns the tools as people write them: a server's with the server.
func (k known) names() []string {
	var words []string
	for _, o := range k {
		for _, tool := range o.tools() {
			words = append(words, o.ref(tool).String())
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}
