package rules

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/wire"
)

// bundlesText formats the list for people.
func bundlesText(st cli.Style, a *wire.BundlesResponse) string {
	p := &cli.Sheet{St: st}
	r := a.GetRollout()
	switch {
	case r.GetSerial() == 0:
		p.Painted(0, "No version is rolled out, so the profile strict holds.", st.Yellow)
	default:
		p.Line(0, fmt.Sprintf("Rollout %d, by %s, at %s.", r.GetSerial(), r.GetBy(), cli.Stamp(r.GetAt())))
	}
	if r.GetFloor() > 1 {
		p.Line(0, fmt.Sprintf("Nothing older than version %d is used any more.", r.GetFloor()))
	}
	if len(a.GetBundles()) == 0 {
		p.Line(0, "No version is published.")
		return p.String()
	}
	head := cli.Cells("VERSION", "SESSIONS", "HOLDS UNTIL", "POLICY", "NOTE")
	for i := range head {
		head[i].Paint = st.Dim
	}
	rows := [][]cli.Cell{head}
	for _, b := range a.GetBundles() {
		share := cli.Cell{Text: "none"}
		if b.GetShare() > 0 {
			share = cli.Cell{Text: bundle.Percent(int(b.GetShare())), Paint: st.Green}
		}
		note := cli.Cell{Text: b.GetNote()}
		if b.GetWhy() != "" {
			note = cli.Cell{Text: "cannot be used: " + b.GetWhy(), Paint: st.Red}
		}
		rows = append(rows, []cli.Cell{{Text: strconv.FormatUint(b.GetVersion(), 10)}, share, {Text: cli.Stamp(b.GetValidUntil())}, {Text: cli.Short(b.GetDigest())}, note})
	}
	p.Table(0, rows)
	if a.GetMore() {
		p.Line(0, fmt.Sprintf("Older ones: floodmark fleet bundle list --before %d", a.GetBundles()[len(a.GetBundles())-1].GetVersion()))
	}
	return p.String()
}

// offerVersions completes versions, if the monitor answers in time.
func offerVersions(c *cli.Console, p *cli.Place) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || p.Fleet != "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		d, err := c.Desk(*p)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.End()
		ctx, cancel := context.WithTimeout(cmd.Context(), cli.OfferTime)
		defer cancel()
		all, err := d.Bundles(ctx, &wire.BundlesRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, b := range all.GetBundles() {
			names = append(names, fmt.Sprintf("%d\t%s", b.GetVersion(), cli.Plain(b.GetNote())))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
