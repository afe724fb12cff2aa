package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/internal/fleetlink"
	"github.com/floodmark/floodmark/internal/people"
	"github.com/floodmark/floodmark/wire"
)

type joinFlags struct {
	place
	token, ca, name string
	noAsking        bool
}

func newJoin(c *console) *cobra.Command {
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
		Annotations: exits("the laptop joined", "it did not"),
		Args:        needs("URL"),
		RunE:        guard(func(cmd *cobra.Command, args []string) error { return c.join(cmd.Context(), f, args[0], format(cmd)) }),
	}
	addPlace(cmd, &f.place)
	cmd.Flags().StringVar(&f.token, "token", "", "the `FILE` with a token to enrol (- for standard input), instead of logging in")
	cmd.Flags().BoolVar(&f.noAsking, "no-asking", false, "do not show this laptop's questions to people of the fleet")
	cmd.Flags().StringVar(&f.ca, "ca", "", "the `FILE` with the authority that signed the fleet's certificate, if this machine does not trust it")
	cmd.Flags().StringVar(&f.name, "name", "", "what people call this machine there: a `NAME` instead of the host's")
	return cmd
}

func (c *console) join(ctx context.Context, f joinFlags, address, form string) error {
	if err := fleetlink.CheckURL(address); err != nil {
		return refuse("", "%q: %s", shorten(address), err)
	}
	authority, err := c.authority(f.ca)
	if err != nil {
		return err
	}
	if _, err := fleetlink.Roots(authority); err != nil {
		return refuse("name a file with fewer certificates", "%s: %s", f.ca, err)
	}
	q := &wire.JoinRequest{Url: address, Name: f.name, NoAsking: f.noAsking, Authority: authority}
	if q.GetName() == "" {
		if q.Name, err = os.Hostname(); err != nil {
			return refuse("say --name NAME", "this machine has no name")
		}
	}
	if err := c.mayChange(ctx, f.place); err != nil {
		return err // before a login that would be for nothing
	}
	tell := c.stdout
	if form == asJSON {
		tell = c.stderr
	}
	if q.Credential, err = c.enrolCredential(ctx, f, q, tell); err != nil {
		return err
	}
	a, err := ask(ctx, c, f.place, (*desk).Join, q)
	if err != nil {
		return err
	}
	if form == asJSON {
		return c.message(a)
	}
	out := &sheet{st: c.outStyle()}
	out.line(0, "This laptop "+plain(a.GetFleet())+".")
	out.line(0, "Its journal is uploaded from now on, with the messages you type. «floodmark fleet leave"+f.flags()+"» undoes it.")
	fmt.Fprint(c.stdout, out)
	return nil
}

// enrolCredential returns the proof that this laptop may join.
func (c *console) enrolCredential(ctx context.Context, f joinFlags, q *wire.JoinRequest, tell io.Writer) (string, error) {
	if f.token == "" {
		return c.enrolLogin(ctx, f.place, q.GetUrl(), q.GetAuthority(), tell)
	}
	if err := notTheToken(f.token); err != nil {
		return "", err
	}
	data, err := c.read(f.token)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	if text == "" || strings.ContainsAny(text, " \t\r\n") {
		return "", refuse("name the file with what «floodmark fleet token create NAME --kind enrol» printed", "%s holds no token", f.token)
	}
	return text, nil
}

// enrolLogin logs the person in for this one request, with instructions written to tell.
func (c *console) enrolLogin(ctx context.Context, p place, address, authority string, tell io.Writer) (string, error) {
	book, err := c.fleets(p)
	if err != nil {
		return "", err
	}
	fleet := people.Fleet{Authority: authority}
	if fleet.URL, err = people.FleetURL(address); err != nil {
		return "", refuse("", "%q: %s", shorten(address), err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := c.byProvider(ctx, book, &fleet, tell, "not joined"); err != nil {
		return "", err
	}
	return fleet.Pass.Token, nil
}

func newLeave(c *console) *cobra.Command {
	var p place
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Take this laptop out of the fleet it joined",
		Long: `Leave the fleet: nothing is uploaded or fetched any more, your own policy holds
again, and what the fleet gave this laptop is removed. The fleet is told; if it
cannot be reached, the laptop leaves all the same, and the fleet's operator can
revoke the machine. What was uploaded stays there.`,
		Example:     `  floodmark fleet leave`,
		Annotations: exits("it left", "it had joined none"),
		Args:        cobra.NoArgs,
		RunE: guard(func(cmd *cobra.Command, _ []string) error {
			a, err := ask(cmd.Context(), c, p, (*desk).Leave, &wire.LeaveRequest{})
			if err != nil {
				return err
			}
			if format(cmd) == asJSON {
				return c.message(a)
			}
			out := &sheet{st: c.outStyle()}
			out.line(0, "This laptop left the fleet; your own policy holds again. What was uploaded stays there.")
			if a.GetUntold() != "" {
				out.painted(0, "The fleet was not told ("+plain(a.GetUntold())+"): ask its operator to revoke "+machineWord(a.GetMachine())+".", out.st.yellow)
			}
			fmt.Fprint(c.stdout, out)
			return nil
		}),
	}
	addPlace(cmd, &p)
	return cmd
}

// machineWord names a machine, also one whose number is lost.
func machineWord(id string) string {
	if id == "" {
		return "it, by the name it has in «floodmark fleet machines»"
	}
	return "machine " + plain(id)
}
