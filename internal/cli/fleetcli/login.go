package fleetcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/wire"
)

type loginFlags struct {
	cli.Place
	name, ca, token string
	list            bool
}

// NewLogin is the command «floodmark fleet login».
func NewLogin(c *cli.Console) *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Log in at a fleet, as yourself",
		Long: `Log in at a fleet with the account you have at its identity provider. The command
prints an address and a code: open the address in a browser, on any machine, see
that it is your provider and that the code is the same, and say yes there.

From then on the commands that take --fleet ask that fleet, as you: what you may do
there follows from your groups. The provider's tokens are stored in a file that only
you can read, sent only to that fleet, and renewed when they expire, if the provider
allows it (scope offline_access).

Without a provider, --token logs in with a token of the kind owner from the fleet's
operator («floodmark fleet token create NAME --kind owner --tenant TENANT --may
view,approve»): you may do what --may says. Only you may be able to read the file
(chmod 600); it is not needed any more afterwards.

Log in only at fleets you know: the operator of a fleet sees the token with which
you log in.`,
		Example: `  floodmark fleet login https://floodmark.firm.example:7443
  floodmark fleet login https://10.0.0.7:7443 --name test --ca firm-ca.crt
  floodmark fleet login https://floodmark.firm.example:7443 --token ann.token
  floodmark fleet login --list
  floodmark approve --fleet floodmark.firm.example`,
		Annotations: cli.Exits("you are logged in, or with --list: somewhere", "you are not"),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return cobra.NoArgs(cmd, args)
			}
			return cli.Needs("URL")(cmd, args)
		},
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			if f.list {
				return listLogins(c, f.Place, cli.Format(cmd))
			}
			return login(cmd.Context(), c, f, args[0])
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.name, "name", "", "what to call it here instead of by its host's `NAME`")
	cmd.Flags().StringVar(&f.ca, "ca", "", "the `FILE` with the authority that signed its certificate, if this machine does not trust it")
	cmd.Flags().StringVar(&f.token, "token", "", "the `FILE` with a token (- for standard input), instead of asking an identity provider")
	cmd.Flags().BoolVar(&f.list, "list", false, "list where you are logged in")
	cmd.MarkFlagsMutuallyExclusive("list", "name")
	cmd.MarkFlagsMutuallyExclusive("list", "ca")
	cmd.MarkFlagsMutuallyExclusive("list", "token")
	return cmd
}

// NewLogout is the command «floodmark fleet logout».
func NewLogout(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "logout NAME|URL",
		Short: "Forget the login at a fleet",
		Long: `Forget what the provider gave you when you logged in at a fleet, and tell the
provider that it is no longer used, if it wants to hear that. A token that you
logged in with counts until it ends, or until it is revoked at the fleet.`,
		Example:     `  floodmark fleet logout floodmark.firm.example`,
		Annotations: cli.Exits("you are logged out", "you were not"),
		Args:        cli.Needs("NAME or URL"),
		RunE:        cli.Guard(func(cmd *cobra.Command, args []string) error { return logout(cmd.Context(), c, p, args[0]) }),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return c.FleetNames(p), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cli.AddPlace(cmd, &p)
	return cmd
}

