package daemon

import (
	"context"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/liverules"
)

// openRules reads the rules that hold here. The result of this first reading is not reported,
// because there is no monitor yet.
func (d *Daemon) openRules() (err error) {
	d.gates = d.opts.Service.Gates()
	d.live, err = liverules.New(liverules.Options{
		File: d.opts.Paths.Policy, Reader: d.reader, Own: d.ownPlaces, Now: d.opts.Now,
		Gates: d.gates, Changed: d.rulesChanged, Fleet: d.joined.fleetRules(),
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
	} else if s.Fresh {
		d.incident(context.Background(), "policy-changed", "another policy holds from now on: digest "+s.Rules.Policy.Hash().Short())
	}
}
