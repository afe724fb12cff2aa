package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/wire"
)

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

// reloaded tells what became of the file.
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
