package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/policy"
	"github.com/floodmark/floodmark/wire"
)

func newPolicy(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write, test and explain rules; see what approvals allow",
		Long: `A policy says what is allowed, asked about or refused. It is one YAML file; a
project may add a file of its own that only tightens it.`,
		Example: `  floodmark policy check floodmark.yaml
  floodmark policy explain exec --agent openclaw --trust external`,
	}
	cmd.AddCommand(newPolicyCheck(c), newPolicyExplain(c), newPolicyImport(c), newPolicySchema(c), newPolicyReload(c),
		newTest(c), newReplay(c), newSuggest(c), newGrants(c), newCatalog(c), newTools(c))
	return cmd
}

// layer reads one policy file.
func (c *console) layer(name string, project bool) (policy.Layer, error) {
	data, err := c.read(name)
	return policy.Layer{Name: name, Project: project, Data: data}, err
}

// projectLayers reads the files given with --project.
func (c *console) projectLayers(names []string) ([]policy.Layer, error) {
	var layers []policy.Layer
	for _, name := range names {
		l, err := c.layer(name, true)
		if err != nil {
			return nil, err
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// offerYAML lets shells complete names of YAML files.
func offerYAML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// profiles are the policies that come with the program, the usual one first.
func profiles() []string { return []string{"assistant", "coding", "strict", "dry-run"} }

func newPolicySchema(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of policy files",
		Long: `Print the JSON Schema of policy files. Editors use it to complete and check a policy
while it is written.`,
		Example: `  floodmark policy schema > floodmark.schema.json`,
		Args:    cobra.NoArgs,
		RunE: guard(func(*cobra.Command, []string) error {
			_, err := c.stdout.Write(append(bytes.TrimSpace(policy.Schema()), '\n'))
			return err
		}),
	}
}

func newPolicyReload(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Make the running monitor read its policy again",
		Long: `Make the running monitor read its policy file again. It also does so by itself
soon after the file changed. A file with errors is refused, with what is wrong
and where, and the old rules stay.`,
		Example:     `  floodmark policy reload`,
		Annotations: exits("the file holds", "the file is refused and the old rules stay, or no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			a, err := ask(cmd.Context(), c, p, (*desk).ReloadPolicy, &wire.ReloadPolicyRequest{})
			if err != nil {
				return err
			}
			return c.reloaded(a, format(cmd))
		}),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

// reloaded reports whether the file was loaded.
func (c *console) reloaded(a *wire.ReloadPolicyResponse, form string) error {
	refused := !a.GetLoaded() && slices.ContainsFunc(a.GetPolicy().GetProblems(), func(p *wire.Problem) bool {
		return p.GetSeverity() != string(floodmark.Warning)
	})
	if form == asJSON {
		if err := c.message(a); err != nil {
			return err
		}
	} else {
		out := &sheet{st: c.outStyle()}
		switch {
		case refused:
			out.painted(0, "Still in force: "+policyText(a.GetPolicy())+".", out.st.yellow)
		case a.GetLoaded():
			out.painted(0, "In force from now on: "+policyText(a.GetPolicy())+".", out.st.green)
		default:
			out.line(0, "Nothing changed: "+policyText(a.GetPolicy())+".")
		}
		problemsText(out, a.GetPolicy())
		fmt.Fprint(c.stdout, out)
	}
	if refused {
		return errNo
	}
	return nil
}
