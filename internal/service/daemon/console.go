package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/console"
	"github.com/floodmark/floodmark/internal/console/did"
	"github.com/floodmark/floodmark/internal/console/rulesdesk"
	"github.com/floodmark/floodmark/internal/console/sessiondesk"
	"github.com/floodmark/floodmark/internal/fleet/people"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// A consoleDesk answers the ConsoleService: each part of the console answers its own methods.
type consoleDesk struct {
	*console.Console
	*rulesdesk.Desk
	httpapi.DidPage
	httpapi.GraphPage
}

var _ httpapi.Console = consoleDesk{}

// consoleDesk returns the desk of a console, which is open already or not.
func (d *Daemon) consoleDesk(c *console.Console) consoleDesk {
	agents := &prove.Rewrites{Proofs: d.opts.Paths.Proofs, Records: d.opts.Paths.Originals, Box: d.opts.Box}
	if d.opts.System {
		agents = nil // they are settings of other users
	}
	return consoleDesk{Console: c, GraphPage: &sessiondesk.Desk{Journal: d.store}, DidPage: did.New(did.Options{
		File: d.opts.Paths.Policy, Journal: d.store, Shipped: d.reader.Shipped, Rules: d.rulesFor, Now: d.opts.Now,
		Groups: d.opts.Service.AnswerGroups, AnswersFor: d.opts.Service.AnswersFor,
		Agents: agents, Gateway: d.opts.Paths.Gateway,
	}), Desk: rulesdesk.New(rulesdesk.Options{
		File: d.opts.Paths.Policy, Versions: d.opts.Paths.Versions, Journal: d.store, Shipped: d.reader.Shipped, Own: d.ownPlaces,
		Rules: d.rulesFor, Reload: d.reloadFor, Fleet: d.joined.Line, Now: d.opts.Now,
		Note: func(ctx context.Context, tenant string, seen floodmark.IncidentSeen) error {
			return d.ofOwner(ctx, journal.Session{Tenant: tenant, ID: monitor.Incidents}, seen)
		},
		Saving: func(text string) {
			saved := floodmark.DigestOf(text)
			d.saved.Store(&saved)
		},
	})}
}

// noSystemConsole is why a monitor with a user of its own has no console: a browser of the owner
// runs as another user, whose processes it cannot look at.
const noSystemConsole = "the machine's own monitor has another user than your browser, whose programs it cannot tell apart; answer with «floodmark watch»"

// newConsole returns the console, which is closed until the owner opens it.
func (d *Daemon) newConsole(desk httpapi.Owner, o httpapi.Options) *console.Console {
	off := ""
	if d.opts.System {
		off = noSystemConsole
	}
	mux := http.NewServeMux()
	c := console.New(console.Options{
		API: mux, Judge: d.gate.JudgeTCP, Still: d.gate.Still, Listens: peer.Listens, Person: httpapi.Terminal, Off: off,
		Incident: d.incident, Log: d.opts.Log, Now: d.opts.Now,
	})
	d.pages = d.consoleDesk(c)
	o = d.quietlyLoggedOut(o)
	mux.Handle("/"+wire.ConsoleServiceName+"/", httpapi.NewConsoleHandler(d.pages, o))
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(desk, o))
	return c
}

// quietlyLoggedOut returns the options of a console: a page whose login has ended is no incident.
func (d *Daemon) quietlyLoggedOut(o httpapi.Options) httpapi.Options {
	o.Refused = func(who httpapi.Identity, method, remote string) {
		if who.May != 0 {
			d.refused(who, method, remote)
		}
	}
	return o
}

// offline is the scope for tokens that outlive a login, which a page never needs.
const offline = "offline_access"

