// Package rules contains the commands about rules: policies, the catalog, grants, bundles.
package rules

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/policy/policyfile"
	"github.com/floodmark/floodmark/wire"
)

// NewPolicy is the command «floodmark policy».
func NewPolicy(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write, test and explain rules; see what approvals allow",
		Long: `A policy says what is allowed, asked about or refused. It is one YAML file; a
project may add a file of its own that only tightens it.`,
		Example: `  floodmark policy check floodmark.yaml
  floodmark policy explain exec --agent openclaw --trust external`,
	}
	cmd.AddCommand(newPolicyCheck(c), newPolicyExplain(c), newPolicyImport(c), newPolicySchema(c), newPolicyReload(c),
		newTest(c), records.NewReplay(c), newSuggest(c), newGrants(c), newCatalog(c), newTools(c))
	return cmd
}

// layer reads one policy file.
func layer(c *cli.Console, name string, project bool) (policy.Layer, error) {
	data, err := c.Read(name)
	return policy.Layer{Name: name, Project: project, Data: data}, err
}

// projectLayers reads the files given with --project.
func projectLayers(c *cli.Console, names []string) ([]policy.Layer, error) {
	var layers []policy.Layer
	for _, name := range names {
		l, err := layer(c, name, true)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// offerYAML completes with names of YAML files.
func offerYAML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// profiles returns the policies that come with the program, the default one first.
func profiles() []string { return []string{"assistant", "coding", "strict", "dry-run"} }

func newPolicySchema(c *cli.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of policy files",
		Long: `Print the JSON Schema of policy files. Editors use it to complete and check a policy
while it is written.`,
		Example: `  floodmark policy schema > floodmark.schema.json`,
		Args:    cobra.NoArgs,
		RunE: cli.Guard(func(*cobra.Command, []string) error {
			_, err := c.Stdout.Write(append(bytes.TrimSpace(policyfile.Schema()), '\n'))
			return err
		}),
	}
}

func newPolicyReload(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the running monitor read its policy again",
		Long: `Make the running monitor read its policy file again. It also does so by itself
soon after the file changed. A file with errors is refused, with what is wrong
and where, and the old rules stay.`,
		Example:     `  floodmark policy reload`,
		Annotations: cli.Exits("the file holds", "the file is refused and the old rules stay, or no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).ReloadPolicy, &wire.ReloadPolicyRequest{})
			if err != nil {
				return err
			}
			return reloaded(c, a, cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// reloaded prints whether the file was loaded.
func reloaded(c *cli.Console, a *wire.ReloadPolicyResponse, form string) error {
	refused := !a.GetLoaded() && slices.ContainsFunc(a.GetPolicy().GetProblems(), func(p *wire.Problem) bool {
		return p.GetSeverity() != string(floodmark.Warning)
	})
	if form == cli.AsJSON {
		if err := c.Message(a); err != nil {
			return err
		}
	} else {
		out := &cli.Sheet{St: c.OutStyle()}
		switch {
		case refused:
			out.Painted(0, "Still in force: "+cli.PolicyText(a.GetPolicy())+".", out.St.Yellow)
		case a.GetLoaded():
			out.Painted(0, "In force from now on: "+cli.PolicyText(a.GetPolicy())+".", out.St.Green)
		default:
			out.Line(0, "Nothing changed: "+cli.PolicyText(a.GetPolicy())+".")
		}
		cli.ProblemsText(out, a.GetPolicy())
		fmt.Fprint(c.Stdout, out)
	}
	if refused {
		return cli.ErrNo
	}
	return nil
}
