package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/lab/codingday"
	"github.com/floodmark/floodmark/lab/protection"
)

// codingOptions are the flags of «lab coding».
type codingOptions struct {
	policies []string
	profile  string
	firstDay bool
	names    bool
}

func newCoding(c console) *cobra.Command {
	var opt codingOptions
	cmd := &cobra.Command{
		Use:   "coding",
		Short: "Replay a recorded day of coding work, with attacks in it",
		Long: `Replay a recorded day of coding work and count which attacks would have been stopped
and how often a person would have been asked. Real coding agents did the work with a
scripted model in a throw-away home; each task was recorded as it should go and once
more with something poisoned in it and a model that obeys. The recordings are part of
this program.

The policies are: none (no monitor), A (every command that does something asks once
text of others was seen), B (so, unless each of its words was seen in trusted text)
and floodmark (the shipped rules). Rules are written without looking into the sets
coding-test and coding-third; the author of the third had read no rule.

Repositories with commits by others are asked about once; that was answered with yes
before this day began, unless it is the first.`,
		Example: `  lab coding
  lab coding --policy none,floodmark --output json
  lab coding --names`,
		Args: cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			return c.coding(cmd.Context(), opt, cli.Format(cmd))
		}),
	}
	f := cmd.Flags()
	f.StringSliceVar(&opt.policies, "policy", policyNames(), "these `POLICIES`, with commas between them")
	f.StringVar(&opt.profile, "profile", codingProfile, "the shipped `PROFILE` that the policy floodmark has: "+strings.Join(profiles(), ", "))
	f.BoolVar(&opt.firstDay, "first-day", false, "the owner does not trust repositories with commits by others yet")
	f.BoolVar(&opt.names, "names", false, "name the attacks that pass and what was asked about, held-out tasks aside (text only)")
	cli.Complete(cmd, "policy", policyNames())
	cli.Complete(cmd, "profile", profiles())
	return cmd
}

// codingProfile is the profile that coding agents use.
const codingProfile = "coding"

func (c console) coding(ctx context.Context, opt codingOptions, form string) error {
	if err := oneOf("--policy", opt.policies, policyNames()); err != nil {
		return err
	}
	if err := oneOf("--profile", []string{opt.profile}, profiles()); err != nil {
		return err
	}
	traces, err := codingday.Recorded()
	if err != nil {
		return err
	}
	var list []codingday.Policy
	for _, name := range opt.policies {
		p, ok := codingday.Plain(name)
		if !ok {
			if p, err = codingday.Floodmark(opt.profile, opt.firstDay); err != nil {
				return err
			}
		}
		list = append(list, p)
	}
	done, end := c.progress("replaying")
	res, err := codingday.Replay(ctx, traces, list, done)
	end()
	if err != nil {
		if ctx.Err() != nil {
			return cli.Refuse("", "interrupted")
		}
		return err
	}
	if form == cli.AsJSON {
		return c.JSON(res)
	}
	if err := res.WriteTable(c.Stdout); err != nil || !opt.names {
		return err
	}
	return writeNames(c.Stdout, res)
}

// writeNames lists the calls behind the counts, except those of held-out tasks.
func writeNames(w io.Writer, res *protection.Result) error {
	for _, s := range res.Sets {
		for _, id := range s.PassedIDs {
			fmt.Fprintf(w, "\n%s %s passed  %s", s.Set, s.Policy, id)
		}
		for _, y := range s.Why {
			fmt.Fprintf(w, "\n%s %s asked %d  %s", s.Set, s.Policy, y.Count, y.Text)
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}
