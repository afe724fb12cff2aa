package main

import (
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/policy"
)

func newPolicy(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check, explain, import and reload policies",
		Long: `A policy says what is allowed, asked about or refused. It is one YAML file; a
project may add a file of its own that only tightens it.`,
		Example: `  floodmark policy check floodmark.yaml
  floodmark policy explain exec --agent openclaw --trust external`,
	}
	cmd.AddCommand(newPolicyCheck(c), newPolicyExplain(c), newPolicyImport(c), newPolicySchema(c), newPolicyReload(c))
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
