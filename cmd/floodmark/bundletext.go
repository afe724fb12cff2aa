package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/bundle"
	"github.com/floodmark/floodmark/wire"
)

// bundlesText is the list for people.
func bundlesText(st style, a *wire.BundlesResponse) string {
	p := &sheet{st: st}
	r := a.GetRollout()
	switch {
	case r.GetSerial() == 0:
		p.painted(0, "No version is rolled out, so the profile strict holds.", st.yellow)
	default:
		p.line(0, fmt.Sprintf("Rollout %d, by %s, at %s.", r.GetSerial(), r.GetBy(), stamp(r.GetAt())))
	}
	if r.GetFloor() > 1 {
		p.line(0, fmt.Sprintf("Nothing older than version %d is used any more.", r.GetFloor()))
	}
	if len(a.GetBundles()) == 0 {
		p.line(0, "No version is published.")
		return p.String()
	}
	head := cells("VERSION", "SESSIONS", "HOLDS UNTIL", "POLICY", "NOTE")
	for i := range head {
		head[i].paint = st.dim
	}
	rows := [][]cell{head}
	for _, b := range a.GetBundles() {
		share := cell{text: "none"}
		if b.GetShare() > 0 {
			share = cell{bundle.Percent(int(b.GetShare())), st.green}
		}
		note := cell{text: b.GetNote()}
		if b.GetWhy() != "" {
			note = cell{"cannot be used: " + b.GetWhy(), st.red}
		}
		rows = append(rows, []cell{{text: strconv.FormatUint(b.GetVersion(), 10)}, share, {text: stamp(b.GetValidUntil())}, {text: short(b.GetDigest())}, note})
	}
	p.table(0, rows)
	if a.GetMore() {
		p.line(0, fmt.Sprintf("Older ones: floodmark fleet bundle list --before %d", a.GetBundles()[len(a.GetBundles())-1].GetVersion()))
	}
	return p.String()
}

// offerVersions completes versions, if the monitor answers at once.
func (c *console) offerVersions(p *place) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || p.fleet != "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		d, err := c.desk(*p)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.end()
		ctx, cancel := context.WithTimeout(cmd.Context(), offerTime)
		defer cancel()
		all, err := d.Bundles(ctx, &wire.BundlesRequest{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		for _, b := range all.GetBundles() {
			names = append(names, fmt.Sprintf("%d\t%s", b.GetVersion(), plain(b.GetNote())))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
