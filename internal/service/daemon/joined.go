package daemon

import (
	"context"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/internal/fleet/membership"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// openJoined reads whether this laptop joined a fleet.
func (d *Daemon) openJoined() (err error) {
	d.joined, err = membership.Open(membership.Options{
		Paths: d.opts.Paths, Service: d.opts.Service, Version: d.opts.Version, Log: d.opts.Log, Now: d.opts.Now,
		Agents: d.opts.Agents, Every: d.opts.FleetEvery, Wait: d.opts.wait,
	})
	return err
}

// joinedParts returns what the membership in a fleet works with.
func (d *Daemon) joinedParts() membership.Parts {
	return membership.Parts{
		Rules: d.live, Journal: d.store, Key: d.keys.Signing.Public, Record: d.record, Incident: d.incident,
		Incidents: func() int64 { _, n := d.notes.list(""); return n },
		Questions: func(ctx context.Context, channel string) (*wire.PendingResponse, error) {
			return d.ownerDesk().Pending(ctx, httpapi.Identity{Channel: channel}, &wire.PendingRequest{})
		},
		Answer: d.monitor.Answer, Waiting: func() bool { return len(d.monitor.Pending("")) > 0 },
	}
}

// record records that this laptop joined or left. The next start relies on this record, so an error
// is returned and the laptop then neither joins nor leaves.
func (d *Daemon) record(ctx context.Context, kind, text string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), incidentTime)
	defer cancel()
	if err := d.monitor.Note(ctx, journal.Session{ID: monitor.Incidents}, floodmark.IncidentSeen{Kind: kind, Text: text}); err != nil {
		return err
	}
	d.notes.add("", kind, text, d.opts.Now())
	d.opts.Log.Warn("incident", "kind", kind, "text", text)
	return nil
}

// sleepFor waits, and returns false if ctx ended.
func sleepFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
