package rules

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/cli/records"
	"github.com/floodmark/floodmark/wire"
)

func newGrants(c *cli.Console) *cobra.Command {
	var p cli.Place
	q := &wire.GrantsRequest{}
	cmd := &cobra.Command{
		Use:   "grants",
		Short: "List approvals that are still valid",
		Long: `List the approvals that are still valid, the one that ends first at the top, and
take one back with «floodmark policy grants end». An approval covers only what was
shown: it does not apply once new content or a new reason comes in.

What you allowed with «always» is valid in every session of its repository, for 30
days. What your policy allows scheduled jobs in advance («standing») is listed too.
It ends on its last day, or when you remove it from the policy.`,
		Example: `  floodmark policy grants
  floodmark policy grants --session codex:0199
  floodmark policy grants end codex:0199 t-0199aabb-ccdd
  floodmark policy grants add openclaw:cron t-0199aabb-ccdd --until 2026-12-31`,
		Annotations: cli.Both(cli.Exits("they are listed, if there are any", "no monitor runs")),
		Args:        cli.GroupArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Grants, q)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			if records.PassedOver(c, a.GetUnread()); len(a.GetGrants()) == 0 {
				c.Say("no approval holds")
				return nil
			}
			out := &cli.Sheet{St: c.OutStyle()}
			records.GrantsText(out, a.GetGrants())
			fmt.Fprint(c.Stdout, out)
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().StringVar(&q.Session, "session", "", "only approvals in this `SESSION`")
	c.CompleteSession(cmd, &p)
	cmd.AddCommand(newGrantsAdd(c), newGrantsEnd(c))
	return cmd
}

func newGrantsEnd(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:         "end [SESSION] TICKET",
		Short:       "Take an approval back",
		Long:        "Take an approval back, by its name or by how that ends. It allows nothing any more;\nwhat ran before stays as it is.",
		Example:     "  floodmark policy grants end ccdd\n  floodmark policy grants end codex:0199 t-0199aabb-ccdd",
		Annotations: cli.Exits("it allows nothing any more", "there is no such approval"),
		Args:        cobra.RangeArgs(1, 2),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.EndGrantRequest{Session: strings.Join(args[:len(args)-1], ""), Ticket: args[len(args)-1]}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).EndGrant, q)
			if err != nil {
				return err
			}
			return c.Outcome(cli.Format(cmd), a.GetDone(), a.GetNotice(), func() error { return c.Message(a) })
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}
