package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/wire"
)

func newEndorse(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "endorse SESSION DIGEST",
		Short: "Vouch for content that came into a session",
		Long: `Vouch for content with exactly this digest. Its trust rises to local at most, and
the session's mark is made again from what is left. Content that differs in one
byte is not covered. You must say it at a terminal: a script cannot vouch.

DIGEST is at least the first 8 digits; «floodmark show SESSION» lists them.`,
		Example: `  floodmark endorse codex:0199 2714c3bb
  floodmark show codex:0199`,
		Annotations: exits("it is endorsed", "it is not endorsed"),
		Args:        needsTwo("SESSION", "DIGEST"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if p.fleet != "" && !c.stdinTerminal { // here the monitor looks itself
				return refuse("use a terminal that no agent was started from", "a person at a terminal must say this; a script cannot vouch for content")
			}
			q := &wire.EndorseRequest{Session: args[0], Digest: args[1]}
			a, err := ask(cmd.Context(), c, p, (*desk).Endorse, q)
			if err != nil {
				return err
			}
			return c.outcome(format(cmd), a.GetDone(), withMark(a.GetNotice(), a.GetMark()), func() error { return c.message(a) })
		}),
		ValidArgsFunction: c.offerSessions(&p),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

func newWithdraw(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "withdraw SESSION DIGEST",
		Short: "Take back that you vouch for content",
		Long: `Take an endorsement back. The content, and all that was made from it, sinks to the
trust it came with, and so does the session's mark.

DIGEST is at least the first 8 digits; «floodmark show SESSION» lists what you
vouch for.`,
		Example:     `  floodmark withdraw codex:0199 2714c3bb`,
		Annotations: exits("it is withdrawn", "nothing was withdrawn"),
		Args:        needsTwo("SESSION", "DIGEST"),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			q := &wire.WithdrawRequest{Session: args[0], Digest: args[1]}
			a, err := ask(cmd.Context(), c, p, (*desk).Withdraw, q)
			if err != nil {
				return err
			}
			return c.outcome(format(cmd), a.GetDone(), withMark(a.GetNotice(), a.GetMark()), func() error { return c.message(a) })
		}),
		ValidArgsFunction: c.offerSessions(&p),
	}
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

func newUndo(c *console) *cobra.Command {
	var p place
	q := &wire.UndoRequest{}
	cmd := &cobra.Command{
		Use:   "undo [SESSION [CALL]]",
		Short: "Take back what boxed commands and edits did to a project",
		Long: `List the calls whose changes of a project can be taken back: what commands in
boxes and agents' own edits replaced is kept for 7 days, 1 GB in all. With
SESSION, and CALL, files, links, folders and the history of git are given back as
they were before, all or none. What was changed since is named and nothing is
touched; --only leaves it out. A file that only this call wrote has its earlier
label again. You must say it at a terminal: a script cannot.`,
		Example: `  floodmark undo
  floodmark undo codex:0199 call_7 --dry-run
  floodmark undo codex:0199`,
		Annotations: exits("it is listed, or given back", "not all of it can be given back"),
		Args:        cobra.MaximumNArgs(2),
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			args = append(args, "", "")
			q.Session, q.Call = args[0], args[1]
			a, err := ask(cmd.Context(), c, p, (*desk).Undo, q)
			if err != nil {
				return err
			}
			if format(cmd) == asJSON {
				err = c.message(a)
			}
			for _, line := range a.GetLines() {
				if format(cmd) != asJSON {
					fmt.Fprintln(c.stdout, plain(line))
				}
			}
			if err == nil && !a.GetDone() {
				return errNo
			}
			return err
		}),
		ValidArgsFunction: c.offerSessions(&p),
	}
	addPlace(cmd, &p)
	cmd.Flags().BoolVar(&q.DryRun, "dry-run", false, "only say what would be given back")
	cmd.Flags().BoolVar(&q.Only, "only", false, "leave out what was changed since")
	return cmd
}

func withMark(notice string, mark *wire.Label) string {
	return notice + " The session's mark is " + labelText(mark) + "."
}

// needsTwo accepts exactly two arguments.
func needsTwo(first, second string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < 2:
			return fmt.Errorf("%s needs %s and %s", cmd.CommandPath(), one(first), one(second))
		case len(args) > 2:
			return fmt.Errorf("%s takes %s and %s; %q is too many", cmd.CommandPath(), one(first), one(second), args[2])
		}
		return nil
	}
}
