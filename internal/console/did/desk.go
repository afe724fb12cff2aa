// Package did answers the console's page that says what the monitor did in the last days: what was
// stopped, contained and asked, how people answered, and what cost most questions with the line
// that would spare them. It finds recorded decisions, with who answered. It reads the journal when it is asked, one session at a time and the last
// written first, and keeps nothing afterwards. The counting is done by package tally.
package did

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/console/past"
	"github.com/floodmark/floodmark/internal/reports/spare"
	"github.com/floodmark/floodmark/internal/service/httpapi"
	"github.com/floodmark/floodmark/internal/service/owner"
	"github.com/floodmark/floodmark/internal/setup/prove"
	"github.com/floodmark/floodmark/journal"
	"github.com/floodmark/floodmark/monitor"
	"github.com/floodmark/floodmark/wire"
)

// The limits of an answer. A person waits for it, and all of it must fit into the time of a call
// ([httpapi.DefaultMaxWait]): waiting for another answer, reading, and looking for lines.
const (
	usualDays = 7
	maxDays   = 365
	readTime  = 35 * time.Second
)

// A Desk answers the page. It is safe for concurrent use.
type Desk struct {
	opts Options
	// folding has room for one caller, because each takes a processor and the memory of a session.
	folding chan struct{}
	mu      sync.Mutex               // guards tenants
	tenants map[string]chan struct{} // has room for one caller of each that waits for folding, or has it
	quiets  quiets
	// searching has room for a few, for the same reason.
	searching chan struct{}
}

// Options are what [New] needs.
type Options struct {
	File    string // the owner's policy
	Journal journal.Journal
	Shipped func() (*catalog.Catalog, error)
	// Rules returns the rules in force for a tenant.
	Rules func(tenant string) owner.Rules
	// Groups returns the groups that answer for whole agents of a tenant, and AnswersFor those that
	// answer for one agent. Both are nil where there are no groups.
	Groups     func(tenant string) []string
	AnswersFor func(tenant, agent string) []string
	// Agents looks at the agents of this machine; nil if the daemon cannot. Gateway is the file of the
	// gateway's servers.
	Agents  *prove.Rewrites
	Gateway string
	Now     func() time.Time
}

var _ httpapi.DidPage = (*Desk)(nil)

// New returns a Desk. It does nothing until it is asked.
func New(o Options) *Desk {
	return &Desk{opts: o, folding: make(chan struct{}, 1), searching: make(chan struct{}, searches), tenants: map[string]chan struct{}{}}
}

// turn waits until a caller of a tenant may have an answer, which ends with end. Tenants take turns, so
// that the callers of one do not keep out those of others.
func (d *Desk) turn(ctx context.Context, tenant string) (end func(), err error) {
	d.mu.Lock()
	own := d.tenants[tenant]
	if own == nil {
		own = make(chan struct{}, 1)
		d.tenants[tenant] = own
	}
	d.mu.Unlock()
	select {
	case own <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case d.folding <- struct{}{}:
		return func() { <-d.folding; <-own }, nil
	case <-ctx.Done():
		<-own
		return nil, ctx.Err()
	}
}

// Did implements [httpapi.DidPage].
func (d *Desk) Did(ctx context.Context, who httpapi.Identity, r *wire.DidRequest) (*wire.DidResponse, error) {
	days := int(r.GetDays())
	if days == 0 {
		days = usualDays
	}
	if days < 0 || days > maxDays {
		return nil, fmt.Errorf("%w: days: want 1 to %d", httpapi.ErrInvalid, maxDays)
	}
	now := d.opts.Now()
	of, err := d.groupOf(who.Tenant, r.GetGroup())
	if err != nil {
		return nil, err
	}
	end, err := d.turn(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	defer end()
	f := newFold(now, days)
	if err := d.read(ctx, who.Tenant, of, f); err != nil {
		return nil, err
	}
	out := f.finish()
	out.Groups = d.groups(who)
	b := bill{desk: d, tenant: who.Tenant, fold: f, until: d.opts.Now().Add(lineTime), trials: map[string]*spare.Trial{}}
	if err := b.fill(ctx, out); err != nil {
		return nil, err
	}
	out.Until = timestamppb.New(now)
	return out, nil
}

// read adds the sessions of a group, the last written first, as long as there is time. At least one is
// read, so that asking again gets further. What is remembered of a session does not tell its group.
func (d *Desk) read(ctx context.Context, tenant string, of group, f *fold) error {
	known := func(last journal.Hash) bool {
		_, is := d.quiets.get(last, f.since)
		return is && of.name == ""
	}
	for s, err := range past.Since(ctx, d.opts.Journal, tenant, f.since, known) {
		if err != nil {
			return err
		}
		if s.Name == string(monitor.Incidents) || s.Name == string(monitor.Pauses) {
			continue
		}
		selected := true
		if s.Wrong == nil && !s.Known {
			var said bool
			if selected, said = of.has(s); !said {
				selected, s.Wrong = true, errNoAgent
			}
		}
		if selected {
			d.add(f, s)
		}
		if !s.Known && d.opts.Now().Sub(f.now) > readTime {
			f.out.StoppedEarly = fmt.Sprintf("it took longer than %s; what was last written before %s is not counted. Ask again: what was read is remembered", readTime, s.Written.Format(time.DateTime))
			return nil
		}
	}
	return nil
}

// add adds one session, and remembers it if it is quiet.
func (d *Desk) add(f *fold, s past.Session) {
	if one, ok := d.quiets.get(s.Last, f.since); ok && s.Known {
		if one.long {
			f.out.Unread++
		} else {
			f.figures(one)
		}
		return
	}
	var one quiet
	lasting := false
	if s.Wrong == nil {
		one, lasting, s.Wrong = f.add(s)
	}
	if s.Wrong != nil {
		f.out.Unread++
		one, lasting = quiet{first: math.MaxInt64, long: true}, errors.Is(s.Wrong, past.ErrTooLong)
	}
	if lasting {
		d.quiets.put(s.Last, one)
	}
}
