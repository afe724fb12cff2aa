package daemon

import (
	"context"
	"net/http"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/agents/peer"
	"github.com/floodmark/floodmark/internal/ask/lasting"
	"github.com/floodmark/floodmark/internal/console"
	"github.com/floodmark/floodmark/internal/console/did"
	"github.com/floodmark/floodmark/internal/console/rulesdesk"
	"github.com/floodmark/floodmark/internal/console/sessiondesk"
	"github.com/floodmark/floodmark/internal/rules/liverules"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// ownerDesk returns the desk that answers the owner.
func (d *Daemon) ownerDesk() *owner.Desk {
	mode := "user"
	if d.opts.System {
		mode = "system"
	}
	return (&owner.Desk{
		Monitor: d.monitor, Journal: d.store, Hub: d.hub, Codes: d.desk, Key: d.keys.Signing, Evidence: d.proof.evidence,
		Version: d.opts.Version, Engine: d.store.engine, Place: d.store.place, Mode: mode, Started: d.started,
		Rules: d.rulesFor, Reload: d.reloadFor, Protecting: d.live.Protecting, Signed: d.signing(),
		Notes: d.noted, Nodes: func() string { return d.nodes.difference().Note }, Now: d.opts.Now,
		Elsewhere: d.elsewhere, Incident: d.ofOwner, MayAnswer: d.mayAnswer(), Laptops: d.laptopsDesk(), Mirror: d.machines, Fleet: d.joined, Teams: d.teams, Kept: d.boxes.Undo(), Lasting: lasting.Sessions(d.opts.Paths, d.opts.Now),
	}).Cleaning(d.teams != nil)
}

// rulesFor returns the rules that are in effect for a tenant.
func (d *Daemon) rulesFor(tenant string) owner.Rules {
	if d.opts.Service.BundlesOf(tenant) == nil {
		return forOwner(d.live.Current())
	}
	return d.signedFor(tenant)
}

// reloadFor reads the rules again and returns those in effect for a tenant. The policy file serves
// all tenants and reading all bundles takes long, so both are read again only for the empty tenant,
// which is the operator of the monitor. For another tenant only its own bundles are read.
func (d *Daemon) reloadFor(ctx context.Context, tenant string) owner.Rules {
	file := forOwner(d.live.Current())
	file.Fresh = false
	if tenant == "" {
		file = forOwner(d.live.Reload())
		if err := d.signed.Again(ctx); err != nil {
			d.opts.Log.Error("read the bundles again", "error", err)
		}
	}
	if d.opts.Service.BundlesOf(tenant) == nil {
		return file
	}
	d.signed.Look(ctx, tenant)
	return d.signedFor(tenant)
}

// forOwner returns the status of the rules as owners see it.
func forOwner(s liverules.Status) owner.Rules {
	return owner.Rules{Rules: s.Rules, Loaded: s.Loaded, Fresh: s.Fresh, Problems: s.Problems(), Refused: s.Refused != nil}
}

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
	return consoleDesk{Console: c, GraphPage: &sessiondesk.Desk{Journal: d.store}, DidPage: did.New(did.Options{
		File: d.opts.Paths.Policy, Journal: d.store, Shipped: d.reader.Shipped, Rules: d.rulesFor, Now: d.opts.Now,
	}), Desk: rulesdesk.New(rulesdesk.Options{
		File: d.opts.Paths.Policy, Versions: d.opts.Paths.Versions, Journal: d.store, Shipped: d.reader.Shipped,
		Rules: d.rulesFor, Reload: d.reloadFor, Fleet: d.joined.Line, Now: d.opts.Now,
		Note: func(ctx context.Context, tenant string, seen floodmark.IncidentSeen) error {
			return d.ofOwner(ctx, journal.Session{Tenant: tenant, ID: monitor.Incidents}, seen)
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
	o.Refused = func(who httpapi.Identity, method, remote string) {
		if who.May != 0 { // a page whose login has ended is no incident
			d.refused(who, method, remote)
		}
	}
	mux.Handle("/"+wire.ConsoleServiceName+"/", httpapi.NewConsoleHandler(d.pages, o))
	mux.Handle("/"+wire.OwnerServiceName+"/", httpapi.NewOwnerHandler(desk, o))
	return c
}
