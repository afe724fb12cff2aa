package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/wire"
)

func newEndorse(c *console) *cobra.Command {
	var p place
	var diff, back bool
	cmd := &cobra.Command{
		Use:   "endorse SESSION DIGEST | --diff [PATH...]",
		Short: "Vouch for content that came into a session, or for files that one left",
		Long: `Vouch for content with exactly this digest. Its trust rises to local at most, and
the session's mark is made again from what is left. Content that differs in one
byte is not covered. You must say it at a terminal: a script cannot vouch.

DIGEST is at least the first 8 digits; «floodmark show SESSION» lists them.

With --diff you see what sessions of little trust changed in files below the folder
you are in, or in PATH, and vouch for all of that at once. It is compared with the
commit at which the first such session began, as git has it, or shown whole. A file
that is changed later is not covered. Linux only.

With --withdraw you take an endorsement back. The content, and all that was made
from it, sinks to the trust it came with, and so does the session's mark. The
SESSION of files is floodmark/files.`,
		Example: `  floodmark endorse codex:0199 2714c3bb
  floodmark endorse --withdraw codex:0199 2714c3bb
  floodmark endorse --diff src Makefile
  floodmark show codex:0199`,
		Annotations: exits("it is endorsed, or withdrawn", "it is not"),
		Args: func(cmd *cobra.Command, args []string) error {
			if diff {
				return nil
			}
			return needsTwo("SESSION", "DIGEST")(cmd, args)
		},
		RunE: guard(func(cmd *cobra.Command, args []string) error {
			if diff {
				return c.endorseFiles(cmd, p, args)
			}
			if back {
				return c.withdraw(cmd, p, args)
			}
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
	cmd.Flags().BoolVar(&back, "withdraw", false, "take back that you vouch for content")
	cmd.Flags().BoolVar(&diff, "diff", false, "look at files that sessions left, and vouch for them")
	cmd.MarkFlagsMutuallyExclusive("diff", "withdraw")
	addPlace(cmd, &p)
	c.addFleet(cmd, &p)
	return cmd
}

// withdraw takes an endorsement back.
func (c *console) withdraw(cmd *cobra.Command, p place, args []string) error {
	a, err := ask(cmd.Context(), c, p, (*desk).Withdraw, &wire.WithdrawRequest{Session: args[0], Digest: args[1]})
	if err != nil {
		return err
	}
	return c.outcome(format(cmd), a.GetDone(), withMark(a.GetNotice(), a.GetMark()), func() error { return c.message(a) })
}

func newTrust(c *console) *cobra.Command {
	var p place
	var end bool
	cmd := &cobra.Command{
		Use:   "trust [PATH]",
		Short: "Say that a repository is your team's",
		Long: `Say that the checkout at PATH is your team's, or list those that are. What is on the
default branch of its remote «origin», as the monitor fetches it, then is shared and
runs as your own work does. You must say it at a terminal: a script cannot.`,
		Example:     "  floodmark trust .\n  floodmark trust --end .",
		Annotations: exits("it is the team's, or they are listed", "it is not"),
		Args:        cobra.MaximumNArgs(1),
		RunE: guard(func(cmd *cobra.Command, args []string) (err error) {
			q := &wire.TrustRequest{End: end}
			switch {
			case len(args) > 0:
				if q.Path, err = filepath.Abs(args[0]); err != nil {
					return err
				}
			case end:
				return refuse("floodmark trust --end PATH", "--end needs the PATH of a repository")
			}
			a, err := ask(cmd.Context(), c, p, (*desk).Trust, q)
			switch {
			case err != nil:
				return err
			case format(cmd) == asJSON:
				return c.message(a)
			case end:
				c.say("%s is a stranger's again, for what reads it from now on", q.Path)
			case len(a.GetRepositories()) == 0:
				c.say("no repository is your team's")
			}
			for _, r := range a.GetRepositories() {
				c.say("%s is your team's: what is on the default branch of %s, now at %.12s", r.GetPath(), r.GetAddress(), r.GetTip())
			}
			return nil
		}),
	}
	addPlace(cmd, &p)
	cmd.Flags().BoolVar(&end, "end", false, "it is your team's no longer")
	return cmd
}

func newUndo(c *console) *cobra.Command {
	var p place
	q := &wire.UndoRequest{}
	cmd := &cobra.Command{
		Use:   "undo [SESSION [CALL]]",
		Short: "Take back what boxed commands and edits did to a project",
		Long: `List the calls whose changes of a project can be taken back: what they replaced is
kept for 7 days, 1 GB in all. With SESSION, and CALL, files, links, folders and the
history of git are given back as they were, with their labels, all or none. What was
changed since is named and nothing is touched; --only leaves it out, --beside also puts
NAME.before-undo beside it. You must say it at a terminal: a script cannot.`,
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
	cmd.Flags().BoolVar(&q.Beside, "beside", false, "put what cannot be given back beside it")
	return cmd
}

func withMark(notice string, mark *wire.Label) string {
	if mark == nil { // of files
		return notice
	}
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
