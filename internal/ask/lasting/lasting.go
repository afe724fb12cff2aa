// Package lasting finds the grants that a person gave to a whole project in any of its sessions. A
// grant is in the journal of the session in which it was given, and is listed and ended there like
// any other. The package's file only says in which sessions to look. A grant that is not in the
// journal does not exist, whatever the file says.
package lasting

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/agents"
	"github.com/floodmark/floodmark/internal/setup/config"
	"github.com/floodmark/floodmark/internal/store/wholefile"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A Door adds to each call the grants of the project in which it is made. It is safe for concurrent
// use.
type Door struct {
	// Hooks judges the events. It is the monitor.
	Hooks agents.Hooks
	File  string
	View  func(ctx context.Context, s journal.Session) (monitor.View, error)
	// Resolve follows the links in a path. Identity returns a digest that identifies the checkout
	// around a path, or zero if there is none.
	Resolve  func(p string) string
	Identity func(p string) floodmark.Digest
	Now      func() time.Time

	mu sync.Mutex // guards the file
}

// A note is the content of the file. Latest is the latest time at which the file was used. It is
// used instead of an earlier clock, so that setting the clock back does not revive expired grants.
type note struct {
	Latest time.Time `json:"latest,omitzero"`
	Leads  []lead    `json:"leads"`
}

// A lead names a session in which something was granted to a project.
type lead struct {
	Tenant  string              `json:"tenant,omitempty"`
	Session floodmark.SessionID `json:"session"`
	Project string              `json:"project"`
	At      time.Time           `json:"at"`
}

// The limits of the file.
const (
	maxLeads    = 256
	maxLeadFile = 1 << 18
	maxGranted  = 64 // grants that are added to one call
	leadFor     = approval.HereFor
	// lag is how far the times in the file may be behind, so that it is not written at each call.
	lag = 10 * time.Minute
)

// Handle passes an event to Hooks. It replaces the event's grants and repository by its own.
func (d *Door) Handle(ctx context.Context, tenant string, ev hook.Event) (hook.Reply, error) {
	ev.Granted, ev.Repository = nil, floodmark.Digest{}
	switch ev.Point {
	case hook.BeforeToolCall, hook.MessageReceived, hook.SessionEnd:
	default:
		return d.Hooks.Handle(ctx, tenant, ev)
	}
	s := journal.Session{Tenant: tenant, ID: ev.Session}
	own, err := d.View(ctx, s)
	if err != nil || own.State.Project == "" {
		return d.Hooks.Handle(ctx, tenant, ev)
	}
	project := d.Resolve(own.State.Project)
	if len(own.State.Book.Hosts) > 0 {
		d.gave(s, project)
	}
	if ev.Point == hook.BeforeToolCall {
		if d.Identity != nil {
			ev.Repository = d.Identity(project)
		}
		ev.Granted = d.granted(ctx, s, own, project)
	}
	return d.Hooks.Handle(ctx, tenant, ev)
}

// granted returns the grants of a project, including those of the session itself. It leaves out
// grants of sessions that cannot be read.
func (d *Door) granted(ctx context.Context, s journal.Session, own monitor.View, project string) (list []hook.Lasting) {
	d.mu.Lock()
	n := d.read()
	at := d.now(n)
	if len(n.Leads) > 0 && at.After(n.Latest.Add(lag)) {
		n.Latest = at
		d.write(n)
	}
	d.mu.Unlock()
	for _, l := range n.Leads {
		if l.Tenant != s.Tenant || l.Session == s.ID || l.Project != project || len(list) >= maxGranted {
			continue
		}
		v, err := d.View(ctx, journal.Session{Tenant: l.Tenant, ID: l.Session})
		if err != nil || v.State.Project == "" || d.Resolve(v.State.Project) != project {
			continue
		}
		held := v.State.Book.Lasting(at)
		if list = append(list, held...); len(held) == 0 && at.After(l.At.Add(lag)) {
			d.forget(l)
		}
	}
	list = append(list[:min(len(list), maxGranted)], own.State.Book.Lasting(at)...)
	return list
}

// gave records a session in which something was granted to its project. If the file cannot be
// written, the person is asked again in other sessions.
func (d *Door) gave(s journal.Session, project string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.read()
	l := lead{Tenant: s.Tenant, Session: s.ID, Project: project, At: d.now(n)}
	same := func(o lead) bool { return o.Tenant == l.Tenant && o.Session == l.Session && o.Project == l.Project }
	if i := slices.IndexFunc(n.Leads, same); i >= 0 && l.At.Before(n.Leads[i].At.Add(lag)) {
		return
	}
	n.Latest, n.Leads = l.At, append(slices.DeleteFunc(n.Leads, same), l)
	n.Leads = n.Leads[max(0, len(n.Leads)-maxLeads):]
	d.write(n)
}

// forget removes a lead whose session has no grants any more.
func (d *Door) forget(l lead) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.read()
	n.Leads = slices.DeleteFunc(n.Leads, func(o lead) bool { return o == l })
	d.write(n)
}

// now returns the current time, or n.Latest if that is later.
func (d *Door) now(n note) time.Time {
	if at := d.Now().UTC(); at.After(n.Latest) {
		return at
	}
	return n.Latest
}

// read returns the content of the file without expired leads. Its caller holds the lock.
func (d *Door) read() (n note) {
	data, err := wholefile.ReadOwn(d.File, maxLeadFile)
	if err != nil || json.Unmarshal(data, &n) != nil || len(n.Leads) > maxLeads {
		return note{}
	}
	// All grants of a lead that is older than leadFor have expired.
	old := d.now(n).Add(-leadFor)
	n.Leads = slices.DeleteFunc(n.Leads, func(l lead) bool { return l.At.Before(old) })
	return n
}

// write replaces the content of the file. Its caller holds the lock.
func (d *Door) write(n note) {
	data, err := json.Marshal(n)
	if err == nil && len(data) <= maxLeadFile {
		_ = wholefile.Replace(d.File, data, 0o600)
	}
}

// Sessions returns a function that lists a tenant's sessions in which something was granted to a
// whole project, as the file of this machine says.
func Sessions(paths config.Paths, now func() time.Time) func(tenant string) []floodmark.SessionID {
	return func(tenant string) (list []floodmark.SessionID) {
		d := &Door{File: fileOf(paths), Now: now}
		for _, l := range d.read().Leads {
			if l.Tenant == tenant && !slices.Contains(list, l.Session) {
				list = append(list, l.Session)
			}
		}
		return list
	}
}
