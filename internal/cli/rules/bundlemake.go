package rules

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/wire"
)

// A bundleFlags contains the flags for making a bundle.
type bundleFlags struct {
	key, note string
	days      int
	floor     uint64
	dryRun    bool
}

func (f *bundleFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.key, "key", "", "the `FILE` with your private key")
	cmd.Flags().StringVar(&f.note, "note", "", "one line for people")
	cmd.Flags().IntVar(&f.days, "days", 90, "how many days it is valid, up to 400; then the profile strict applies")
	cmd.Flags().Uint64Var(&f.floor, "floor", 0, "the oldest `VERSION` that may be used after this one (default: the one that all have now)")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run-rules", false, "also sign rules that enforce nothing")
}

// check returns an error if a policy is invalid.
func (f *bundleFlags) check(name string, text []byte) error {
	if _, err := config.BundleRules(name, text, f.dryRun); err != nil {
		return &cli.Failure{Code: cli.ExitNo, Text: "the policy is wrong: " + cli.Printable(err.Error()), Hint: "«floodmark policy check " + cli.ShellWord(name) + "» shows where"}
	}
	return nil
}

// seal checks a policy and signs it as a version.
func seal(c *cli.Console, f bundleFlags, name string, text []byte, b bundle.Bundle) ([]byte, error) {
	if f.key == "" {
		return nil, cli.Refuse("name it with --key; «floodmark fleet bundle key FILE» makes one", "signing needs your private key")
	}
	if err := f.check(name, text); err != nil {
		return nil, err
	}
	secret, err := c.Read(f.key)
	if err != nil {
		return nil, err
	}
	key, err := bundle.ParsePrivate(string(secret))
	if err != nil {
		return nil, cli.Refuse("", "%s: %s", f.key, err)
	}
	b.Policy, b.Note, b.Made = text, f.note, c.Clock().UTC().Truncate(time.Second)
	b.ValidUntil = b.Made.Add(time.Duration(f.days) * 24 * time.Hour)
	if f.floor > 0 {
		b.Floor = f.floor
	}
	sealed, err := b.Seal(key)
	if err != nil {
		return nil, cli.Refuse("", "%s", err)
	}
	return sealed, nil
}

func newBundleMake(c *cli.Console) *cobra.Command {
	var f bundleFlags
	var out string
	b := bundle.Bundle{}
	cmd := &cobra.Command{
		Use:   "make POLICY",
		Short: "Sign a policy without asking a monitor",
		Long: `Check a policy, make it a version of a tenant's rules, and sign it. No monitor is
asked: this is for an author whose machine with the key reaches none. The file that
is written is published by «floodmark fleet bundle publish» from another machine.`,
		Example:     `  floodmark fleet bundle make policy.yaml --key ann.key --version 3 --out acme-3.bundle`,
		Annotations: cli.Exits("it is signed", "the policy is wrong"),
		Args:        cli.Needs("POLICY"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if out == "" || b.Version == 0 {
				return cli.Refuse("«floodmark fleet bundle list» shows which version is the newest", "--out and --version are needed")
			}
			text, err := c.Read(args[0])
			if err != nil {
				return err
			}
			b.Floor = max(b.Version-1, 1)
			sealed, err := seal(c, f, args[0], text, b)
			if err != nil {
				return err
			}
			if err := os.WriteFile(c.Path(out), sealed, 0o644); err != nil { //nolint:gosec // it is signed and no secret
				return cli.Refuse("check that you may write there", "write %s: %s", out, cli.Reason(err))
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.JSON(map[string]any{"file": out, "version": b.Version, "tenant": b.Tenant})
			}
			c.Say("version %d is signed: «floodmark fleet bundle publish %s» brings it to the monitor", b.Version, cli.ShellWord(out))
			return nil
		}),
		ValidArgsFunction: offerYAML,
	}
	f.add(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the `FILE` to write")
	cmd.Flags().StringVar(&b.Tenant, "tenant", "", "whose rules they are, where there are several `TENANT`s")
	cmd.Flags().Uint64Var(&b.Version, "version", 0, "the `NUMBER` of the version: one more than the newest")
	return cmd
}

func newBundlePublish(c *cli.Console) *cobra.Command {
	var p cli.Place
	var f bundleFlags
	cmd := &cobra.Command{
		Use:   "publish FILE",
		Short: "Bring a version of the rules to the monitor",
		Long: `Bring a version of the rules to the monitor. FILE is a policy, which is checked and
signed with --key as the next version of your tenant, or what «floodmark fleet bundle
make» wrote. A policy with errors is refused, with line and column. No session has the
new version yet: «floodmark fleet bundle rollout» gives it to a share, or to all.`,
		Example:     "  floodmark fleet bundle publish policy.yaml --key ann.key --note \"mail is asked about\"\n  floodmark fleet bundle publish acme-3.bundle",
		Annotations: cli.Exits("it is published", "it is wrong, or no monitor runs"),
		Args:        cli.Needs("FILE"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			sealed, err := toPublish(cmd.Context(), c, p, f, args[0])
			if err != nil {
				return err
			}
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).PublishBundle, &wire.PublishBundleRequest{Sealed: sealed})
			if err != nil {
				return err
			}
			v := a.GetBundle().GetVersion()
			notice := fmt.Sprintf("version %d is published and holds until %s; give it to some first: floodmark fleet bundle rollout %d --share 10%%%s", v, cli.Stamp(a.GetBundle().GetValidUntil()), v, p.Flags())
			return c.Outcome(cli.Format(cmd), true, notice, func() error { return c.Message(a) })
		}),
	}
	f.add(cmd)
	cli.AddPlace(cmd, &p)
	c.AddFleet(cmd, &p)
	return cmd
}

// toPublish returns the bundle in a file. If the file is a policy, it is signed as the next
// version.
func toPublish(ctx context.Context, c *cli.Console, p cli.Place, f bundleFlags, name string) ([]byte, error) {
	data, err := c.Read(name)
	if err != nil {
		return nil, err
	}
	if bundle.Signer(data) != nil || bytes.HasPrefix(data, []byte("floodmark bundle ")) {
		if _, err := bundle.Claims(data); err != nil {
			return nil, cli.Refuse("", "%s: %s", name, err)
		}
		if f.key != "" {
			return nil, cli.Refuse("leave --key out", "%s is signed already", name)
		}
		return data, nil
	}
	if err := f.check(name, data); err != nil {
		return nil, err
	}
	now, err := cli.Ask(ctx, c, p, (*cli.Desk).Bundles, &wire.BundlesRequest{Limit: 1})
	if err != nil {
		return nil, err
	}
	b := bundle.Bundle{Tenant: now.GetTenant(), Version: now.GetLast() + 1, Floor: 1}
	// A machine with this version may go back to the version that all have now, but not further.
	r := now.GetRollout()
	if b.Floor = max(r.GetStable(), 1); r.GetShare() == bundle.Everybody {
		b.Floor = r.GetNext()
	}
	return seal(c, f, name, data, b)
}
