package rules

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/wire"
)

// NewBundle is the command «floodmark fleet bundle».
func NewBundle(c *cli.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Sign rules, and roll them out to a fleet",
		Long: `A bundle is a version of the rules of a tenant that its author signed. Nodes whose
service.yaml lists the author's key judge by it instead of by policy.yaml. A new
version is given to a share of the sessions first, then to all, and one command
rolls it back. If no version is valid, the profile strict applies.`,
		Example: `  floodmark fleet bundle key ann.key
  floodmark fleet bundle publish policy.yaml --key ann.key --note "mail is asked about"
  floodmark fleet bundle rollout 2 --share 10%
  floodmark fleet bundle rollout 2
  floodmark fleet bundle rollback`,
	}
	cmd.AddCommand(newBundleKey(c), newBundleMake(c), newBundlePublish(c), newBundleList(c), newBundleShow(c), newBundleRollout(c), newBundleRollback(c))
	return cmd
}

func newBundleKey(c *cli.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "key FILE",
		Short: "Make an author's key",
		Long: `Make an author's key. The private half is written to FILE, which must not exist and
which only you can read; keep it where no agent and no node can reach it. The public
half is shown: it goes into service.yaml of the monitors that are to trust you.`,
		Example:     `  floodmark fleet bundle key ann.key`,
		Annotations: cli.Exits("it is made", ""),
		Args:        cli.Needs("FILE"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			secret, public, err := bundle.NewKey(rand.Reader)
			if err != nil {
				return err
			}
			f, err := os.OpenFile(c.Path(args[0]), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return cli.Refuse("name another file: a key that is lost cannot be made again", "%s is there already", args[0])
			}
			if err != nil {
				return cli.Refuse("check that you may write there", "write %s: %s", args[0], cli.Reason(err))
			}
			_, err = f.WriteString(secret)
			if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
				return cli.Refuse("check that there is room", "write %s: %s", args[0], cli.Reason(err))
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(map[string]string{"file": args[0], "public": bundle.FormatKey(public)})
			}
			fmt.Fprintln(c.Stdout, bundle.FormatKey(public))
			c.Say("the private half is in %s; to trust it, write into service.yaml: bundles: {keys: [%q]}", args[0], bundle.FormatKey(public))
			return nil
		}),
	}
}

func newBundleList(c *cli.Console) *cobra.Command {
	var p cli.Place
	q := &wire.BundlesRequest{}
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List versions, and who has which",
		Long:        "List the versions of your tenant's rules, the newest first, with the share of the\nsessions that has each, and what keeps one from being used.",
		Example:     "  floodmark fleet bundle list\n  floodmark fleet bundle list --before 40 --output json",
		Annotations: cli.Exits("they are listed, if there are any", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Bundles, q)
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			fmt.Fprint(c.Stdout, bundlesText(c.OutStyle(), a))
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().Uint64Var(&q.Before, "before", 0, "only versions below this `VERSION`")
	cmd.Flags().Int32Var(&q.Limit, "limit", 0, "show at most this many, up to 100 (default 20)")
	return cmd
}

func newBundleShow(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "show VERSION",
		Short: "Print the policy of a version",
		Long: `Print the policy of a version as its author wrote it, for example to judge recorded
sessions by it once more: floodmark policy replay --policy.`,
		Example:     "  floodmark fleet bundle show 2 > policy.yaml",
		Annotations: cli.Exits("it is printed", "no monitor runs"),
		Args:        cli.Needs("VERSION"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			version, err := versionArg(args[0])
			if err != nil {
				return err
			}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).ShowBundle, &wire.ShowBundleRequest{Version: version})
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			fmt.Fprint(c.Stdout, cli.Printable(string(a.GetPolicy())))
			c.Say("version %d, made %s, holds until %s, signed by %s", version, cli.Stamp(a.GetBundle().GetMade()), cli.Stamp(a.GetBundle().GetValidUntil()), a.GetBundle().GetSigner())
			if why := a.GetBundle().GetWhy(); why != "" {
				c.Say("it cannot be used: %s", cli.Printable(why))
			}
			return nil
		}),
		ValidArgsFunction: offerVersions(c, &p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

func newBundleRollout(c *cli.Console) *cobra.Command {
	var p cli.Place
	share := "100%"
	cmd := &cobra.Command{
		Use:   "rollout VERSION",
		Short: "Give a version to a share of the sessions, or to all",
		Long: `Give a version to a share of the sessions; the others keep the version that all had
before. A larger share keeps it for all who have it. All nodes follow within seconds.
A session that is under way has the new rules from its next event on.`,
		Example:     "  floodmark fleet bundle rollout 2 --share 10%\n  floodmark fleet bundle rollout 2",
		Annotations: cli.Exits("it is rolled out", "no monitor runs"),
		Args:        cli.Needs("VERSION"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			version, err := versionArg(args[0])
			if err != nil {
				return err
			}
			parts, err := shareArg(share)
			if err != nil {
				return err
			}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).RollBundle, &wire.RollBundleRequest{Version: version, Share: parts})
			if err != nil {
				return err
			}
			return c.Outcome(cli.Format(cmd), true, a.GetNotice(), func() error { return c.Message(a) })
		}),
		ValidArgsFunction: offerVersions(c, &p),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	cmd.Flags().StringVar(&share, "share", share, "how many of the sessions, such as `10%`")
	return cmd
}

func newBundleRollback(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Roll the newest version back for all sessions",
		Long: `Roll the last version back: all sessions have the one before it again, and the newer
one is never given to a session again.`,
		Example:     "  floodmark fleet bundle rollback",
		Annotations: cli.Exits("it is rolled back", "no monitor runs"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).RollBackBundle, &wire.RollBackBundleRequest{})
			if err != nil {
				return err
			}
			return c.Outcome(cli.Format(cmd), true, a.GetNotice(), func() error { return c.Message(a) })
		}),
	}
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

func versionArg(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 {
		return 0, cli.Refuse("«floodmark fleet bundle list» shows them", "%q is not a version: want a number from 1", text)
	}
	return n, nil
}

// shareArg parses a percentage and returns it in parts of ten thousand.
func shareArg(text string) (int32, error) {
	number, percent := strings.CutSuffix(text, "%")
	whole, part, _ := strings.Cut(strings.TrimSpace(number), ".")
	const places = 2 // a percentage with two decimal places, without its point, is in parts of ten thousand
	if percent && len(part) <= places {
		n, err := strconv.ParseUint(whole+part+strings.Repeat("0", places-len(part)), 10, 16)
		if err == nil && n >= 1 && n <= bundle.Everybody {
			return int32(n), nil
		}
	}
	return 0, cli.Refuse("write --share 10%", "--share %q: want 0.01%% to 100%%", text)
}
