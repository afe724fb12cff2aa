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
		Short: "Check the keys of a fleet's tenants before nodes have them",
		Long: `Check a file of tenants' index keys (tenants.keys) as a node does when it starts, and
list what it says: each tenant's keys, the oldest first, what each is for, and the
name that a key has in the journal. No key is printed, and nothing is changed.

A key is current (new sessions are born with it), held (known, and given to no new
session) or former (known, and no new word about a file lies under it).`,
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
		return &cli.Failure{Code: cli.ExitNo, Text: err.Error(), Hint: "docs/guide/key-rotation.md says what stands in it"}
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
