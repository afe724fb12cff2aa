// Package lasting finds what a person granted to a whole project in any of its sessions.
// A grant is in the journal of the session in which it was given, where it is listed
// and ended like any other. The file only says where to look: what it says and the
// journal does not, is not granted.
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
	"github.com/floodmark/floodmark/internal/config"
	"github.com/floodmark/floodmark/internal/wholefile"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// A Door tells the monitor what was granted to the project in which a call is made. It is
// safe for concurrent use.
type Door struct {
	// Hooks judges; the monitor does.
	Hooks agents.Hooks
	File  string
	View  func(ctx context.Context, s journal.Session) (monitor.View, error)
	// Resolve follows links, and Identity stands for the checkout at a path, zero if none
	// lies there.
	Resolve  func(p string) string
	Identity func(p string) floodmark.Digest
	Now      func() time.Time

	mu sync.Mutex // guards the file
}

// A note is what the file says. Latest is the latest time at which it was looked at: a
// clock that is set back brings no grant back.
type note struct {
	Latest time.Time `json:"latest,omitzero"`
	Leads  []lead    `json:"leads"`
}

// A lead says in which session something was granted to a project.
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
	maxGranted  = 64 // grants that one call is told of
	leadFor     = approval.HereFor
	// lag is how far the time in the file may be behind.
	lag = 10 * time.Minute
)

// Handle passes an event on. What it says of grants and of the repository is the door's
// alone.
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

// granted are the grants of a project, those of the session itself among them. Where anything
// cannot be read there are none.
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

// gave notes a session in which something was granted for good. A note that cannot be
// written costs one more question.
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

// forget takes a lead out that leads to nothing any more.
func (d *Door) forget(l lead) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.read()
	n.Leads = slices.DeleteFunc(n.Leads, func(o lead) bool { return o == l })
	d.write(n)
}

// now is the time, or the latest at which the file was looked at if the clock was set back.
func (d *Door) now(n note) time.Time {
	if at := d.Now().UTC(); at.After(n.Latest) {
		return at
	}
	return n.Latest
}

// read returns what the file says. The caller holds the lock.
func (d *Door) read() (n note) {
	data, err := wholefile.ReadOwn(d.File, maxLeadFile)
	if err != nil || json.Unmarshal(data, &n) != nil || len(n.Leads) > maxLeads {
		return note{}
	}
	// One that a grant can no longer come from is only in the way.
	old := d.now(n).Add(-leadFor)
	n.Leads = slices.DeleteFunc(n.Leads, func(l lead) bool { return l.At.Before(old) })
	return n
}

// write replaces what the file says. The caller holds the lock.
func (d *Door) write(n note) {
	data, err := json.Marshal(n)
	if err == nil && len(data) <= maxLeadFile {
		_ = wholefile.Replace(d.File, data, 0o600)
	}
}

// Sessions are those in which something was granted to a whole project, as the file of a
// machine says.
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
