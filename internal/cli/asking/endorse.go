package asking

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/wire"
)

// NewTrust is the command «floodmark trust».
func NewTrust(c *cli.Console) *cobra.Command {
	var p cli.Place
	var diff, back, end bool
	cmd := &cobra.Command{
		Use:   "trust [REPOSITORY | SESSION SOURCE | --diff [PATH…]]",
		Short: "Vouch for a repository, for content, or for files that a session left",
		Long: `With a REPOSITORY, say that the checkout there is your team's. Commits on the
default branch of its remote «origin», as the monitor fetches it, then count as
shared and run as your own work does. Without an argument those repositories are
listed.

With a SESSION and a SOURCE, trust content that came in there. SOURCE is its number
in «floodmark journal show SESSION», or at least the first 8 digits of its digest.
Its trust rises to local at most, and the session's mark is computed again from its
sources. Content that differs in one byte is not covered.

With --diff you see what sessions of little trust changed in files below the folder
you are in, or in PATH, and trust all of that at once. It is compared with the
commit at which the first such session began, as git has it, or shown whole. A file
that is changed later is not covered. Linux only.

With --withdraw you withdraw that trust. The content, and everything made from it,
gets its original trust again, and so does the session's mark. For files, SESSION is
floodmark/files. All of this needs a person at a terminal: a script cannot do it.`,
		Example: `  floodmark trust .
  floodmark trust --end .
  floodmark trust codex:0199 3
  floodmark trust --withdraw codex:0199 2714c3bb
  floodmark trust --diff src Makefile`,
		Annotations: cli.Exits("it is trusted, withdrawn, or listed", "it is not"),
		Args: func(_ *cobra.Command, args []string) error {
			if diff {
				return nil
			}
			return cobra.MaximumNArgs(2)(nil, args)
		},
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			switch {
			case diff:
				return endorseFiles(c, cmd, p, args)
			case back && len(args) != 2:
				return cli.Refuse("floodmark trust --withdraw SESSION DIGEST", "--withdraw needs a SESSION and a DIGEST")
			case back:
				return withdraw(c, cmd, p, args)
			case len(args) == 2:
				return endorse(c, cmd, p, args)
			}
			return trustTeam(c, cmd, p, args, end)
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cmd.Flags().BoolVar(&end, "end", false, "no longer treat the repository as your team's")
	cmd.Flags().BoolVar(&back, "withdraw", false, "withdraw your trust in content")
	cmd.Flags().BoolVar(&diff, "diff", false, "look at files that sessions left, and trust them")
	cmd.MarkFlagsMutuallyExclusive("diff", "withdraw", "end")
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// endorse trusts content.
func endorse(c *cli.Console, cmd *cobra.Command, p cli.Place, args []string) error {
	if p.Fleet != "" && !c.StdinTerminal { // the local monitor checks this itself
		return cli.Refuse("use a terminal that no agent started", "only a person at a terminal can do this; a script cannot trust content")
	}
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Endorse, &wire.EndorseRequest{Session: args[0], Digest: args[1]})
	if err != nil {
		return err
	}
	return c.Outcome(cli.Format(cmd), a.GetDone(), withMark(a.GetNotice(), a.GetMark()), func() error { return c.Message(a) })
}

// withdraw withdraws the trust in content.
func withdraw(c *cli.Console, cmd *cobra.Command, p cli.Place, args []string) error {
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Withdraw, &wire.WithdrawRequest{Session: args[0], Digest: args[1]})
	if err != nil {
		return err
	}
	return c.Outcome(cli.Format(cmd), a.GetDone(), withMark(a.GetNotice(), a.GetMark()), func() error { return c.Message(a) })
}

// trustTeam trusts a team's repository, or lists the trusted ones.
func trustTeam(c *cli.Console, cmd *cobra.Command, p cli.Place, args []string, end bool) error {
	q := &wire.TrustRequest{End: end}
	switch {
	case len(args) > 0:
		q.Path = c.Path(args[0])
		if info, err := os.Stat(q.Path); !end && (err != nil || !info.IsDir()) {
			return cli.Refuse("for content write «floodmark trust SESSION SOURCE»", "%s is not a folder", args[0])
		}
	case end:
		return cli.Refuse("floodmark trust --end PATH", "--end needs the PATH of a repository")
	}
	a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Trust, q)
	switch {
	case err != nil:
		return err
	case cli.Format(cmd) == cli.AsJSON:
		return c.Message(a)
	case end:
		c.Say("%s counts as a stranger's again for everything read there from now on", q.Path)
	case len(a.GetRepositories()) == 0:
		c.Say("no repository is your team's")
	}
	for _, r := range a.GetRepositories() {
		c.Say("%s is your team's: the default branch of %s, now at %.12s", r.GetPath(), r.GetAddress(), r.GetTip())
	}
	return nil
}

// NewUndo is the command «floodmark undo».
func NewUndo(c *cli.Console) *cobra.Command {
	var p cli.Place
	q := &wire.UndoRequest{}
	cmd := &cobra.Command{
		Use:   "undo [SESSION [CALL]]",
		Short: "Take back what boxed commands and edits did to a project",
		Long: `List the calls whose changes to a project can be undone: the files that they
replaced are kept for 7 days, 1 GB in all. With SESSION, or SESSION and CALL,
restore files, links, folders and the history of git as they were, with their
labels, all or none. If a file was changed since, it is named and nothing is
touched. With --only such files are left out; with --beside the old version is also
put beside each of them, as NAME.before-undo. This needs a person at a terminal: a
script cannot do it.`,
		Example: `  floodmark undo
  floodmark undo codex:0199 call_7 --dry-run
  floodmark undo codex:0199`,
		Annotations: cli.Both(cli.Exits("the calls are listed, or the changes are undone", "not everything can be restored")),
		Args:        cobra.MaximumNArgs(2),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			args = append(args, "", "")
			q.Session, q.Call = args[0], args[1]
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Undo, q)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				err = c.Message(a)
			}
			for _, line := range a.GetLines() {
				if cli.Format(cmd) != cli.AsJSON {
					fmt.Fprintln(c.Stdout, cli.Plain(line))
				}
			}
			if err == nil && !a.GetDone() {
				return cli.ErrNo
			}
			return err
		}),
		ValidArgsFunction: c.OfferSessions(&p),
	}
	cli.AddPlace(cmd, &p)
	cmd.Flags().BoolVar(&q.DryRun, "dry-run", false, "only show what would be restored")
	cmd.Flags().BoolVar(&q.Only, "only", false, "leave out files that were changed since")
	cmd.Flags().BoolVar(&q.Beside, "beside", false, "restore changed files beside the current ones, as NAME.before-undo")
	cmd.AddCommand(newClean(c))
	return cmd
}

func withMark(notice string, mark *wire.Label) string {
	if mark == nil { // files have no session's mark
		return notice
	}
	return notice + " The session's mark is " + cli.LabelText(mark) + "."
}

// NeedsTwo accepts exactly two arguments.
func NeedsTwo(first, second string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < 2:
			return fmt.Errorf("%s needs %s and %s", cmd.CommandPath(), cli.One(first), cli.One(second))
		case len(args) > 2:
			return fmt.Errorf("%s takes %s and %s; %q is too many", cmd.CommandPath(), cli.One(first), cli.One(second), args[2])
		}
		return nil
	}
}