// openNetworkConsole opens the address of the console on the network, if service.yaml names one. Its
// provider is a client of its own, so that a token of the console is accepted nowhere else unless
// the client is the same.
func (d *Daemon) openNetworkConsole(ctx context.Context) error {
	set := d.opts.Service.Console
	if set == nil {
		return nil
	}
	o, err := d.peopleOptions()
	if err != nil {
		return err
	}
	if set.ClientID != "" {
		o.ClientID = set.ClientID
	}
	o.Audience = "" // an ID token is for its client
	o.Browser = people.Browser{Redirect: set.Redirect(), Asked: time.Duration(set.PasswordAge), Scopes: slices.DeleteFunc(slices.Clone(d.opts.Service.People.Scopes), func(s string) bool { return s == offline })}
	if o.Browser.Secret, err = set.ClientSecret.Reveal(); err != nil {
		return fmt.Errorf("console.clientSecret: %w", err)
	}
	provider, err := people.New(o)
	if err != nil {
		return fmt.Errorf("people.issuer: %w", err)
	}
	d.closers = append(d.closers, func() error { provider.Close(); return nil })
	c, err := serverTLS(set.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", set.Listen.Address, err)
	}
	open, err := console.ListenNetwork(ctx, set.Listen.Address, c)
	if err != nil {
		return fmt.Errorf("console.listen: %w", err)
	}
	d.networkConsole, d.logins = open, &browserDoor{peopleDoor{provider, d.opts.Service}, time.Duration(set.MaxAge), d.opts.Now}
	d.closers = append(d.closers, closed(open))
	return nil
}

// networkConsoleServers serves the console on the network, if there is one.
func (d *Daemon) networkConsoleServers(desk httpapi.Owner, o httpapi.Options) []server {
	if d.networkConsole == nil {
		return nil
	}
	mux := http.NewServeMux()
	n := console.NewNetwork(console.NetworkOptions{
		API: mux, Login: d.logins, Origin: d.opts.Service.Console.Origin(), Incident: d.incident, Log: d.opts.Log, Now: d.opts.Now,
	})
	o = d.quietlyLoggedOut(o)
	mux.Handle("/"+wire.ConsoleServiceName+"/", httpapi.NewConsoleHandler(networkPages{
		GraphPage: &sessiondesk.Desk{Journal: d.store}, DidPage: did.New(did.Options{
			File: d.opts.Paths.Policy, Journal: d.store, Shipped: d.reader.Shipped, Rules: d.rulesFor, Now: d.opts.Now,
			Groups: d.opts.Service.AnswerGroups, AnswersFor: d.opts.Service.AnswersFor,
		}),
	}, o))
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(desk, o))
	s := serverOf("console on "+d.opts.Service.Console.Listen.Address, d.networkConsole, n.Server())
	stop := s.stop
	s.stop = func(ctx context.Context) error { n.End(); return stop(ctx) }
	return []server{s}
}

// networkPages answer the pages of the console on the network.
type networkPages struct {
	console.NotHere
	httpapi.DidPage
	httpapi.GraphPage
}

var _ httpapi.Console = networkPages{}

// A browserDoor logs in people who come with a browser. Their roles are those of people with tokens.
type browserDoor struct {
	peopleDoor
	maxAge time.Duration // how long a page stays logged in; zero: until its token ends
	now    func() time.Time
}

var _ console.Login = (*browserDoor)(nil)

// Where implements [console.Login].
func (b *browserDoor) Where(ctx context.Context, l console.Leaving) (string, error) {
	where, err := b.provider.Where(ctx, people.Leaving{State: l.State, Nonce: l.Nonce, Challenge: l.Challenge})
	if errors.Is(err, people.ErrNobody) {
		err = fmt.Errorf("%w: %w", httpapi.ErrNoToken, err)
	}
	return where, err
}

// LogIn implements [console.Login].
func (b *browserDoor) LogIn(ctx context.Context, r console.Returned) (httpapi.Identity, error) {
	who, err := b.provider.LogIn(ctx, people.Return{Code: r.Code, Verifier: r.Verifier, Nonce: r.Nonce})
	found, err := b.identity(who, err)
	if err != nil {
		return found, err
	}
	found.Ends = who.Ends
	if b.maxAge > 0 {
		found.Ends = b.now().Add(b.maxAge)
	}
	return found, nil
}
