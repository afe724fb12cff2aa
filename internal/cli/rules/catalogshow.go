package rules

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/internal/reports/toolbook"
)

func newCatalog(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "catalog",
		Short:   "Show what is known about tools",
		Long:    "The catalog says what tools do and what they bring back. It comes with the\nprogram; a policy adds to it under «tools:».",
		Example: "  floodmark policy catalog show\n  floodmark policy catalog show exec --agent openclaw",
	}
	cmd.AddCommand(newCatalogShow(c))
	return cmd
}

func newCatalogShow(c *cli.Console) *cobra.Command {
	var agent, server string
	cmd := &cobra.Command{
		Use:   "show [TOOL or SERVER or AGENT]",
		Short: "Show agents and servers, their tools, or one tool",
		Long: `Show what the shipped catalog knows. Without an argument: the agents and servers.
With the name of one: its tools. With the name of a tool, or SERVER/TOOL: what the
tool does, what comes back from it, and what its arguments are for. A tool that
several agents or servers have is shown for each, unless --agent or --server
says which is meant.`,
		Example: `  floodmark policy catalog show
  floodmark policy catalog show github
  floodmark policy catalog show exec --agent openclaw
  floodmark policy catalog show github/create_issue --output json`,
		Annotations: cli.Exits("it is known", "nothing is known about it"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Needs("NAME")(cmd, args)
			}
			return nil
		},
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return show(c, name, agent, server, cli.Format(cmd))
		}),
		ValidArgsFunction: offerNames,
	}
	cmd.Flags().StringVar(&agent, "agent", "", "the `AGENT` whose built-in tool is meant")
	cmd.Flags().StringVar(&server, "server", "", "the `SERVER` that offers the tool")
	cmd.MarkFlagsMutuallyExclusive("agent", "server")
	offerOwners(cmd)
	return cmd
}

func newTools(c *cli.Console) *cobra.Command {
	var f records.JournalFlags
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools that your agents used, and what is known of them",
		Long: `List the tools that your agents called lately: how often, and what they do. A tool
without a description counts as code, and its result as a secret, until your policy
describes it.`,
		Example:     "  floodmark policy tools\n  floodmark policy tools --since 7d --output json",
		Annotations: cli.Exits("they are listed", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			since, timeErr := f.Time(c.Clock())
			j, rulesErr := records.NewJudge(c, f.Place, since)
			sessions, err := records.SessionsIn(cmd.Context(), c, f)
			if err = errors.Join(timeErr, rulesErr, err); err != nil {
				return err
			}
			b := toolbook.Of(sessions, j.Rules.Catalog, since)
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(b)
			}
			fmt.Fprint(c.Stdout, b)
			return nil
		}),
	}
	records.AddJournal(c, cmd, &f, "30d")
	return cmd
}

// offerOwners completes the flags --agent and --server.
func offerOwners(cmd *cobra.Command) {
	for i, flag := range []string{"agent", "server"} {
		// The only error is a flag that does not exist, which every help test would show.
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ShippedNames().Owners(i == 1), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// ShippedNames returns the names for completion. It reads the catalog only then; if the catalog
// cannot be read, there are none.
func ShippedNames() toolbook.Known {
	cat, err := catalog.Shipped()
	if err != nil {
		return nil
	}
	return toolbook.KnownTo(cat)
}

// offerNames completes with agents, servers and tools.
func offerNames(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	tools, _ := offerTools(cmd, args, typed)
	all := ShippedNames()
	return slices.Concat(all.Owners(false), all.Owners(true), tools), cobra.ShellCompDirectiveNoFileComp
}

// offerTools completes with tools: those of the agent given by --agent, else all, with their
// server.
func offerTools(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	agent, _ := cmd.Flags().GetString("agent") // the flag exists wherever this is used
	var names []string
	for _, o := range ShippedNames() {
		if agent != "" && (o.Server || !slices.Contains(o.Names, agent)) {
			continue
		}
		for _, tool := range o.Tools() {
			if o.Server {
				tool = o.Names[0] + "/" + tool
			}
			names = append(names, tool)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}

// show shows the named tool, agent or server, or the whole list.
func show(c *cli.Console, name, agent, server, form string) error {
	cat, err := c.ShippedCatalog()
	if err != nil {
		return err
	}
	if s, tool := toolbook.Split(name); agent == "" && server == "" {
		server, name = s, tool
	}
	if name == "" {
		name, agent, server = agent+server, "", ""
	}
	if name == "" {
		return showOwners(c, cat, form)
	}
	if agent == "" && server == "" {
		var list toolbook.Known
		for _, isServer := range []bool{false, true} {
			if o, ok := toolbook.KnownTo(cat).Named(isServer, name); ok {
				list = append(list, o)
			}
		}
		if len(list) > 0 {
			return showOwner(c, cat, list, form)
		}
	}
	return showTool(c, cat, name, agent, server, form)
}

// A toolCard is what is known about one tool. Programs read its JSON: fields are only added, never
// renamed.
type toolCard struct {
	floodmark.ToolRef
	Known bool   `json:"known"`
	About string `json:"about,omitempty"`
	// Also are other tools with the same description.
	Also    []string           `json:"also,omitempty"`
	Effects []floodmark.Effect `json:"effects"`
	// Possible are the effects that some choice of arguments could have.
	Possible []floodmark.Effect `json:"possibleEffects"`
	Returns  floodmark.Label    `json:"returns"`
	// ByPath says that the path which is read determines the trust of the result.
	ByPath  bool      `json:"returnsByPath,omitempty"`
	Own     bool      `json:"own,omitempty"`
	Remote  bool      `json:"remote,omitempty"`
	Licence []string  `json:"licence,omitempty"`
	Args    []argCard `json:"arguments,omitempty"`
	// Cases say which arguments change the tool's effects.
	Cases []catalog.Case `json:"cases,omitempty"`
}

// An argCard is what is known about one argument.
type argCard struct {
	Name  string          `json:"name"`
	Role  floodmark.Role  `json:"role"`
	Is    string          `json:"is,omitempty"`
	Needs floodmark.Trust `json:"needs"`
}

// card looks a tool up in the catalog.
func card(cat *catalog.Catalog, ref floodmark.ToolRef) toolCard {
	use := cat.Classify(ref, nil, nil, catalog.Places{})
	t := toolCard{
		ToolRef: ref, Known: use.Profile != nil, Effects: use.Effects, Possible: cat.Possible(ref),
		Returns: use.Returns, ByPath: use.ByPath, Own: use.Own, Licence: use.Licence,
	}
	if use.Profile == nil {
		return t
	}
	t.About, t.Remote, t.Cases = use.Profile.About(), use.Profile.Remote(), use.Profile.Cases()
	t.Also = slices.DeleteFunc(use.Profile.Tools(), func(name string) bool { return name == ref.Name })
	for _, name := range use.Profile.ArgNames() {
		a, _ := use.Profile.Arg(name) // the name is from the profile itself
		t.Args = append(t.Args, argCard{Name: name, Role: a.Role, Is: a.Is, Needs: a.Needs})
	}
	return t
}
