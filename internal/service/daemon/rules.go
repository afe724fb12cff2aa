package daemon

import (
	"context"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/ask/lasting"
	"github.com/floodmark/floodmark/internal/rules/bundle"
	"github.com/floodmark/floodmark/internal/rules/liverules"
	"github.com/floodmark/floodmark/internal/rules/signedrules"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/text/meaning"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/kernel"
	"github.com/floodmark/floodmark/monitor"
)

// openRules reads the rules of policy.yaml or of the fleet. The result of this first reading is not
// reported, because there is no monitor yet.
func (d *Daemon) openRules() (err error) {
	d.gates = d.opts.Service.Gates()
	d.live, err = liverules.New(liverules.Options{
		File: d.opts.Paths.Policy, Reader: d.reader, Own: d.ownPlaces, Now: d.opts.Now,
		Gates: d.gates, Changed: d.rulesChanged, Fleet: d.joined.FleetRules(),
	})
	return err
}

// ownPlaces returns the files of this installation.
func (d *Daemon) ownPlaces() (*catalog.File, error) { return d.reader.Guarded(d.opts.Paths) }

// rulesChanged reports the outcome of reading a new policy.
func (d *Daemon) rulesChanged(s liverules.Status) {
	d.opts.Fault(pointReload)
	d.reloaded(s)
	s.Log(d.opts.Log)
	if s.Fresh && s.Announced {
		d.notes.tell("«floodmark protect» changed the rules; if that was not you, «floodmark unprotect» takes it back")
	} else if s.Fresh && d.isSaved(string(s.Rules.Text)) {
		d.incident(context.Background(), meaning.RulesLoaded, "the rules saved in the console are in force: digest "+s.Rules.Policy.Hash().Short())
	} else if s.Fresh {
		d.incident(context.Background(), "policy-changed", "another policy holds from now on: digest "+s.Rules.Policy.Hash().Short())
	}
}

// isSaved reports whether a text is what a person saved in the console last. It is so once for each
// saving: another program that writes the same text later is not believed.
func (d *Daemon) isSaved(text string) bool {
	saved := d.saved.Load()
	return saved != nil && *saved == floodmark.DigestOf(text) && d.saved.CompareAndSwap(saved, nil)
}

// openSigned opens the signed rules, if service.yaml has keys for those of any tenant. They are
// stored where the journal is.
func (d *Daemon) openSigned(ctx context.Context) (err error) {
	var tenants []string
	for _, t := range append([]string{""}, d.opts.Service.TenantNames()...) {
		if d.opts.Service.BundlesOf(t) != nil {
			tenants = append(tenants, t)
		}
	}
	if len(tenants) == 0 {
		return nil
	}
	d.bundles = bundle.NewFolder(d.opts.Paths.Bundles)
	if j, ok := d.store.Journal.(interface{ Bundles() bundle.Store }); ok {
		d.bundles = j.Bundles()
	}
	d.signed, err = signedrules.Open(ctx, signedrules.Options{
		Store: d.bundles, Tenants: tenants, Settings: d.opts.Service.BundlesOf,
		Reader: d.reader, Own: d.ownPlaces, Key: d.rings.Key, Now: d.opts.Now, Log: d.opts.Log,
	})
	return err
}

// rulesOf returns the rules a session is judged by: those that its tenant's authors signed, or
// those of policy.yaml if its tenant has none.
func (d *Daemon) rulesOf(s journal.Session, root floodmark.SessionID) kernel.Rules {
	if d.opts.Service.BundlesOf(s.Tenant) == nil {
		return d.live.Rules()
	}
	r, _ := d.signed.Rules(s.Tenant, root)
	r.Gates = d.gates
	return r.Rules
}

// signedFor returns the signed rules of a tenant, as owners see them.
func (d *Daemon) signedFor(tenant string) owner.Rules {
	s := d.signed.Status(tenant)
	return owner.Rules{Rules: s.Rules, Loaded: s.Rollout.At, Bundle: s.Words}
}

// signing returns the desk for publishing and rolling out rules; nil without signed rules.
func (d *Daemon) signing() *owner.Bundles {
	if d.signed == nil {
		return nil
	}
	return &owner.Bundles{Store: d.bundles, Settings: d.opts.Service.BundlesOf, Compile: d.signed.Compile, Look: d.signed.Look}
}

// bundleWrong records that bundles of a tenant need a person's attention.
func (d *Daemon) bundleWrong(tenant, text string) {
	d.opts.Log.Warn("bundles", "tenant", tenant, "error", text)
	seen := floodmark.IncidentSeen{Kind: "bundle-unusable", Text: text}
	ctx, cancel := context.WithTimeout(context.Background(), incidentTime)
	defer cancel()
	if err := d.monitor.Note(ctx, journal.Session{Tenant: tenant, ID: monitor.Incidents}, seen); err != nil {
		d.opts.Log.Error("an incident could not be written down", "kind", seen.Kind, "error", err)
	}
}

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
