package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/outward"
)

// AddFleet gives a command the flag --fleet, which asks a fleet instead of this machine's monitor.
// There is no environment variable for it: an agent could set the variable, and the person's answer
// would go to another fleet.
func (c *Console) AddFleet(cmd *cobra.Command, p *Place) {
	cmd.Flags().StringVar(&p.Fleet, "fleet", "", "ask the fleet with this `NAME` or URL, where you logged in with «floodmark fleet login»")
	// The only error is a flag that does not exist, which every help test would show.
	_ = cmd.RegisterFlagCompletionFunc("fleet", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return c.FleetNames(*p), cobra.ShellCompDirectiveNoFileComp
	})
}

// Fleets opens the logins at fleets that an installation has.
func (c *Console) Fleets(p Place) (*people.Book, error) {
	paths, err := c.Paths(p)
	if err != nil {
		return nil, err
	}
	return people.OpenBook(paths.Fleets, c.Clock), nil
}

// FleetNames completes the names of fleets.
func (c *Console) FleetNames(p Place) (names []string) {
	book, err := c.Fleets(p)
	if err != nil {
		return nil
	}
	list, err := book.List()
	if err != nil {
		return nil
	}
	for _, f := range list {
		names = append(names, Plain(f.Name)+"\t"+Plain(f.URL))
	}
	return names
}

// DeskFor prepares requests to this machine's monitor, or to the fleet that p names.
func (c *Console) DeskFor(ctx context.Context, p Place) (*Desk, error) {
	if p.Fleet == "" {
		return c.Desk(p)
	}
	// The login is the owner's. A process that an agent started is not allowed to use it, if the
	// monitor here can tell.
	if err := c.MayChange(ctx, p); err != nil {
		return nil, err
	}
	book, err := c.Fleets(p)
	if err != nil {
		return nil, err
	}
	f, err := book.Find(p.Fleet)
	if errors.Is(err, people.ErrNoLogin) {
		return nil, c.notLoggedIn(book, p)
	}
	if err != nil {
		return nil, Refuse("", "%s", err)
	}
	token := c.FleetToken(book, f.Name)
	if _, err := token(ctx); err != nil {
		return nil, (&Desk{Place: p, Fleet: f}).Unanswered(err) // before anything is sent
	}
	return FleetDesk(p, f, token)
}

// FleetToken returns a function that reads the token for a fleet anew for each request. If a
// renewed login could not be saved, it is used all the same, with a warning.
func (c *Console) FleetToken(book *people.Book, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := book.Token(ctx, name)
		if errors.Is(err, people.ErrNotKept) {
			c.Say("your login at %s was renewed, and that could not be stored (%s): the next command may ask you to log in again", name, err)
			err = nil
		}
		return token, err
	}
}

// FleetDesk prepares requests to a fleet, authenticated with tokens.
func FleetDesk(p Place, f people.Fleet, token func(context.Context) (string, error)) (*Desk, error) {
	pool, err := f.Door()
	if err != nil {
		return nil, Refuse("log in again, with --ca", "%s", err)
	}
	way, err := client.Dial(f.URL, client.Options{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, Bearer: token})
	if err != nil {
		return nil, Refuse("", "%s", err)
	}
	return &Desk{OwnerServiceClient: way.Owner(), Machines: way.Machines(), Place: p, Fleet: f, End: way.Close}, nil
}

// notLoggedIn returns the failure for a missing login, and lists the fleets with a login.
func (c *Console) notLoggedIn(book *people.Book, p Place) error {
	list, err := book.List()
	hint := "log in with «floodmark fleet login https://…»"
	if err == nil && len(list) > 0 {
		var names []string
		for _, f := range list {
			names = append(names, f.Name)
		}
		hint += "; you are logged in at " + strings.Join(names, ", ")
	}
	return &Failure{Code: ExitNo, Text: fmt.Sprintf("you are not logged in at %s", Shorten(p.Fleet)), Hint: hint}
}

// AtFleet reports whether a fleet is asked instead of the monitor.
func (d *Desk) AtFleet() bool { return d.Fleet.URL != "" }

// again returns the command that renews the login.
func (d *Desk) again() string {
	local := d.Place
	local.Fleet = ""
	if d.Fleet.Given != nil {
		return "floodmark fleet login " + ShellWord(d.Fleet.URL) + " --token FILE" + local.Flags()
	}
	return "floodmark fleet login " + ShellWord(d.Fleet.URL) + local.Flags()
}

// unreached returns why a fleet did not answer; nil if it did.
func (d *Desk) unreached(err error) error {
	hint := "log in again with «" + d.again() + "»"
	switch {
	case errors.Is(err, people.ErrNoLogin), errors.Is(err, people.ErrOver):
		return &Failure{Code: ExitNo, Text: "your login at " + d.Fleet.Name + " has ended", Hint: hint}
	case errors.Is(err, people.ErrUnreached):
		return &Failure{Code: ExitNo, Text: "your login at " + d.Fleet.Name + " could not be renewed: " + err.Error(), Hint: "try again when " + d.Fleet.Login.Issuer + " answers"}
	case outward.Distrust(err) != "":
		return &Failure{Code: ExitNo, Text: d.Fleet.URL + " was not asked: " + outward.Distrust(err), Hint: "if its certificate is new, log in again with «" + d.again() + " --ca FILE»"}
	case Absent(err):
		return &Failure{Code: ExitNo, Text: "nothing answers at " + d.Fleet.URL, Hint: "check the address and your network"}
	case connect.CodeOf(err) == connect.CodeUnauthenticated && connect.IsWireError(err) && d.Fleet.Given != nil:
		return &Failure{Code: ExitNo, Text: d.Fleet.Name + " does not let you in: the token is unknown there. It has expired, was revoked, or belongs to another fleet", Hint: hint}
	case connect.CodeOf(err) == connect.CodeUnauthenticated && connect.IsWireError(err):
		text, _, _ := strings.Cut(strings.TrimSuffix(client.Explain(err), "."), "; ")
		return &Failure{Code: ExitNo, Text: d.Fleet.Name + " does not let you in: " + strings.TrimPrefix(text, "nobody known: "), Hint: hint}
	}
	return nil
}
