package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/postgresjournal"
)

func newJournalMonths(c *console) *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "months",
		Short: "List the months of a fleet's journal",
		Long: `List the months in which the sessions of a fleet's journal began, with how many of
them are kept and what they take on disk. The databases are those of service.yaml,
or the one that --journal names; nothing is changed.

What journal.keep erases in a month goes with the whole month, as soon as none of
its sessions is kept any more: monitors that may erase see to it by themselves.`,
		Example: `  floodmark journal months
  floodmark journal months --journal postgres://floodmark_node@db.example/floodmark
  floodmark journal months --output json`,
		Annotations: exits("they are listed", "a database refused"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			return c.journalMonths(cmd.Context(), f, format(cmd) == asJSON)
		}),
	}
	addPlace(cmd, &f.place)
	cmd.Flags().StringVar(&f.journal, "journal", "", "the database at this `URL` instead of those in service.yaml")
	cmd.Flags().StringVar(&f.user, "user", "", "connect as this `NAME` instead of the one in the URLs")
	return cmd
}

func (c *console) journalMonths(ctx context.Context, f initFlags, json bool) error {
	ranges, err := c.ranges(f)
	if err != nil {
		return err
	}
	list, err := postgresjournal.Months(ctx, ranges, postgresjournal.Options{})
	if err != nil {
		return unprepared(err, "prepare the database: floodmark journal init")
	}
	if json {
		return c.json(list)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MONTH\tSESSIONS\tMB")
	for _, m := range list {
		name := fmt.Sprintf("%d-%02d", m.Month/100, m.Month%100)
		if m.Month == 0 {
			name = "before"
		}
		fmt.Fprintf(w, "%s\t%d\t%.1f\n", name, m.Sessions, float64(m.Bytes)/1e6)
	}
	return w.Flush()
}
