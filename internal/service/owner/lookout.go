package owner

import (
	"context"
	"slices"
	"time"

	"github.com/floodmark/floodmark"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
)

// Elsewhere returns a tenant's entries, not older than from, in which any node asked, changed or
// answered questions, in the order of writing. The newest entries are left out, so that this node
// has reported its own entries before they are listed.
type Elsewhere func(ctx context.Context, tenant string, from time.Duration) ([]journal.Head, error)

// The limits of looking for questions of other nodes.
const (
	// lookBack is by how much a look overlaps with the previous one, because an entry becomes
	// visible only when its transaction ends.
	lookBack = 20 * time.Second
	// lookFarthest bounds how far a look goes back after looks that failed. Most questions end
	// earlier.
	lookFarthest = 5 * time.Minute
	lookTime     = 5 * time.Second // for one tenant, so that a slow one does not delay the others for long
	// maxRelayed bounds the sessions that one look reads. Further sessions are read by the next
	// one.
	maxRelayed = 64
)

// A lookout passes questions and answers of other nodes to the watchers at this node. It queries
// the journal for each watched tenant at intervals, however many watchers there are.
type lookout struct {
	desk *Desk
	of   map[string]*outlook // by tenant
}

// An outlook holds what was seen of a tenant.
type outlook struct {
	at   time.Time // the last look
	seen map[entryAt]bool
}

// An entryAt identifies one entry.
type entryAt struct {
	session journal.Session
	seq     uint64
}

// LookOut passes what is asked and answered at other nodes to the watchers at this node, until ctx
// ends.
func (d *Desk) LookOut(ctx context.Context, every time.Duration) {
	if d.Elsewhere == nil {
		return
	}
	l := &lookout{desk: d, of: map[string]*outlook{}}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.look(ctx)
		}
	}
}

// look looks once for every watched tenant.
func (l *lookout) look(ctx context.Context) {
	watched := l.desk.Hub.tenants()
	for tenant := range l.of {
		if !slices.Contains(watched, tenant) {
			delete(l.of, tenant)
		}
	}
	for _, tenant := range watched {
		if l.of[tenant] == nil {
			l.of[tenant] = &outlook{at: l.desk.Now(), seen: map[entryAt]bool{}}
		}
		l.tenant(ctx, tenant, l.of[tenant])
	}
}

// tenant looks once for one tenant. A session that cannot be read now is tried again in the next
// looks, while its entries are recent. Until then, the request Pending says that the session is
// missing.
func (l *lookout) tenant(ctx context.Context, tenant string, o *outlook) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	now := l.desk.Now()
	list, err := l.desk.Elsewhere(ctx, tenant, min(now.Sub(o.at)+lookBack, lookFarthest))
	if err != nil {
		return
	}
	o.at = now
	seen := map[entryAt]bool{}
	fresh := map[journal.Session][]uint64{}
	var order []journal.Session
	for _, h := range list {
		at := entryAt{h.Session, h.Link.Seq}
		if o.seen[at] || l.desk.Hub.told(at) {
			seen[at] = true
			continue
		}
		if fresh[h.Session] == nil {
			order = append(order, h.Session)
		}
		fresh[h.Session] = append(fresh[h.Session], h.Link.Seq)
	}
	for _, s := range order[:min(len(order), maxRelayed)] {
		if l.relay(ctx, s, fresh[s]) {
			for _, seq := range fresh[s] {
				seen[entryAt{s, seq}] = true
			}
		}
	}
	o.seen = seen // entries that are not in the list are too old to be listed again
}

// relay reads a session, and passes the new entries to the watchers as if they were written here.
// It reports whether the entries are done with. They are, too, if the session is damaged, so that a
// retry would not help.
func (l *lookout) relay(ctx context.Context, s journal.Session, fresh []uint64) bool {
	var entries []journal.Entry
	t, err := l.desk.tell(ctx, s, nil, func(e journal.Entry, _ floodmark.Fact) {
		if slices.Contains(fresh, e.Seq) {
			entries = append(entries, e)
		}
	})
	if err != nil {
		return new(unread).pass(ctx, s, err)
	}
	l.desk.Hub.hand(monitor.Observation{Session: s, Agent: t.state.Agent, Entries: entries, Link: t.link, Mark: t.state.Mark()})
	return true
}
