package main

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
)

// The catalog answers for a tool whose name is known and lists nothing, so the
// names alone are kept here too. What a tool is, is always asked of the catalog.
// TestKnown holds this file against the catalog's own and rewrites it.
//
//go:embed known.txt
var knownText string

// An owner is an agent or a server with the tools it offers.
type owner struct {
	server  bool
	names   []string // the first is the usual one
	entries []entry
}

// An entry is one description in the catalog: the tools it is for, and the
// names of their arguments.
type entry struct {
	tools, args []string
}

// knownOwners reads the names. A line «agent NAME…» or «server NAME…» begins an
// owner; each line «TOOL…: ARGUMENT…» below is an entry.
func knownOwners() []owner {
	var list []owner
	for line := range strings.Lines(knownText) {
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.Contains(line, ":"):
			tools, args, _ := strings.Cut(line, ":")
			o := &list[len(list)-1]
			o.entries = append(o.entries, entry{strings.Fields(tools), strings.Fields(args)})
		default:
			list = append(list, owner{server: words[0] == "server", names: words[1:]})
		}
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

// has returns the entry that describes a tool.
func (o owner) has(tool string) (entry, bool) {
	for _, e := range o.entries {
		if slices.ContainsFunc(e.tools, func(name string) bool { return fits(name, tool) }) {
			return e, true
		}
	}
	return entry{}, false
}

// fits reports whether a name of the catalog, perhaps with «*» at its end,
// stands for a tool.
func fits(name, tool string) bool {
	if head, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(tool, head) {
		return true
	}
	return name == tool
}

func (o owner) tools() []string {
	var names []string
	for _, e := range o.entries {
		names = append(names, e.tools...)
	}
	return names
}

// named finds an agent or a server by one of its names.
func named(server bool, name string) (owner, bool) {
	for _, o := range knownOwners() {
		if o.server == server && slices.Contains(o.names, name) {
			return o, true
		}
	}
	return owner{}, false
}

// owners are the names of all agents or of all servers.
func owners(server bool) []string {
	var names []string
	for _, o := range knownOwners() {
		if o.server == server {
			names = append(names, o.names...)
		}
	}
	return names
}

// offering are the owners that have a tool of that name.
func offering(tool string) []owner {
	return slices.DeleteFunc(knownOwners(), func(o owner) bool {
		_, ok := o.has(tool)
		return !ok
	})
}

// noAgent stands for an agent nobody named. No catalog has tools of it.
const noAgent = "unknown"

// ownAgent is an agent's name, or nothing if nobody named it.
func ownAgent(agent string) string {
	if agent == noAgent {
		return ""
	}
	return agent
}

// resolve finds out which tool a name on the command line means. A name alone
// identifies no tool unless only one agent or server has it.
func resolve(cat *catalog.Catalog, name, agent, server string) (floodmark.ToolRef, error) {
	if s, tool, ok := strings.Cut(name, "/"); ok && server == "" {
		server, name = s, tool
	}
	ref := floodmark.ToolRef{Agent: agent, Server: server, Name: name}
	if agent == "" && server == "" {
		list := offering(name)
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
	_, known := cat.Lookup(ref)
	if !known && agent != "" && server == "" && !slices.Contains(owners(false), agent) {
		if guess := nearest(agent, owners(false), 1); len(guess) > 0 {
			return ref, refuse("did you mean "+guess[0]+"?", "nothing is known about an agent %q", agent)
		}
	}
	return ref, nil
}

func ownerNames(list []owner) string {
	var agents, servers []string
	for _, o := range list {
		if o.server {
			servers = append(servers, "server "+o.names[0])
		} else {
			agents = append(agents, o.names[0])
		}
	}
	return strings.Join(append(agents, servers...), ", ")
}
