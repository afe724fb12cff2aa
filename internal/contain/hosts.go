package contain

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/approval"
	"github.com/floodmark/floodmark/hook"
	"github.com/floodmark/floodmark/internal/wholefile"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// hosts finds the hosts that a person granted to a project in another session. The grant is
// in the journal of that session, where it is listed and ended like any other. The file only
// says where to look: what it says and the journal does not, is not granted.
type hosts struct {
	file    string
	view    func(ctx context.Context, s journal.Session) (monitor.View, error)
	resolve func(p string) string
	now     func() time.Time

	mu sync.Mutex // guards the file
}

// A lead says in which session hosts were granted to a project.
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
	leadFor     = approval.HostsFor
)

// granted are the hosts that were granted to the project of a session in others. Where
// anything cannot be read there are none.
func (h *hosts) granted(ctx context.Context, s journal.Session) (list []hook.HostGrant) {
	h.mu.Lock()
	leads := h.read()
	h.mu.Unlock()
	if len(leads) == 0 {
		return nil
	}
	own, err := h.view(ctx, s)
	if err != nil || own.State.Project == "" {
		return nil
	}
	project := h.resolve(own.State.Project)
	for _, l := range leads {
		if l.Tenant != s.Tenant || l.Session == s.ID || l.Project != project || len(list) >= maxGranted {
			continue
		}
		v, err := h.view(ctx, journal.Session{Tenant: l.Tenant, ID: l.Session})
		if err == nil && v.State.Project != "" && h.resolve(v.State.Project) == project {
			list = append(list, v.State.Book.Lasting(h.now())...)
		}
	}
	return list[:min(len(list), maxGranted)]
}

// used notes a session in which hosts were granted for good, when such a grant is used
// there. A note that cannot be written costs one more question.
func (h *hosts) used(ctx context.Context, s journal.Session, ticket floodmark.TicketID) {
	v, err := h.view(ctx, s)
	if err != nil || v.State.Project == "" || !slices.ContainsFunc(v.State.Book.Lasting(h.now()), func(g hook.HostGrant) bool { return g.Ticket == ticket }) {
		return
	}
	l := lead{Tenant: s.Tenant, Session: s.ID, Project: h.resolve(v.State.Project), At: h.now().UTC()}
	h.mu.Lock()
	defer h.mu.Unlock()
	same := func(o lead) bool { return o.Tenant == l.Tenant && o.Session == l.Session && o.Project == l.Project }
	leads := append(slices.DeleteFunc(h.read(), same), l)
	data, err := json.Marshal(leads[max(0, len(leads)-maxLeads):])
	if err == nil && len(data) <= maxLeadFile {
		_ = wholefile.Replace(h.file, data, 0o600)
	}
}

// read returns what the file says. The caller holds the lock.
func (h *hosts) read() (leads []lead) {
	data, err := wholefile.ReadOwn(h.file, maxLeadFile)
	if err != nil || json.Unmarshal(data, &leads) != nil || len(leads) > maxLeads {
		return nil
	}
	// One that a grant can no longer come from is only in the way.
	old := h.now().Add(-leadFor)
	return slices.DeleteFunc(leads, func(l lead) bool { return l.At.Before(old) })
}
