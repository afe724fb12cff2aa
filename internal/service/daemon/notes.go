package daemon

import (
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/floodmark/floodmark/internal/text/meaning"
)

// notes are the warnings for a person, kept for status. The journal keeps them for good.
type notes struct {
	mu   sync.Mutex                 // guards what is below
	of   map[string]*tenantNotes    // by tenant: no tenant sees another's
	pace map[noteKind]*rate.Limiter // limits what is recorded
}

type noteKind struct{ tenant, kind string }

type tenantNotes struct {
	lines []string
	kinds map[string]int // how many of the lines are of a kind
	count int64
	told  []string // the newest notes that are not incidents
}

// maxNotes bounds the incidents that status lists, and maxOfKind those of one kind. All incidents
// are counted. The first incident of a kind is listed even beyond maxNotes, so that an attacker who
// causes many of one kind cannot hide another kind.
const (
	maxNotes  = 20
	maxOfKind = 10
)

// maxTold bounds the notes that are not incidents. Only the newest are kept.
const maxTold = 5

// The rate at which one kind is recorded: many at once, then one a second. A caller that is refused
// all day must not fill the disk.
const (
	incidentsAtOnce = 200
	incidentsPace   = rate.Limit(1)
	maxKinds        = 64
)

// add notes an incident of a tenant and reports whether to record it. What a person did by hand is
// recorded, and is no incident.
func (n *notes) add(tenant, kind, text string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.own(tenant)
	act := meaning.OwnAct(kind)
	if !act {
		own.count++
	}
	if of := own.kinds[kind]; !act && of < maxOfKind && (len(own.lines) < maxNotes || of == 0 && len(own.kinds) < maxKinds) {
		own.kinds[kind]++
		own.lines = append(own.lines, kind+": "+text)
	}
	if n.pace == nil {
		n.pace = map[noteKind]*rate.Limiter{}
	}
	pace, ok := n.pace[noteKind{tenant, kind}]
	if !ok {
		kinds := 0
		for k := range n.pace {
			if k.tenant == tenant {
				kinds++
			}
		}
		if kinds >= maxKinds {
			return false
		}
		pace = rate.NewLimiter(incidentsPace, incidentsAtOnce)
		n.pace[noteKind{tenant, kind}] = pace
	}
	return pace.AllowN(now, 1)
}

// own returns the notes of a tenant. Tenants are those that service.yaml names, so they are
// bounded. The caller holds the lock.
func (n *notes) own(tenant string) *tenantNotes {
	if n.of == nil {
		n.of = map[string]*tenantNotes{}
	}
	if n.of[tenant] == nil {
		n.of[tenant] = &tenantNotes{kinds: map[string]int{}}
	}
	return n.of[tenant]
}

// tell adds a note that is no incident, for the operator of the monitor.
func (n *notes) tell(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.own("")
	own.told = append(own.told[max(0, len(own.told)+1-maxTold):], text)
}

// list returns the notes of a tenant.
func (n *notes) list(tenant string) (lines []string, count int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	own := n.own(tenant)
	lines = append([]string(nil), own.lines...)
	if more := own.count - int64(len(lines)); more > 0 {
		lines = append(lines, strconv.FormatInt(more, 10)+" more incidents: «floodmark journal show floodmark/incidents» lists what was written down")
	}
	return append(lines, own.told...), own.count
}
