package fleetcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/floodmark/floodmark/internal/cli"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/outward"
)

// authority reads the file with the authority that signed a fleet's certificate; an empty name
// returns an empty text.
func authority(c *cli.Console, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	data, err := c.Read(name)
	if err != nil {
		return "", err
	}
	if _, err := outward.Pool(data); err != nil {
		return "", cli.Refuse("name a file with certificates (PEM)", "%s holds no certificate", name)
	}
	return string(data), nil
}

// fleetTime bounds asking a fleet how people log in.
const fleetTime = 15 * time.Second

// byProvider has a person log in at a fleet's identity provider, with a code in a browser. It
// writes instructions to tell. prefix is the beginning of its error messages.
func byProvider(ctx context.Context, c *cli.Console, book *people.Book, fleet *people.Fleet, tell io.Writer, prefix string) error {
	if err := discover(ctx, c, fleet); err != nil {
		return err
	}
	if err := apart(book, *fleet); err != nil {
		return err
	}
	if err := logIn(ctx, c, fleet, tell, prefix); err != nil {
		return err
	}
	return apart(book, *fleet) // checked again with the received token, before it is sent to the fleet
}

// discover asks a fleet how people log in.
func discover(ctx context.Context, c *cli.Console, fleet *people.Fleet) error {
	pool, err := fleet.Door()
	if err != nil {
		return err
	}
	web := outward.Client(outward.Options{Roots: pool, DialTime: fleetTime, HeaderBytes: 64 << 10, HTTP2: true})
	defer web.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, fleetTime)
	defer cancel()
	fleet.Login, err = people.Discover(ctx, web, fleet.URL)
	if err == nil {
		return nil
	}
	if said := unmet(*fleet, err); said != nil {
		return said
	}
	return &cli.Failure{Code: cli.ExitNo, Text: "people cannot log in at " + fleet.URL + ": " + cli.Plain(err.Error()), Hint: "log in with a token, if you have one (--token), or ask its operator"}
}

// unmet returns why a fleet could not be asked; nil if it was asked.
func unmet(fleet people.Fleet, err error) error {
	var asked *url.Error
	switch {
	case outward.Distrust(err) == outward.SignedByNobody && fleet.Authority != "":
		return &cli.Failure{Code: cli.ExitNo, Text: fleet.URL + " was not asked: " + outward.SignedByOthers, Hint: "name the file with the right authority with --ca"}
	case outward.Distrust(err) == outward.SignedByNobody:
		return &cli.Failure{Code: cli.ExitNo, Text: fleet.URL + " was not asked: " + outward.SignedByNobody, Hint: "name the file with its certificate authority with --ca"}
	case outward.Distrust(err) != "":
		return &cli.Failure{Code: cli.ExitNo, Text: fleet.URL + " was not asked: " + outward.Distrust(err)}
	case errors.As(err, &asked), cli.Absent(err):
		return &cli.Failure{Code: cli.ExitNo, Text: "no fleet answers at " + fleet.URL, Hint: "check the address and your network"}
	}
	return nil
}

// apart refuses a fleet if its logins would also be valid at another fleet, by the login it asks
// for or by the token that the provider issued: its operator could use the person's token at the
// other fleet.
func apart(book *people.Book, fleet people.Fleet) error {
	list, err := book.List()
	if err != nil {
		return cli.Refuse("", "%s", err)
	}
	for _, other := range list {
		if other.URL != fleet.URL && fleet.SameToken(other) {
			return &cli.Failure{
				Code: cli.ExitNo, Text: "this is the token you show at " + other.Name + " (" + other.URL + "), so the operator of " + fleet.URL + " could act as you there",
				Hint: "use one that was made at that fleet; if it is the same fleet at a new address, first run «floodmark fleet logout " + cli.ShellWord(other.Name) + "»",
			}
		}
		if other.URL != fleet.URL && (other.Login.Same(fleet.Login) || fleet.Pass.Counts(other.Login)) {
			return &cli.Failure{
				Code: cli.ExitNo, Text: fleet.URL + " asks for the same logins as " + other.Name + " (" + other.URL + "), so its operator could act as you there",
				Hint: "have it registered as a client of its own at the provider; if it is the same fleet at a new address, first run «floodmark fleet logout " + cli.ShellWord(other.Name) + "»",
			}
		}
		if other.Name == fleet.Name && other.URL != fleet.URL {
			return cli.Refuse("choose another with --name", "%s is what you call %s already", fleet.Name, other.URL)
		}
	}
	return nil
}

// logIn shows the code and waits until the person has logged in.
func logIn(ctx context.Context, c *cli.Console, fleet *people.Fleet, tell io.Writer, prefix string) error {
	roots, err := fleet.Roots()
	if err != nil {
		return err
	}
	flow, err := fleet.Login.Begin(ctx, roots)
	if err != nil {
		return &cli.Failure{Code: cli.ExitNo, Text: fmt.Sprintf("%s: %s: %s", prefix, fleet.Login.Issuer, cli.Plain(err.Error())), Hint: "try again, or ask the fleet's operator"}
	}
	defer flow.Close()
	page := flow.Page
	if flow.Ready != "" {
		page = flow.Ready
	}
	left := max(0, flow.Ends.Sub(c.Clock())).Round(time.Second)
	fmt.Fprintf(tell, "%s lets you log in at %s.\nOpen this within %s, check that it is the right address and the same code, and confirm:\n\n  %s\n\n  code %s\n\n",
		cli.Plain(fleet.URL), cli.Plain(fleet.Login.Issuer), cli.Span(left), cli.Plain(page), cli.Plain(flow.Code))
	fleet.Pass, err = awaitYes(ctx, c, flow)
	switch {
	case ctx.Err() != nil:
		return &cli.Failure{Code: cli.ExitNo, Text: prefix + ": you ended it", Hint: "nothing was kept"}
	case err != nil:
		return &cli.Failure{Code: cli.ExitNo, Text: prefix + ": " + cli.Plain(err.Error()), Hint: "nothing was kept; try again"}
	}
	return nil
}

// awaitYes waits until the person has logged in, and shows that at a terminal.
func awaitYes(ctx context.Context, c *cli.Console, flow *people.Flow) (people.Pass, error) {
	done := make(chan struct{})
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for c.StderrTerminal {
			fmt.Fprintf(c.Stderr, "\rwaiting for your yes there; the code ends in %s\x1b[K", cli.Span(max(0, flow.Ends.Sub(c.Clock()))))
			select {
			case <-done:
				fmt.Fprint(c.Stderr, "\r\x1b[K")
				return
			case <-tick.C:
			}
		}
	}()
	pass, err := flow.Wait(ctx)
	close(done)
	<-shown
	return pass, err
}
