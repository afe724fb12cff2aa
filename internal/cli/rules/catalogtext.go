package rules

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
	"github.com/floodmark/floodmark/internal/text/meaning"
)

// An ownerCard is one line of the list of agents and servers.
type ownerCard struct {
	Name  string   `json:"name"`
	Also  []string `json:"also,omitempty"`
	Tools int      `json:"tools"`
}

// showOwners lists all agents and servers.
func showOwners(c *cli.Console, cat *catalog.Catalog, form string) error {
	var agents, servers []ownerCard
	for _, o := range toolbook.KnownTo(cat) {
		line := ownerCard{Name: o.Names[0], Also: o.Names[1:], Tools: len(o.Tools())}
		if o.Server {
			servers = append(servers, line)
		} else {
			agents = append(agents, line)
		}
	}
	if form == cli.AsJSON {
		return c.JSON(struct {
			Agents  []ownerCard      `json:"agents"`
			Servers []ownerCard      `json:"servers"`
			Catalog floodmark.Digest `json:"catalogHash"`
		}{agents, servers, cat.Hash()})
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	for i, list := range [][]ownerCard{agents, servers} {
		title := []string{"Agents, with their built-in tools", "\nServers"}[i]
		fmt.Fprintln(w, title)
		for _, o := range list {
			also := ""
			if len(o.Also) > 0 {
				also = "\talso " + strings.Join(o.Also, ", ")
			}
			fmt.Fprintf(w, "  %s\t%s%s\n", o.Name, cli.Count(o.Tools, "tool", "tools"), also)
		}
	}
	return w.Flush()
}

// showOwner lists the tools of an agent or a server.
func showOwner(c *cli.Console, cat *catalog.Catalog, list toolbook.Known, form string) error {
	var cards []toolCard
	for _, o := range list {
		for _, tool := range o.Tools() {
			cards = append(cards, card(cat, o.Ref(tool)))
		}
	}
	if form == cli.AsJSON {
		return c.JSON(toolCards{Tools: cards})
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tEFFECT\tRETURNS\tABOUT")
	for _, t := range cards {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.ToolRef, toolbook.Words(t.Effects), t.brings(), t.About)
	}
	return w.Flush()
}

// toolCards is the answer about tools, for programs.
type toolCards struct {
	Tools []toolCard `json:"tools"`
	// Near are known names that are similar to an unknown one.
	Near []string `json:"near,omitempty"`
}

// showTool shows a tool for every agent and server that has it.
func showTool(c *cli.Console, cat *catalog.Catalog, name, agent, server, form string) error {
	var answer toolCards
	all := toolbook.KnownTo(cat)
	for _, o := range all.Chosen(agent, server).Offering(name) {
		answer.Tools = append(answer.Tools, card(cat, o.Ref(name)))
	}
	found := len(answer.Tools) > 0
	if !found {
		answer.Tools = []toolCard{card(cat, floodmark.ToolRef{Agent: agent, Server: server, Name: name})}
		answer.Near = all.Near3(name, agent, server)
	}
	if form == cli.AsJSON {
		if err := c.JSON(answer); err != nil {
			return err
		}
	} else {
		for i, t := range answer.Tools {
			if i > 0 {
				fmt.Fprintln(c.Stdout)
			}
			printCard(c, t)
		}
		if len(answer.Near) > 0 {
			fmt.Fprintf(c.Stdout, "  near     %s\n", strings.Join(answer.Near, ", "))
		}
	}
	if !found {
		return cli.ErrNo
	}
	return nil
}

func printCard(c *cli.Console, t toolCard) {
	st := c.OutStyle()
	about := t.About
	if !t.Known {
		about = "the catalog does not know it, so the strictest is assumed"
	}
	fmt.Fprintf(c.Stdout, "%s: %s\n", st.Bold(cli.Printable(cli.ToolTitle(t.ToolRef))), about)
	for _, e := range t.Effects {
		fmt.Fprintf(c.Stdout, "  effect   %s: it %s\n", e, meaning.Effect(e))
	}
	if len(t.Possible) > 1 {
		fmt.Fprintf(c.Stdout, "           depending on its arguments: %s\n", toolbook.Words(t.Possible))
	}
	fmt.Fprintf(c.Stdout, "  returns  %s\n", t.meaning())
	switch {
	case t.Own:
		fmt.Fprintln(c.Stdout, "  place    the owner's own service: reading there is not reaching outside")
	case t.Remote:
		fmt.Fprintln(c.Stdout, "  place    another machine: what is asked leaves this one")
	}
	if len(t.Also) > 0 {
		fmt.Fprintf(c.Stdout, "  also     %s\n", strings.Join(t.Also, ", "))
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	for i, a := range t.Args {
		head := ""
		if i == 0 {
			head = "takes"
		}
		fmt.Fprintf(w, "  %-7s  %s\t%s\t%s\n", head, a.Name, a.Role, a.Is)
	}
	w.Flush() //nolint:errcheck // an error appears at the next write to standard output
	for i, one := range t.Cases {
		head := ""
		if i == 0 {
			head = "when"
		}
		fmt.Fprintf(c.Stdout, "  %-7s  %s\n", head, one)
	}
	if !t.Known {
		fmt.Fprintln(c.Stdout, "  takes    every argument counts as critical\n  mend     describe it under «tools:» in your policy")
	}
}

// brings returns the label of the result, or «by path» if the path determines it.
func (t toolCard) brings() string {
	if t.ByPath {
		return "by path"
	}
	return t.Returns.String()
}

// meaning explains the label of the result in words.
func (t toolCard) meaning() string {
	if t.ByPath {
		return "what the path that is read is worth"
	}
	return fmt.Sprintf("%s content (%s), %s (%s)", t.Returns.Trust, meaning.Trust(t.Returns.Trust), t.Returns.Secrecy, meaning.Secrecy(t.Returns.Secrecy))
}
