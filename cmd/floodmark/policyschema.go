package main

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/policy"
)

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
