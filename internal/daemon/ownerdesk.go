package daemon

import (
	"github.com/floodmark/floodmark/internal/owner"
)

// ownerDesk is what the owner's questions are answered from.
func (d *Daemon) ownerDesk() *owner.Desk {
	mode := "user"
	if d.opts.System {
		mode = "system"
	}
	return &owner.Desk{
		Monitor: d.monitor, Journal: d.store, Hub: d.hub, Codes: d.desk,
		Key: d.keys.Signing, Evidence: d.proof.evidence,
		Version: d.opts.Version, Engine: d.store.engine, Place: d.store.place, Mode: mode, Started: d.started,
		Rules:  func() owner.Rules { return d.live.current().forOwner() },
		Reload: func() owner.Rules { return d.live.reload().forOwner() },
		Notes:  d.noted, Now: d.opts.Now,
		Incident: d.note, MayAnswer: d.mayAnswer(), Fleet: d.joined,
	}
}

func (s rulesStatus) forOwner() owner.Rules {
	return owner.Rules{Rules: s.rules, Loaded: s.loaded, Fresh: s.fresh, Problems: s.problems(), Refused: s.refused != nil}
}