func login(ctx context.Context, c *cli.Console, f loginFlags, address string) error {
	if err := c.MayChange(ctx, f.Place); err != nil {
		return err
	}
	book, err := c.Fleets(f.Place)
	if err != nil {
		return err
	}
	fleet, err := newFleet(c, f, address)
	if err != nil {
		return err
	}
	if old, err := book.Find(fleet.URL); err == nil { // the flags of an earlier login need not be repeated
		if f.name == "" {
			fleet.Name = old.Name
		}
		if f.ca == "" {
			fleet.Authority = old.Authority
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if f.token != "" {
		return loginToken(ctx, c, f, book, fleet)
	}
	if err := byProvider(ctx, c, book, &fleet, c.Stdout, "not logged in"); err != nil {
		return err
	}
	return keepLogin(ctx, c, f.Place, book, fleet)
}

// newFleet returns the named fleet without asking it anything.
func newFleet(c *cli.Console, f loginFlags, address string) (people.Fleet, error) {
	at, err := people.FleetURL(address)
	if err != nil {
		return people.Fleet{}, cli.Refuse("", "%q: %s", cli.Shorten(address), err)
	}
	u, err := url.Parse(at)
	if err != nil {
		return people.Fleet{}, err
	}
	fleet := people.Fleet{Name: f.name, URL: at, Since: c.Clock().UTC().Truncate(time.Second)}
	if fleet.Name == "" {
		fleet.Name = u.Hostname()
	}
	fleet.Authority, err = authority(c, f.ca)
	return fleet, err
}

// keepLogin tries the login at the fleet, and saves it if the fleet accepts it.
func keepLogin(ctx context.Context, c *cli.Console, p cli.Place, book *people.Book, fleet people.Fleet) error {
	p.Fleet = fleet.Name
	s, err := tryLogin(ctx, p, fleet)
	if err != nil {
		return err
	}
	if fleet.Given != nil {
		takeSaid(&fleet, s)
	}
	if err := book.Keep(ctx, fleet); err != nil {
		return cli.Refuse("", "%s", err)
	}
	who := cmp.Or(fleet.Who(), "a person without a name")
	if s.GetTenant() != "" {
		who += ", of " + s.GetTenant()
	}
	fmt.Fprintf(c.Stdout, "You are logged in at %s as %s.\n", cli.Plain(fleet.Name), cli.Plain(who))
	switch {
	case fleet.Given != nil:
		c.Say("by a token that may %s; it %s", mayText(fleet.Given.May), endsText(fleet.Pass.Ends))
	case fleet.Pass.Refresh == "":
		c.Say("it ends %s and is not renewed: the provider gave nothing to renew it with", fleet.Pass.Ends.Local().Format("2006-01-02 15:04"))
	}
	c.Say("ask it with --fleet %s, as in «floodmark approve --fleet %s»", cli.ShellWord(fleet.Name), cli.ShellWord(fleet.Name))
	return nil
}

func tryLogin(ctx context.Context, p cli.Place, fleet people.Fleet) (*wire.StatusResponse, error) {
	d, err := cli.FleetDesk(p, fleet, func(context.Context) (string, error) { return fleet.Pass.Token, nil })
	if err != nil {
		return nil, err
	}
	defer d.End()
	ctx, cancel := context.WithTimeout(ctx, cli.AskTime)
	defer cancel()
	s, err := d.Status(ctx, &wire.StatusRequest{})
	if said := unmet(fleet, err); err != nil && said != nil {
		return nil, said
	}
	if err != nil {
		f, ok := errors.AsType[*cli.Failure](d.Unanswered(err))
		if !ok {
			return nil, err
		}
		return nil, &cli.Failure{Code: cli.ExitNo, Text: "not logged in: " + f.Text, Hint: "nothing was stored; ask the fleet's operator"}
	}
	return s, nil
}

func logout(ctx context.Context, c *cli.Console, p cli.Place, word string) error {
	if err := c.MayChange(ctx, p); err != nil {
		return err
	}
	book, err := c.Fleets(p)
	if err != nil {
		return err
	}
	f, err := book.Find(word)
	if errors.Is(err, people.ErrNoLogin) {
		fmt.Fprintf(c.Stdout, "You were not logged in at %s.\n", cli.Plain(cli.Shorten(word)))
		return cli.ErrNo
	}
	if err != nil {
		return cli.Refuse("", "%s", err)
	}
	if err := book.Drop(ctx, f.Name); err != nil {
		return cli.Refuse("", "%s", err)
	}
	if f.Given != nil {
		fmt.Fprintf(c.Stdout, "You are logged out at %s here. The token counts there still: it %s, or is revoked with «floodmark fleet token revoke».\n", cli.Plain(f.Name), endsText(f.Pass.Ends))
		return nil
	}
	told := false
	if roots, err := f.Roots(); err == nil {
		told, err = f.Login.End(ctx, roots, f.Pass.Refresh)
		told = told && err == nil
	}
	if told {
		fmt.Fprintf(c.Stdout, "You are logged out at %s, and its provider was told.\n", cli.Plain(f.Name))
		return nil
	}
	until := ""
	if f.Pass.Ends.After(c.Clock()) {
		until = ", and the last token counts until " + f.Pass.Ends.Local().Format("15:04")
	}
	fmt.Fprintf(c.Stdout, "You are logged out at %s here. Its provider was not told%s.\n", cli.Plain(f.Name), until)
	return nil
}
