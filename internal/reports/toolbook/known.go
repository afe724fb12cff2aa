package toolbook

import (
	"slices"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
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
	return slices.ContainsFunc(o.Tools(), func(name string) bool { return Fits(name, tool) })
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
