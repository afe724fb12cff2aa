package records

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/setup/config"
)

func newJournalKeys(c *cli.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "keys FILE",
		Short: "Check a file of tenants' keys before you give it to the nodes",
		Long: `Check a file of tenants' index keys (tenants.keys) as a node does when it starts, and
list the keys of each tenant, the oldest first, with their use and their names in the
journal. No key is printed, and nothing is changed.

New sessions get the current key. A held key is known to nodes, but new sessions do
not get it. A former key is like a held one, and no new records about files are
written under it.`,
		Example: `  floodmark journal keys tenants.keys
  floodmark journal keys tenants.keys --output json`,
		Annotations: cli.Exits("a node would take it", "a node would refuse it"),
		Args:        cli.Needs("FILE"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			return journalKeys(c, args[0], cli.Format(cmd) == cli.AsJSON)
		}),
	}
}

// A listedKey is a key without its secret.
type listedKey struct {
	Tenant string `json:"tenant"`
	ID     string `json:"id"`
	Use    string `json:"use"`
	// Name is the key's name in the journal, if it is not the tenant's first key; empty for the key
	// that is derived from index.key.
	Name string `json:"name,omitempty"`
}

func journalKeys(c *cli.Console, file string, json bool) error {
	keys, err := config.ReadTenantKeys(c.Path(file))
	if err != nil {
		return &cli.Failure{Code: cli.ExitNo, Text: err.Error(), Hint: "docs/guide/key-rotation.md explains the lines of this file"}
	}
	list := []listedKey{}
	for _, tenant := range slices.Sorted(maps.Keys(keys)) {
		for i, k := range keys[tenant] {
			l := listedKey{Tenant: tenant, ID: k.ID, Use: "held"}
			switch {
			case i == keys[tenant].Current():
				l.Use = string(config.CurrentKey)
			case k.Use == config.FormerKey:
				l.Use = string(k.Use)
			}
			if !k.Derived {
				l.Name = k.Key.Name()
			}
			list = append(list, l)
		}
	}
	if json {
		return c.JSON(list)
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TENANT\tID\tUSE\tNAME")
	for _, l := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", cli.Plain(l.Tenant), cli.Plain(l.ID), l.Use, l.Name)
	}
	return w.Flush()
}
