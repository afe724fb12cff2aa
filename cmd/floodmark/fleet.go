package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/floodmark/floodmark/client"
	"github.com/floodmark/floodmark/internal/outward"
	"github.com/floodmark/floodmark/internal/people"
)

// addFleet gives a command the flag that asks a fleet instead of the monitor of this machine. There
// is no variable for it: an agent could set one, and the person's answer would go to another fleet.
func (c *console) addFleet(cmd *cobra.Command, p *place) {
	cmd.Flags().StringVar(&p.fleet, "fleet", "", "ask the fleet with this `NAME` or URL, where you logged in with «floodmark fleet login»")
	// The only error is a flag that does not exist, which every help test would show.
	_ = cmd.RegisterFlagCompletionFunc("fleet", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return c.fleetNames(*p), cobra.ShellCompDirectiveNoFileComp
	})
}

// fleets opens the book of logins of an installation.
func (c *console) fleets(p place) (*people.Book, error) {
	paths, err := c.paths(p)
	if err != nil {
		return nil, err
	}
	return people.OpenBook(paths.Fleets, c.clock), nil
}

// fleetNames completes the names of fleets.
func (c *console) fleetNames(p place) (names []string) {
	book, err := c.fleets(p)
	if err != nil {
		return nil
	}
	list, err := book.List()
	if err != nil {
		return nil
	}
	for _, f := range list {
		names = append(names, plain(f.Name)+"\t"+plain(f.URL))
	}
	return names
}

// deskFor prepares requests to the monitor of this machine, or to the fleet that the flags name.
func (c *console) deskFor(ctx context.Context, p place) (*desk, error) {
	if p.fleet == "" {
		return c.desk(p)
	}
	// The login is the owner's. A process that an agent started may not use it, as far as the
	// monitor here can see that.
	if err := c.mayChange(ctx, p); err != nil {
		return nil, err
	}
	book, err := c.fleets(p)
	if err != nil {
		return nil, err
	}
	f, err := book.Find(p.fleet)
	if errors.Is(err, people.ErrNoLogin) {
		return nil, c.notLoggedIn(book, p)
	}
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	token := c.fleetToken(book, f.Name)
	if _, err := token(ctx); err != nil {
		return nil, (&desk{place: p, fleet: f}).unanswered(err) // before anything is sent
	}
	return fleetDesk(p, f, token)
}

// fleetToken returns the token for a fleet, read anew for each request. A renewed login that could
// not be saved is used, with a warning.
func (c *console) fleetToken(book *people.Book, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		token, err := book.Token(ctx, name)
		if errors.Is(err, people.ErrNotKept) {
			c.say("your login at %s was renewed, and that could not be written down (%s): the next command may want you to log in again", name, err)
			err = nil
		}
		return token, err
	}
}

// fleetDesk prepares requests to a fleet with tokens.
func fleetDesk(p place, f people.Fleet, token func(context.Context) (string, error)) (*desk, error) {
	pool, err := f.Door()
	if err != nil {
		return nil, refuse("log in again, with --ca", "%s", err)
	}
	way, err := client.Dial(f.URL, client.Options{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, Bearer: token})
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	return &desk{OwnerServiceClient: way.Owner(), machines: way.Machines(), place: p, fleet: f, end: way.Close}, nil
}

// notLoggedIn says at which fleets there is a login.
func (c *console) notLoggedIn(book *people.Book, p place) error {
	list, err := book.List()
	hint := "log in with «floodmark fleet login https://…»"
	if err == nil && len(list) > 0 {
		var names []string
		for _, f := range list {
			names = append(names, f.Name)
		}
		hint += "; you are logged in at " + strings.Join(names, ", ")
	}
	return &failure{code: exitNo, text: fmt.Sprintf("you are not logged in at %s", shorten(p.fleet)), hint: hint}
}

// atFleet reports whether a fleet is asked.
func (d *desk) atFleet() bool { return d.fleet.URL != "" }

// again returns the command that logs in there once more.
func (d *desk) again() string {
	local := d.place
	local.fleet = ""
	if d.fleet.Given != nil {
		return "floodmark fleet login " + shellWord(d.fleet.URL) + " --token FILE" + local.flags()
	}
	return "floodmark fleet login " + shellWord(d.fleet.URL) + local.flags()
}

// unreached says why a fleet gave no answer; nil if it gave one.
func (d *desk) unreached(err error) error {
	hint := "log in again with «" + d.again() + "»"
	switch {
	case errors.Is(err, people.ErrNoLogin), errors.Is(err, people.ErrOver):
		return &failure{code: exitNo, text: "your login at " + d.fleet.Name + " has ended", hint: hint}
	case errors.Is(err, people.ErrUnreached):
		return &failure{code: exitNo, text: "your login at " + d.fleet.Name + " could not be renewed: " + err.Error(), hint: "try again when " + d.fleet.Login.Issuer + " answers"}
	case outward.Distrust(err) != "":
		return &failure{code: exitNo, text: d.fleet.URL + " was not asked: " + outward.Distrust(err), hint: "if its certificate is new, log in again with «" + d.again() + " --ca FILE»"}
	case absent(err):
		return &failure{code: exitNo, text: "nothing answers at " + d.fleet.URL, hint: "check the address and your network"}
	case connect.CodeOf(err) == connect.CodeUnauthenticated && connect.IsWireError(err) && d.fleet.Given != nil:
		return &failure{code: exitNo, text: d.fleet.Name + " does not let you in: it does not know the token; it has ended, was revoked, or is another fleet's", hint: hint}
	case connect.CodeOf(err) == connect.CodeUnauthenticated && connect.IsWireError(err):
		text, _, _ := strings.Cut(strings.TrimSuffix(client.Explain(err), "."), "; ")
		return &failure{code: exitNo, text: d.fleet.Name + " does not let you in: " + strings.TrimPrefix(text, "nobody known: "), hint: hint}
	}
	return nil
}
