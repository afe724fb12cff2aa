// Package fleetcli contains the commands about fleets: joining one, logging in, tokens and
// machines.
package fleetcli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/fleet/fleetlink"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/wire"
)

type joinFlags struct {
	cli.Place
	token, ca, name string
	noAsking        bool
}

// NewJoin is the command «floodmark fleet join».
func NewJoin(c *cli.Console) *cobra.Command {
	var f joinFlags
	cmd := &cobra.Command{
		Use:   "join URL",
		Short: "Make this laptop a machine of your company's fleet",
		Long: `Join the fleet at URL. The laptop goes on deciding by itself, also offline. From
then on it

  - uploads its journal to the fleet, entry by entry: also what was written before,
    and also the messages you typed, in clear;
  - tells which agents are here, their versions and what is not covered;
  - shows its open questions to people of the fleet who may answer them; you can
    answer as before, and the first answer counts (--no-asking keeps them here);
  - is judged by the rules the fleet signed for it, where it has any: they take the
    place of your own policy, of which only what tightens still counts. A bundle
    of rules ends at a time of its own; a laptop that has not reached the fleet
    by then is judged by the profile strict, and «floodmark status» says so.

You log in at the fleet's identity provider with a code that is shown here, or
show a token that the fleet's operator gave you (--token). What you show is not
stored; the laptop gets a token of its own, in a file that only you can read.
«floodmark fleet leave» undoes all of it. No agent can join or leave.`,
		Example: `  floodmark fleet join https://floodmark.firm.example:7443
  floodmark fleet join https://floodmark.firm.example:7443 --token enrol.token
  floodmark fleet join https://10.0.0.7:7443 --ca firm-ca.crt --name build-laptop`,
		Annotations: cli.Exits("the laptop joined", "it did not"),
		Args:        cli.Needs("URL"),
		RunE: cli.Guard(func(cmd *cobra.Command, args []string) error {
			return join(cmd.Context(), c, f, args[0], cli.Format(cmd))
		}),
	}
	cli.AddPlace(cmd, &f.Place)
	cmd.Flags().StringVar(&f.token, "token", "", "the `FILE` with a token to enrol (- for standard input), instead of logging in")
	cmd.Flags().BoolVar(&f.noAsking, "no-asking", false, "do not show this laptop's questions to people of the fleet")
	cmd.Flags().StringVar(&f.ca, "ca", "", "the `FILE` with the authority that signed the fleet's certificate, if this machine does not trust it")
	cmd.Flags().StringVar(&f.name, "name", "", "what people call this machine there: a `NAME` instead of the host's")
	return cmd
}

func join(ctx context.Context, c *cli.Console, f joinFlags, address, form string) error {
	if err := fleetlink.CheckURL(address); err != nil {
		return cli.Refuse("", "%q: %s", cli.Shorten(address), err)
	}
	authority, err := authority(c, f.ca)
	if err != nil {
		return err
	}
	if _, err := fleetlink.Roots(authority); err != nil {
		return cli.Refuse("name a file with fewer certificates", "%s: %s", f.ca, err)
	}
	q := &wire.JoinRequest{Url: address, Name: f.name, NoAsking: f.noAsking, Authority: authority}
	if q.GetName() == "" {
		if q.Name, err = os.Hostname(); err != nil {
			return cli.Refuse("say --name NAME", "this machine has no name")
		}
	}
	if err := c.MayChange(ctx, f.Place); err != nil {
		return err // before a login that would be in vain
	}
	tell := c.Stdout
	if form == cli.AsJSON {
		tell = c.Stderr
	}
	if q.Credential, err = enrolCredential(ctx, c, f, q, tell); err != nil {
		return err
	}
	a, err := cli.Ask(ctx, c, f.Place, (*cli.Desk).Join, q)
	if err != nil {
		return err
	}
	if form == cli.AsJSON {
		return c.Message(a)
	}
	out := &cli.Sheet{St: c.OutStyle()}
	out.Line(0, "This laptop "+cli.Plain(a.GetFleet())+".")
	out.Line(0, "Its journal is uploaded from now on, with the messages you type. «floodmark fleet leave"+f.Flags()+"» undoes it.")
	fmt.Fprint(c.Stdout, out)
	return nil
}

// enrolCredential returns the credential with which this laptop may join.
func enrolCredential(ctx context.Context, c *cli.Console, f joinFlags, q *wire.JoinRequest, tell io.Writer) (string, error) {
	if f.token == "" {
		return enrolLogin(ctx, c, f.Place, q.GetUrl(), q.GetAuthority(), tell)
	}
	if err := notTheToken(f.token); err != nil {
		return "", err
	}
	data, err := c.Read(f.token)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	if text == "" || strings.ContainsAny(text, " \t\r\n") {
		return "", cli.Refuse("name the file with what «floodmark fleet token create NAME --kind enrol» printed", "%s holds no token", f.token)
	}
	return text, nil
}

// enrolLogin logs the person in for this one request. It writes instructions to tell.
func enrolLogin(ctx context.Context, c *cli.Console, p cli.Place, address, authority string, tell io.Writer) (string, error) {
	book, err := c.Fleets(p)
	if err != nil {
		return "", err
	}
	fleet := people.Fleet{Authority: authority}
	if fleet.URL, err = people.FleetURL(address); err != nil {
		return "", cli.Refuse("", "%q: %s", cli.Shorten(address), err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := byProvider(ctx, c, book, &fleet, tell, "not joined"); err != nil {
		return "", err
	}
	return fleet.Pass.Token, nil
}

// NewLeave is the command «floodmark fleet leave».
func NewLeave(c *cli.Console) *cobra.Command {
	var p cli.Place
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Take this laptop out of the fleet it joined",
		Long: `Leave the fleet: nothing is uploaded or fetched any more, your own policy holds
again, and what the fleet gave this laptop is removed. The fleet is told; if it
cannot be reached, the laptop leaves all the same, and the fleet's operator can
revoke the machine. What was uploaded stays there.`,
		Example:     `  floodmark fleet leave`,
		Annotations: cli.Exits("it left", "it had joined none"),
		Args:        cobra.NoArgs,
		RunE: cli.Guard(func(cmd *cobra.Command, _ []string) error {
			a, err := cli.Ask(cmd.Context(), c, p, (*cli.Desk).Leave, &wire.LeaveRequest{})
			if err != nil {
				return err
			}
			if cli.Format(cmd) == cli.AsJSON {
				return c.Message(a)
			}
			out := &cli.Sheet{St: c.OutStyle()}
			out.Line(0, "This laptop left the fleet; your own policy holds again. What was uploaded stays there.")
			if a.GetUntold() != "" {
				out.Painted(0, "The fleet was not told ("+cli.Plain(a.GetUntold())+"): ask its operator to revoke "+machineWord(a.GetMachine())+".", out.St.Yellow)
			}
			fmt.Fprint(c.Stdout, out)
			return nil
		}),
	}
	cli.AddPlace(cmd, &p)
	return cmd
}

// machineWord names a machine, even if its ID is lost.
func machineWord(id string) string {
	if id == "" {
		return "it, by the name it has in «floodmark fleet machines»"
	}
	return "machine " + cli.Plain(id)
}
